//! `tune devices`: lists the devices of this machine, and what is missing for other devices.

use std::process::ExitCode;

use super::output::{checked, print, print_json};
use crate::cli::OutputArgs;
use crate::error::Failure;
use kiln_lab::listing::Listing;

pub(super) fn run(args: &OutputArgs) -> Result<ExitCode, Failure> {
    let listing = Listing::now();
    if args.json {
        print_json(&listing)?;
    } else {
        print(&listing.to_text());
    }
    Ok(checked(true))
}
