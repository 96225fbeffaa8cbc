//! `tune bake`: writes proven winners or predictions into baked tables, or compiles images for baked rows.

use std::process::ExitCode;

use kiln::Kernel;

use super::output::{checked, print, print_json, read_project};
use crate::cli::{BakeArgs, Untuned};
use crate::compile_only::CompileTarget;
use crate::error::Failure;
use crate::predict;
use crate::tables::bake;
use crate::tables::images;
use crate::tables::unproven;
use crate::task::Conditions;
use kiln_lab::machine;
use kiln_project::Project;

pub(super) fn run(
    args: &BakeArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    if args.check {
        return super::bake_check::run(args, &project, catalogue);
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
    let tables = bake::bake(&project, &conditions, &cache, catalogue, args.write)?;
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
    let unproven = unproven::unproven(&project, &conditions, &cache, catalogue)?;
    for kernel in &unproven {
        print(&kernel.to_text());
    }
    bake::notices(&tables, info.key.backend, args.write)
        .iter()
        .for_each(|notice| print(notice));
    // The command should have replaced every stale row, so a stale row that remains is a failure.
    let stays = unproven.iter().any(|kernel| kernel.stale.is_some());
    Ok(checked(!tables.is_empty() && !stays))
}

fn bake_images(args: &BakeArgs, project: &Project) -> Result<ExitCode, Failure> {
    let report = images::bake(project, &args.targets)?;
    if args.output.json {
        print_json(&report)?;
    } else {
        print(&report.to_text());
    }
    Ok(checked(true))
}

/// Bakes the model's predictions for GPUs that were never measured.
fn predicted(args: &BakeArgs, project: &Project) -> Result<ExitCode, Failure> {
    let targets = args
        .targets
        .iter()
        .map(|arch| CompileTarget::isolated(arch));
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
