//! What a record of the journal means for the store, and the other way round.

use super::change::{Change, Position};
use super::entry::{Entry, Run, Strikes};
use super::error::StoreError;
use super::interface::Store;
use super::keys;
use crate::record::{Record, TrialId};

/// Strikes are counted up to here: two are enough for the quarantine.
const MAX_STRIKES: u32 = 16;

/// Applies one record to a store.
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
        Record::RunStarted(started) => vec![Change::put(Entry::Run(Run {
            started: started.clone(),
            ended: None,
        }))],
        Record::RunEnded(ended) => match store.get(&keys::run(ended.run))? {
            Some(Entry::Run(run)) => vec![Change::put(Entry::Run(Run {
                ended: Some(ended.clone()),
                ..run
            }))],
            _ => vec![],
        },
        Record::Key(key) => vec![Change::put(Entry::Key(key.clone()))],
        Record::Start { trial, .. } => {
            let strikes = strikes(store, trial)?.saturating_add(1);
            vec![strike(trial, strikes.min(MAX_STRIKES))]
        }
        Record::Cancelled { trial } => {
            vec![strike(trial, strikes(store, trial)?.saturating_sub(1))]
        }
        Record::End(trial) => {
            let mut changes = vec![Change::put(Entry::Trial(trial.clone()))];
            if !trial.outcome.is_strike() {
                changes.push(strike(&trial.id(), 0));
            }
            changes
        }
        Record::ConfirmProcess(process) => vec![Change::put(Entry::Confirm(process.clone()))],
        Record::Sealed(winner) => vec![Change::put(Entry::Winner(winner.clone()))],
        Record::SearchDone(done) => vec![Change::put(Entry::Done(done.clone()))],
    })
}

fn strike(trial: &TrialId, strikes: u32) -> Change {
    if strikes == 0 {
        return Change::Remove(keys::strikes(trial));
    }
    Change::put(Entry::Strikes(Strikes {
        trial: trial.clone(),
        strikes,
    }))
}

/// Launches of a trial that were started and not survived.
pub(crate) fn strikes(store: &dyn Store, trial: &TrialId) -> Result<u32, StoreError> {
    match store.get(&keys::strikes(trial))? {
        Some(Entry::Strikes(found)) => Ok(found.strikes),
        _ => Ok(0),
    }
}

/// The records that make a store like this one, and no more: what a compacted journal holds.
pub(crate) fn records(store: &dyn Store) -> Result<Vec<Record>, StoreError> {
    let mut records = Vec::new();
    // Trials come before strikes: the end of a trial clears its strikes.
    for kind in [
        "run/", "key/", "trial/", "strike/", "confirm/", "winner/", "done/",
    ] {
        store.scan(kind, &mut |entry| records.extend(of_entry(entry)))?;
    }
    Ok(records)
}

fn of_entry(entry: Entry) -> Vec<Record> {
    match entry {
        Entry::Run(run) => std::iter::once(Record::RunStarted(run.started))
            .chain(run.ended.map(Record::RunEnded))
            .collect(),
        Entry::Key(key) => vec![Record::Key(key)],
        Entry::Trial(trial) => vec![Record::End(trial)],
        Entry::Strikes(Strikes { trial, strikes }) => (1..=strikes.min(MAX_STRIKES))
            .map(|attempt| Record::Start {
                trial: trial.clone(),
                attempt,
            })
            .collect(),
        Entry::Confirm(process) => vec![Record::ConfirmProcess(process)],
        Entry::Winner(winner) => vec![Record::Sealed(winner)],
        Entry::Done(done) => vec![Record::SearchDone(done)],
    }
}
