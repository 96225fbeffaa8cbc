//! `tune export`: writes results and search spaces in the formats of other tuners.

use std::path::Path;
use std::process::ExitCode;

use kiln_exchange::{Results, recording, t1};
use kiln_spec::Problem;

use super::output::{checked, print, read_project};
use crate::cli::{ExportArgs, ExportFormat};
use crate::compile_only::CompileTarget;
use crate::error::{Failure, UsageError};
use crate::task::stored::{self, KeySelector};
use kiln_lab::machine;
use kiln_project::TunedKernel;
use kiln_project::tables::write_if_changed;

pub(super) fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let text = match &args.space {
        Some(path) => of_file(args, path)?,
        None => of_kernel(args)?,
    };
    match &args.output {
        None => print(&text),
        Some(path) => {
            write_if_changed(path, text)?;
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(checked(true))
}

/// Converts a recorded space to the requested format.
fn of_file(args: &ExportArgs, path: &Path) -> Result<String, Failure> {
    if args.format == ExportFormat::T1 {
        return Err(wrong(
            "t1",
            "a recording has no constraints",
            "write `--format t4` or `--format kernel-tuner`",
        ));
    }
    let recording = recording::read(path)?;
    written(args.format, &kiln_exchange::of_recording(&recording))
}

fn of_kernel(args: &ExportArgs) -> Result<String, Failure> {
    let [name] = args.package.kernels.as_slice() else {
        return Err(wrong(
            args.format.name(),
            "an exported file describes one kernel",
            "name the kernel with `-k`, or a recorded space with `--space`",
        ));
    };
    let project = read_project(&args.package)?;
    let kernel = project.one(name)?;
    let problem = kernel.problem(args.problem.as_deref())?;
    match args.format {
        ExportFormat::T1 => t1(args, kernel, &problem),
        format => {
            let cache = machine::open_cache()?;
            // The key already determines the problem. Without a key or a problem on the command line, the kernel's
            // first problem is exported.
            let by_key = args.key.is_some() && args.problem.is_none();
            let selector = KeySelector {
                key: args.key.as_deref(),
                device: args.device.as_deref().unwrap_or_default(),
                problem: (!by_key).then_some(&problem),
            };
            let (key, trials) = stored::one(&selector, kernel, &cache)?;
            let problem = kernel.problem(Some(key.field("problem")))?;
            let exported = kiln_exchange::of_trials(&kernel.spec, &problem, &key, &trials);
            for (why, count) in &exported.left_out {
                eprintln!("left out: {count} trials: {why}");
            }
            written(format, &exported.results)
        }
    }
}

fn written(format: ExportFormat, results: &Results) -> Result<String, Failure> {
    match format {
        ExportFormat::KernelTuner => results.to_kernel_tuner().map_err(Failure::KernelTuner),
        _ => Ok(results.to_t4()),
    }
}

fn t1(args: &ExportArgs, kernel: &TunedKernel, problem: &Problem) -> Result<String, Failure> {
    let (limits, device) = match &args.target {
        Some(arch) => {
            let known = CompileTarget::known(arch)?;
            (known.limits, known.product.to_owned())
        }
        None => {
            let (_, device) = machine::open_device(args.device.as_deref())?;
            (device.info().limits, device.info().key.name.clone())
        }
    };
    let folder = kernel.file.parent().unwrap_or(Path::new("."));
    let source = folder.join(&kernel.spec.source);
    let source = std::path::absolute(&source).unwrap_or(source);
    let text = t1::kernel_as_t1(&kernel.spec, problem, &limits, &device, &source);
    text.map_err(|error| Failure::T1 {
        kernel: kernel.spec.name.clone(),
        error: Box::new(error),
    })
}

fn wrong(value: &str, reason: &str, help: &'static str) -> Failure {
    Failure::Usage(UsageError {
        flag: "--format",
        value: value.to_owned(),
        reason: reason.to_owned(),
        help,
    })
}
