//! `tune fleet`: tunes the kernels of one plan on many machines. A plan consists of elements; an element is the work of
//! one machine: some problems on one kind of device.

mod job;
mod merge;
mod plan;
mod status;
mod tables;
mod work;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kiln::Kernel;
use kiln_fleet::ObjectStore;

use crate::cli::FleetAction;
use crate::error::Failure;
use crate::fleet::FleetError;
use kiln_project::{PackageSelection, Project};

pub(super) fn run(
    action: FleetAction,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    match action {
        FleetAction::Plan(args) => plan::run(&args),
        FleetAction::Job(args) => job::run(&args),
        FleetAction::Work(args) => work::run(&args, catalogue),
        FleetAction::Merge(args) => merge::run(&args),
        FleetAction::Status(args) => status::run(&args),
    }
}

/// Opens the store at a location from the command line.
fn store(location: &str) -> Result<Box<dyn ObjectStore>, FleetError> {
    Ok(kiln_fleet::open(location)?)
}

/// Opens the store at a location from the command line, and creates it if it does not exist. A message says that it was
/// created, because the location may be a mistake.
pub(super) fn created_store(location: &str) -> Result<Box<dyn ObjectStore>, FleetError> {
    let (store, created) = kiln_fleet::create(location)?;
    if created {
        eprintln!("tune: created the store {location}");
    }
    Ok(store)
}

/// The path of the file of allowed signers: `given`, or by default `allowed_signers` in the folder of baked tables of
/// the project's first kernel.
fn allowed_signers(given: Option<&Path>, project: &Project) -> PathBuf {
    given.map_or_else(|| project.allowed_signers(), Path::to_owned)
}

/// Reads the kernels of a plan's packages.
fn project_of(package: &str, manifest_path: Option<&Path>) -> Result<Project, Failure> {
    let selection = PackageSelection {
        manifest_path: manifest_path.map(Path::to_owned),
        // A plan of several packages covers the whole workspace.
        package: Some(package.to_owned()).filter(|name| !name.contains(',')),
        ..PackageSelection::default()
    };
    Ok(Project::read(&selection)?)
}
