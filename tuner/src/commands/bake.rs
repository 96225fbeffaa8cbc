//! `tune bake`: tables from proven winners; with `--check`, whether the tables are up to date.

use std::path::PathBuf;
use std::process::ExitCode;

use kiln::Device;
use kiln_spec::baked::{Freshness, Hashes, Image, Row};
use kiln_spec::codegen::TranslationUnit;
use kiln_spec::{Config, Problem};
use serde::Serialize;

use super::output::{checked, print, print_json};
use crate::bake;
use crate::candidate::target_of;
use crate::cli::{BakeArgs, Untuned};
use crate::compile_only::Target;
use crate::exit::Failure;
use crate::images;
use crate::project::{Project, TunedKernel};
use crate::regime::Regime;
use crate::table_files::{read_index, read_table};
use crate::task::Conditions;
use crate::{machine, predict};

pub(super) fn run(args: &BakeArgs) -> Result<ExitCode, Failure> {
    let project = Project::read(&args.package)?;
    if args.check {
        return check(args, &project);
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
    if tables.is_empty() {
        print("nothing is proven on this device yet\nhelp: run `tune run`\n");
    }
    bake::notices(&tables, info.key.backend, args.write)
        .iter()
        .for_each(|notice| print(notice));
    Ok(checked(true))
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

/// What is wrong with a table, or worth knowing.
#[derive(Serialize)]
struct Finding {
    path: PathBuf,
    kernel: String,
    problem: String,
    what: String,
    fails: bool,
    /// Whether it is an image's.
    #[serde(skip)]
    of_image: bool,
}

fn check(args: &BakeArgs, project: &Project) -> Result<ExitCode, Failure> {
    let mut findings = Vec::new();
    let mut rows = 0;
    for kernel in &project.kernels {
        rows += check_kernel(kernel, args.images, &mut findings)?;
    }
    check_strangers(project, &mut findings)?;
    if let Some(name) = &args.device.device {
        let (_, device) = machine::open_device(Some(name))?;
        check_device(project, &*device, args.regime.regime, &mut findings)?;
    }
    let failed = findings.iter().any(|finding| finding.fails);
    if args.output.json {
        print_json(&findings)?;
    } else {
        for finding in &findings {
            let kind = if finding.fails { "error" } else { "warning" };
            let whose = [finding.kernel.as_str(), &finding.problem].join(" ");
            print(&format!(
                "{kind}: {}: {}: {}\n",
                finding.path.display(),
                whose.trim_end(),
                finding.what
            ));
        }
        print(&format!(
            "{} kernels, {rows} baked rows: {}\n",
            project.kernels.len(),
            verdict(&findings)
        ));
    }
    Ok(checked(!failed))
}

/// Whether everything is up to date, and what helps where it is not: tables first, since images are those of their rows.
fn verdict(findings: &[Finding]) -> String {
    let mut failed = findings.iter().filter(|finding| finding.fails).peekable();
    if failed.peek().is_none() {
        return "up to date".into();
    }
    let (images, tables): (Vec<_>, Vec<_>) = failed.partition(|finding| finding.of_image);
    let mut verdict = "not up to date".to_owned();
    if !tables.is_empty() {
        verdict += "\nhelp: run `tune bake`, or `tune run` where sources changed";
    }
    if !images.is_empty() {
        verdict += "\nhelp: run `tune bake --images`, which writes images anew";
    }
    verdict
}

/// Every row of a kernel's committed table must be fresh and mean something; the number of rows.
fn check_kernel(
    kernel: &TunedKernel,
    every_image: bool,
    findings: &mut Vec<Finding>,
) -> Result<usize, Failure> {
    let name = &kernel.spec.name;
    let mut find = |path: PathBuf, problem: &str, what: String, fails| {
        findings.push(Finding {
            path,
            kernel: name.clone(),
            problem: problem.to_owned(),
            what,
            fails,
            of_image: false,
        });
    };
    let Some(index) = read_index(&kernel.tuned)? else {
        find(
            kernel.tuned.clone(),
            "",
            "there is no index; run `tune init`".into(),
            true,
        );
        return Ok(0);
    };
    let Some(file) = index.file(name) else {
        return Ok(0);
    };
    let path = kernel.tuned.join(file);
    let Some(table) = read_table(&path)? else {
        find(
            path,
            "",
            "the index lists it, but it is not there".into(),
            true,
        );
        return Ok(0);
    };
    if table.kernel() != name {
        find(
            path.clone(),
            "",
            format!("it is of the kernel `{}`", table.kernel()),
            true,
        );
    }
    for row in table.rows() {
        if let Some(what) = fault(kernel, row) {
            find(path.clone(), &row.problem, what, true);
        }
    }
    for image in images::left_over(name, &kernel.tuned, &table)? {
        find(image, "", "no row names this image".into(), false);
    }
    for row in table.rows() {
        let what = image_fault(kernel, row, every_image);
        findings.extend(what.map(|what| Finding {
            path: path.clone(),
            kernel: name.clone(),
            problem: row.problem.clone(),
            what,
            fails: true,
            of_image: true,
        }));
    }
    Ok(table.rows().count())
}

/// What is wrong with a row's image.
fn image_fault(kernel: &TunedKernel, row: &Row, every_image: bool) -> Option<String> {
    match &row.image {
        Some(_) => images::fault(&kernel.tuned, row),
        None if every_image && Image::target_of(&row.device).is_some() => Some(format!(
            "row of `{}` has no image; run `tune bake --images`",
            row.device
        )),
        None => None,
    }
}

fn fault(kernel: &TunedKernel, row: &Row) -> Option<String> {
    let now = Hashes::now(&kernel.spec, kernel.source.hash(), row.device.backend);
    match row.freshness(&now) {
        Freshness::Stale { which, baked, now } => Some(format!(
            "row of `{}` is stale: {which} was {baked} when baked and is {now} now",
            row.device
        )),
        Freshness::Fresh => match row.resolve(&kernel.spec) {
            Err(error) => Some(error.to_string()),
            Ok(resolved) => other_symbol(kernel, row, &resolved.config, &resolved.problem),
        },
    }
}

/// The row's symbol must be the one that its source and config give.
fn other_symbol(
    kernel: &TunedKernel,
    row: &Row,
    config: &Config,
    problem: &Problem,
) -> Option<String> {
    let target = target_of(row.device.backend);
    let unit = TranslationUnit::new(
        &kernel.source,
        &kernel.scan,
        &kernel.spec,
        &row.entry,
        config,
        problem,
        target,
    );
    let device = &row.device;
    match unit {
        Ok(unit) if unit.release.as_str() == row.symbol => None,
        Ok(unit) => Some(format!(
            "row of `{device}`: `symbol` is `{}`, but the source gives `{}`",
            row.symbol, unit.release
        )),
        Err(error) => Some(format!("row of `{device}`: {error}")),
    }
}

/// Tables of kernels that are not there any more are worth a warning.
fn check_strangers(project: &Project, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let mut folders: Vec<_> = project
        .kernels
        .iter()
        .map(|kernel| kernel.tuned.clone())
        .collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        let Some(index) = read_index(&folder)? else {
            continue;
        };
        for (name, file) in index.iter() {
            let here = |kernel: &TunedKernel| kernel.tuned == folder && kernel.spec.name == name;
            if !project.kernels.iter().any(here) {
                let what = "no kernel of that name is declared".to_owned();
                let (path, kernel) = (folder.join(file), name.to_owned());
                findings.push(Finding {
                    path,
                    kernel,
                    problem: String::new(),
                    what,
                    fails: false,
                    of_image: false,
                });
            }
        }
    }
    Ok(())
}

/// The rows of the device at hand must be those that the cache proves.
fn check_device(
    project: &Project,
    device: &dyn Device,
    regime: Option<Regime>,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let cache = machine::open_cache()?;
    let info = device.info();
    let conditions = Conditions::new(info, machine::compiler(device)?, regime);
    for kernel in &project.kernels {
        let path = kernel.tuned.join(format!("{}.toml", kernel.spec.name));
        let table = read_table(&path)?;
        let baked: Vec<Row> = table
            .iter()
            .flat_map(|table| table.device_rows(&info.key).cloned())
            .collect();
        for row in bake::rows(kernel, &conditions, &cache)? {
            // Whether there is an image says nothing of what is proven.
            let same = |old: &Row| {
                Row {
                    image: None,
                    ..old.clone()
                } == row
            };
            if !baked.iter().any(same) {
                findings.push(Finding {
                    path: path.clone(),
                    kernel: kernel.spec.name.clone(),
                    problem: row.problem.clone(),
                    what: format!("`{}` is proven, but not baked", row.config),
                    fails: true,
                    of_image: false,
                });
            }
        }
    }
    Ok(())
}
