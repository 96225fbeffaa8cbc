//! `tune cache pull`: fetches the results that other machines pushed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kiln_cache::Cache;
use kiln_fleet::{AllowedSigners, Folder, Imports, Pulled, share};
use serde_json::json;

use super::progress::reporting;
use crate::cli::PullArgs;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use crate::fleet::FleetError;
use crate::run::clock::unix_s;
use kiln_project::{PackageSelection, Project};

pub(super) fn run(args: &PullArgs, folder: &Path) -> Result<ExitCode, Failure> {
    let cache = Cache::view(folder)?;
    let own = share::journal_id(&cache.journal()).map_err(kiln_cache::CacheError::from)?;
    let signers = signers(args)?;
    let store = kiln_fleet::open(&args.store).map_err(FleetError::from)?;
    let imports = cache.imports();
    std::fs::create_dir_all(&imports).map_err(Failure::file("make the folder", &imports))?;
    let to = Folder::open(&imports).map_err(FleetError::from)?;
    let pulled = reporting("segments fetched", |report| {
        kiln_fleet::pull(&*store, &signers, own, &to, unix_s(), report)
    });
    let mut pulled = pulled.map_err(FleetError::from)?;
    let imports = Imports::read(&cache.imports()).unwrap_or_else(|error| {
        pulled.stopped.get_or_insert(error);
        Imports::default()
    });
    let complaints = complaints(&pulled, &imports);
    if args.output.json {
        print_json(&json!({
            "segments": pulled.segments,
            "records": pulled.records,
            "known": pulled.known,
            "unfinished": pulled.unfinished,
            "results": imports.results().iter().map(|one| json!({
                "kernel": one.key.kernel(),
                "problem": one.key.field("problem"),
                "device": one.key.field("device.name"),
                "observer": one.observer,
                "signed_by": one.author,
                "trials": one.trials.len(),
            })).collect::<Vec<_>>(),
            "complaints": complaints,
            "is_complete": pulled.stopped.is_none(),
        }))?;
    } else {
        print(&text(&pulled, &imports));
        complaints.iter().for_each(|line| eprintln!("tune: {line}"));
    }
    match pulled.stopped {
        Some(error) => Err(FleetError::from(error).into()),
        None => Ok(checked(complaints.is_empty())),
    }
}

/// Reads the signers whose results are accepted.
fn signers(args: &PullArgs) -> Result<AllowedSigners, Failure> {
    let path = match &args.allowed_signers {
        Some(path) => path.clone(),
        None => of_package(args.manifest_path.clone())?,
    };
    let text = std::fs::read_to_string(&path).map_err(Failure::file("read", &path))?;
    Ok(AllowedSigners::parse(&text).map_err(FleetError::from)?)
}

/// The path of `allowed_signers` in the package that `manifest_path` selects.
fn of_package(manifest_path: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let project = Project::read(&PackageSelection {
        manifest_path,
        ..PackageSelection::default()
    })?;
    Ok(project.allowed_signers())
}

fn text(pulled: &Pulled, imports: &Imports) -> String {
    let results = imports.results();
    let trials: usize = results.iter().map(|one| one.trials.len()).sum();
    let mut text = format!(
        "pulled {} segments with {} records; {} were here before",
        pulled.segments, pulled.records, pulled.known
    );
    if !pulled.unfinished.is_empty() {
        text += &format!("; {} are not signed yet", pulled.unfinished.len());
    }
    text += &format!(
        "\nhere are {trials} trials of {} kernel problems from other machines; searches start from them\n",
        results.len()
    );
    text
}

/// Describes faults of the store and of earlier pulls, one line per fault.
fn complaints(pulled: &Pulled, imports: &Imports) -> Vec<String> {
    let first_line = |why: String| why.lines().next().unwrap_or_default().to_owned();
    let rejected = pulled.rejected.iter();
    let rejected =
        rejected.map(|one| format!("rejected {}: {}", one.name, first_line(one.why.to_string())));
    let ignored = pulled.ignored.iter();
    let ignored =
        ignored.map(|name| format!("ignored {name}: this is not the name of a store object"));
    let damaged = imports.damaged.iter();
    let damaged = damaged.map(|name| format!("{name} was pulled before and is damaged here"));
    rejected.chain(ignored).chain(damaged).collect()
}
