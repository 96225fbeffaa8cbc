//! `tune bake`: tables from proven winners, guesses and images.

use std::process::ExitCode;

use kiln_spec::Backend;
use kiln_spec::baked::{Freshness, Hashes};

use super::output::{checked, print, print_json, read_project};
use crate::cli::{BakeArgs, Untuned};
use crate::compile_only::Target;
use crate::error::Failure;
use crate::lab::machine;
use crate::predict;
use crate::project::Project;
use crate::tables::bake;
use crate::tables::images;
use crate::task::Conditions;

pub(super) fn run(args: &BakeArgs) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    if args.check {
        return super::bake_check::run(args, &project);
    }
    if args.images {
        return bake_images(args, &project);
    }
    if args.untuned == Some(Untuned::Predicted) {
        return predicted(args, &project);
    }
    let (_, device) = machine::open_device(args.device.device.as_deref())?;
    let cache = machine::open_cache()?;
    let info = device.info();
    let conditions = Conditions::new(info, machine::compiler(&*device)?, args.regime.regime);
    let tables = bake::bake(&project, &conditions, &cache, args.write)?;
    if args.output.json {
        print_json(&tables)?;
        return Ok(checked(true));
    }
    for table in &tables {
        print(&format!(
            "{}: {} rows of {}\n",
            table.path.display(),
            table.rows,
            info.key
        ));
    }
    let unproven = unproven(&project, &conditions, &cache)?;
    for kernel in &unproven {
        print(&kernel.to_text());
    }
    bake::notices(&tables, info.key.backend, args.write)
        .iter()
        .for_each(|notice| print(notice));
    // A stale row that stays is what the command was called for and could not mend.
    let stays = unproven.iter().any(|kernel| kernel.stale.is_some());
    Ok(checked(!tables.is_empty() && !stays))
}

/// A kernel of which nothing is decided on the device.
struct Unproven {
    kernel: String,
    device: String,
    /// Its first row of the device that is stale, and what changed.
    stale: Option<(String, &'static str)>,
    help: String,
}

impl Unproven {
    fn to_text(&self) -> String {
        let Unproven {
            kernel,
            device,
            stale,
            help,
        } = self;
        let what = stale.as_ref().map_or_else(
            || "nothing is proven on this device".to_owned(),
            |(problem, which)| {
                format!(
                    "its row of `{device}` for {problem} is stale, its {which} changed, and nothing is proven since"
                )
            },
        );
        format!("{kernel}: {what}\nhelp: {help}\n")
    }
}

/// The kernels of which the cache has no decision for a device.
fn unproven(
    project: &Project,
    conditions: &Conditions<'_>,
    cache: &kiln_cache::Cache,
) -> Result<Vec<Unproven>, Failure> {
    let device = &conditions.info.key;
    let mut unproven = Vec::new();
    for kernel in &project.kernels {
        if !bake::rows(kernel, conditions, cache)?.is_empty() {
            continue;
        }
        let now = Hashes::now(&kernel.spec, kernel.source.hash(), device.backend);
        let stale =
            bake::rows_of(kernel, device)?
                .into_iter()
                .find_map(|row| match row.freshness(&now) {
                    Freshness::Stale { which, .. } => Some((row.problem, which)),
                    Freshness::Fresh => None,
                });
        let name = &kernel.spec.name;
        let how = match device.backend {
            Backend::Cpu | Backend::Fake => " --device cpu --write",
            Backend::Cuda | Backend::Hip => "",
        };
        unproven.push(Unproven {
            kernel: name.clone(),
            device: device.to_string(),
            stale,
            help: format!("run `tune run -k {name}{how}`"),
        });
    }
    Ok(unproven)
}

fn bake_images(args: &BakeArgs, project: &Project) -> Result<ExitCode, Failure> {
    let report = images::bake(project, &args.targets)?;
    if args.output.json {
        print_json(&report)?;
        return Ok(checked(true));
    }
    for row in &report.images {
        let whose = format!("{} {} ({})", row.kernel, row.device, row.problem);
        let line = match &row.file {
            Some(file) => format!(
                "{whose}: {}, {} bytes: {}",
                row.what,
                row.bytes,
                file.display()
            ),
            None => format!("{whose}: no image: {}", row.what),
        };
        print(&(line + "\n"));
    }
    for path in &report.removed {
        print(&format!("removed {}: no row names it\n", path.display()));
    }
    let count = report
        .images
        .iter()
        .filter(|row| row.file.is_some())
        .count();
    print(&format!(
        "{count} of {} rows have an image\n",
        report.images.len()
    ));
    Ok(checked(true))
}

/// Bakes what the model picks for targets that were never measured.
fn predicted(args: &BakeArgs, project: &Project) -> Result<ExitCode, Failure> {
    let targets = args.targets.iter().map(|arch| Target::isolated(arch));
    let targets = targets.collect::<Result<Vec<_>, _>>()?;
    let cache = machine::open_cache()?;
    let mut predictions = Vec::new();
    for target in &targets {
        predictions.extend(predict::bake_untuned(project, &cache, target)?);
    }
    cache.close()?;
    if args.output.json {
        print_json(&predictions)?;
    } else {
        for prediction in &predictions {
            print(&prediction.to_text());
        }
    }
    let any = predictions
        .iter()
        .any(|prediction| prediction.table.is_some());
    Ok(checked(any))
}
