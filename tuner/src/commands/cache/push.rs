//! `tune cache push`: publishes the results in this machine's cache. No fleet plan is needed.

use std::path::Path;
use std::process::ExitCode;

use kiln_cache::Cache;
use kiln_fleet::Pushed;
use serde_json::json;

use super::progress::reporting;
use crate::cli::PushArgs;
use crate::commands::fleet::created_store;
use crate::commands::output::{checked, print, print_json};
use crate::error::Failure;
use crate::fleet::{FleetError, signer};
use crate::run::observer::host;

pub(super) fn run(args: &PushArgs, folder: &Path) -> Result<ExitCode, Failure> {
    let journal = Cache::view(folder)?.journal();
    let key = signer::signing_key(args.sign.as_deref())?;
    let store = created_store(&args.store)?;
    let observer = [host()].into();
    let pushed = reporting("records published", |report| {
        kiln_fleet::push(&*store, &key, &journal, &observer, report)
    });
    let pushed = pushed.map_err(FleetError::from)?;
    if pushed.last == 0 {
        let folder = folder.to_owned();
        return Err(Failure::from(FleetError::NothingToPush { folder }));
    }
    let signed_by = key.public().fingerprint();
    if args.output.json {
        print_json(&json!({
            "journal": format!("{:016x}", pushed.journal),
            "known": pushed.known,
            "last": pushed.last,
            "segments": pushed.segments,
            "signed_by": signed_by,
            "replaced": pushed.replaced,
        }))?;
    } else {
        print(&text(&pushed, &signed_by, &args.store));
    }
    if let Some(name) = &pushed.replaced {
        eprintln!(
            "tune: {name} has other bytes than were pushed: somebody replaced it; the records were pushed under another name"
        );
    }
    Ok(checked(pushed.replaced.is_none()))
}

fn text(pushed: &Pushed, signed_by: &str, store: &str) -> String {
    let Pushed {
        journal,
        last,
        known,
        segments,
        ..
    } = pushed;
    if *segments == 0 {
        return format!("{store} has all {last} records of journal {journal:016x}\n");
    }
    format!(
        "pushed records {} to {last} of journal {journal:016x} in {segments} segments, signed by {signed_by}\n\
         next: tune cache pull {store}, where {signed_by} is in tuned/allowed_signers\n",
        known + 1
    )
}
