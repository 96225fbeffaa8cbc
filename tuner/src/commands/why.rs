//! `tune why`: shows the key of a result, and how it differs from the keys of stored results.

use std::process::ExitCode;

use super::output::{checked, print, print_json, read_project};
use crate::cli::WhyArgs;
use crate::error::{Failure, UsageError};
use crate::tables::why::Why;
use crate::task::Conditions;
use kiln_lab::machine;

pub(super) fn run(args: &WhyArgs) -> Result<ExitCode, Failure> {
    if let Some(other) = args
        .package
        .kernels
        .iter()
        .find(|name| **name != args.kernel)
    {
        return Err(Failure::Usage(UsageError {
            flag: "--kernel",
            value: other.clone(),
            reason: format!("the command already names `{}`", args.kernel),
            help: "name one kernel, without `-k`",
        }));
    }
    let mut package = args.package.clone();
    package.kernels = vec![args.kernel.clone()];
    let project = read_project(&package)?;
    let (_, device) = machine::open_device(args.device.device.as_deref())?;
    let compiler = machine::compiler(&*device)?;
    let kernel = project.one(&args.kernel)?;
    let text = args.problem.as_deref().or(args.sizes.as_deref());
    let problem = kernel.problem(text)?;
    let conditions = Conditions::new(device.info(), compiler, args.regime.regime);
    let why = Why::of(kernel, &problem, &conditions, &machine::open_cache()?)?;
    if args.output.json {
        print_json(&why)?;
    } else {
        print(&why.to_text());
    }
    Ok(checked(true))
}
