//! `tune list`: prints the kernels of a package and their declarations.

use std::process::ExitCode;

use super::output::{checked, print, print_json, read_project};
use crate::cli::ListArgs;
use crate::error::Failure;
use crate::tables::listing::Listed;

pub(super) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    let listed = project.kernels.iter().map(Listed::new);
    let listed = listed.collect::<Result<Vec<Listed>, Failure>>()?;
    if args.output.json {
        print_json(&listed)?;
    } else {
        let texts: Vec<String> = listed.iter().map(Listed::to_text).collect();
        print(&texts.join("\n"));
    }
    Ok(checked(true))
}
