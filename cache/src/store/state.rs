//! Converts records of the journal to changes of the store, and entries of the store to records.

use super::change::{Change, Position};
use super::entry::{Run, StoreEntry, Strikes};
use super::error::StoreError;
use super::interface::Store;
use super::keys;
use crate::record::{Record, TrialId};

/// Largest number of strikes that is counted. Two are enough for the quarantine.
const MAX_STRIKES: u32 = 16;

/// Applies one record to a store, and sets the store's position.
pub(crate) fn apply(
    store: &mut dyn Store,
    record: &Record,
    position: Position,
) -> Result<(), StoreError> {
    let changes = changes(store, record)?;
    store.apply(&changes, position)
}

fn changes(store: &dyn Store, record: &Record) -> Result<Vec<Change>, StoreError> {
    Ok(match record {
        Record::RunStarted(started) => vec![Change::put(StoreEntry::Run(Run {
            started: started.clone(),
            ended: None,
        }))],
        Record::RunEnded(ended) => match store.get(&keys::run(ended.run))? {
            Some(StoreEntry::Run(run)) => vec![Change::put(StoreEntry::Run(Run {
                ended: Some(ended.clone()),
                ..run
            }))],
            _ => vec![],
        },
        Record::Key(key) => vec![Change::put(StoreEntry::Key(key.clone()))],
        Record::Start { trial, .. } => {
            let strikes = strikes(store, trial)?.saturating_add(1);
            vec![strike(trial, strikes.min(MAX_STRIKES))]
        }
        Record::Cancelled { trial } => {
            vec![strike(trial, strikes(store, trial)?.saturating_sub(1))]
        }
        Record::End(trial) => {
            let mut changes = vec![Change::put(StoreEntry::Trial(trial.clone()))];
            if !trial.outcome.is_strike() {
                changes.push(strike(&trial.id(), 0));
            }
            changes
        }
        Record::ConfirmProcess(process) => vec![Change::put(StoreEntry::Confirm(process.clone()))],
        Record::Sealed(winner) => vec![Change::put(StoreEntry::Winner(winner.clone()))],
        Record::SearchDone(done) => vec![Change::put(StoreEntry::Done(done.clone()))],
    })
}

fn strike(trial: &TrialId, strikes: u32) -> Change {
    if strikes == 0 {
        return Change::Remove(keys::strikes(trial));
    }
    Change::put(StoreEntry::Strikes(Strikes {
        trial: trial.clone(),
        strikes,
    }))
}

/// The number of strikes of a trial.
pub(crate) fn strikes(store: &dyn Store, trial: &TrialId) -> Result<u32, StoreError> {
    match store.get(&keys::strikes(trial))? {
        Some(StoreEntry::Strikes(found)) => Ok(found.strikes),
        _ => Ok(0),
    }
}

/// The records that create a store with these entries. They are the content of a compacted journal.
pub(crate) fn records(store: &dyn Store) -> Result<Vec<Record>, StoreError> {
    let mut records = Vec::new();
    // Trials come before strikes, because the end of a trial clears its strikes.
    for kind in [
        "run/", "key/", "trial/", "strike/", "confirm/", "winner/", "done/",
    ] {
        store.scan(kind, &mut |entry| records.extend(of_entry(entry)))?;
    }
    Ok(records)
}

fn of_entry(entry: StoreEntry) -> Vec<Record> {
    match entry {
        StoreEntry::Run(run) => std::iter::once(Record::RunStarted(run.started))
            .chain(run.ended.map(Record::RunEnded))
            .collect(),
        StoreEntry::Key(key) => vec![Record::Key(key)],
        StoreEntry::Trial(trial) => vec![Record::End(trial)],
        StoreEntry::Strikes(Strikes { trial, strikes }) => (1..=strikes.min(MAX_STRIKES))
            .map(|attempt| Record::Start {
                trial: trial.clone(),
                attempt,
            })
            .collect(),
        StoreEntry::Confirm(process) => vec![Record::ConfirmProcess(process)],
        StoreEntry::Winner(winner) => vec![Record::Sealed(winner)],
        StoreEntry::Done(done) => vec![Record::SearchDone(done)],
    }
}
