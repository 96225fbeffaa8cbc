//! `tune cache`: shows the location and the content of the cache, checks it, clears it, and shares its results.

mod progress;
mod pull;
mod push;

use std::process::ExitCode;

use kiln_cache::{Stats, VerifyReport};

use crate::cli::CacheAction;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use kiln_lab::machine;

pub(super) fn run(action: &CacheAction) -> Result<ExitCode, Failure> {
    let folder = kiln_cache::location::from_environment()?;
    match action {
        CacheAction::Path => print(&format!("{}\n", folder.display())),
        CacheAction::Stats(output) => {
            let stats = machine::open_cache()?.stats()?;
            if output.json {
                print_json(&stats)?
            } else {
                print(&stats_text(&folder, &stats))
            }
        }
        CacheAction::Verify(output) => {
            let report = machine::open_cache()?.verify()?;
            if output.json {
                print_json(&report)?
            } else {
                print(&report_text(&report))
            }
            return Ok(checked(report.is_sound()));
        }
        CacheAction::Export => {
            let mut lines = Vec::new();
            machine::open_cache()?.export_json(&mut lines)?;
            print(&String::from_utf8_lossy(&lines));
        }
        CacheAction::Push(args) => return push::run(args, &folder),
        CacheAction::Pull(args) => return pull::run(args, &folder),
        CacheAction::Clear { yes: false } => {
            return Err(Failure::NotConfirmed { folder });
        }
        CacheAction::Clear { yes: true } => {
            machine::open_cache()?.clear()?;
            print(&format!("cleared {}\n", folder.display()));
        }
    }
    Ok(checked(true))
}

fn stats_text(folder: &std::path::Path, stats: &Stats) -> String {
    let mut text = format!("cache at {}\n", folder.display());
    let counts = [
        ("runs", stats.runs),
        ("keys", stats.keys),
        ("trials", stats.trials),
        ("valid trials", stats.valid_trials),
        ("configs with strikes", stats.struck),
        ("confirming processes", stats.confirm_processes),
        ("winners", stats.winners),
        ("searches done", stats.searches_done),
        ("journal bytes", stats.journal_bytes),
        ("store bytes", stats.store_bytes),
        ("artifact bytes", stats.artifact_bytes),
        ("pulled bytes", stats.import_bytes),
    ];
    for (name, count) in counts {
        text += &format!("  {name:<22} {count}\n");
    }
    for path in &stats.set_aside {
        text += &format!("  set aside: {}\n", path.display());
    }
    text
}

fn report_text(report: &VerifyReport) -> String {
    let mut text = format!(
        "journal: {} records, {} damaged stretches, {} missing\nstore: {} entries\n",
        report.journal_records,
        report.journal_damaged,
        report.journal_missing,
        report.store_entries
    );
    if let Some(fault) = &report.store_fault {
        text += &format!("store: {fault}\n");
    }
    if report.lost_in_repair > 0 {
        let lost = report.lost_in_repair;
        text +=
            &format!("journal: {lost} records were lost to damage that was repaired just now\n");
    }
    text + if report.is_sound() {
        "sound\n"
    } else {
        "damaged: only the records counted above are lost\n"
    }
}
