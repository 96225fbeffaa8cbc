//! `tune space`: counts the configs of search spaces, and how many configs each constraint excludes.

use std::process::ExitCode;

use super::output::{checked, print, print_json, read_project};
use crate::cli::SpaceArgs;
use crate::error::Failure;
use crate::space::kernel::{DescribedKernel, KernelCount};
use kiln_lab::machine;

pub(super) fn run(args: &SpaceArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.definition {
        return super::definition::run(path, args);
    }
    let project = read_project(&args.package)?;
    let (_, device) = machine::open_device(args.device.device.as_deref())?;
    let mut described = Vec::new();
    for kernel in &project.kernels {
        for problem in kernel.spec.problems_on(device.info().key.backend) {
            let limits = &device.info().limits;
            described.push(DescribedKernel::new(kernel, problem, limits, args.configs)?);
        }
    }
    if args.count {
        let counts: Vec<KernelCount<'_>> = described.iter().map(KernelCount::new).collect();
        if args.output.json {
            print_json(&counts)?;
        } else {
            print(&counts.iter().map(KernelCount::to_text).collect::<String>());
        }
        return Ok(checked(counts.iter().all(KernelCount::is_known)));
    }
    if args.output.json {
        print_json(&described)?;
    } else {
        let texts: Vec<_> = described.iter().map(DescribedKernel::to_text).collect();
        print(&texts.join("\n"));
    }
    Ok(checked(true))
}
