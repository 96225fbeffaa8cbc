//! Publishes the results that an element proved, as one signed statement per proven task.

use std::collections::BTreeMap;

use kiln_cache::record::Verdict;
use kiln_cache::{Cache, Winner};
use kiln_fleet::decide::{ObserverId, distinct_observers};
use kiln_fleet::statement::{MAX_STATEMENT_BYTES, Place};
use kiln_fleet::{
    Distinct, Element, ObjectStore, Observations, Plan, PrivateKey, Statement, object,
};

use super::FleetError;
use crate::error::Failure;
use crate::run::report::RunReport;

/// The origin of statements: the plan, the attempt and the device.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The identity of the plan.
    pub plan: String,
    /// The number of the element.
    pub element: u32,
    /// The name of the attempt.
    pub attempt: String,
    /// The identity of the attempt's journal.
    pub journal: u64,
    /// The observer that measured: its host and device.
    pub observer: BTreeMap<String, String>,
}

/// Publishes a statement for each task that the run proved.
///
/// # Errors
/// If the cache cannot be read, or a statement cannot be stored.
pub fn publish(
    store: &dyn ObjectStore,
    key: &PrivateKey,
    cache: &Cache,
    report: &RunReport,
    origin: &Origin,
) -> Result<(), Failure> {
    let winners = report.tasks.iter().filter_map(|task| task.winner.as_ref());
    for winner in winners.filter(|winner| matches!(winner.verdict, Verdict::Proven { .. })) {
        let place = Place {
            plan: origin.plan.clone(),
            element: origin.element,
            attempt: origin.attempt.clone(),
            journal: origin.journal,
            series: series(cache, winner)?,
            observer: origin.observer.clone(),
        };
        let statement = Statement::of(winner, &place).map_err(FleetError::from)?;
        statement.publish(store, key).map_err(FleetError::from)?;
    }
    Ok(())
}

/// Publishes the statements of earlier attempts again, from their records, because an attempt may have been killed
/// after it published its last record and before it published its statements. Statements that are already in the store
/// do not change.
///
/// # Errors
/// If a statement cannot be stored.
pub fn publish_again(
    store: &dyn ObjectStore,
    key: &PrivateKey,
    attempts: &Observations,
) -> Result<(), FleetError> {
    for observer in attempts.sources() {
        let last: BTreeMap<_, _> = observer
            .winners()
            .map(|(_, winner)| (winner.key, winner))
            .collect();
        let proven = |winner: &&Winner| matches!(winner.verdict, Verdict::Proven { .. });
        for winner in last.into_values().filter(proven) {
            let own = observer.confirmations().filter(|(_, process)| {
                process.key == winner.key && process.config == winner.config
            });
            let place = Place {
                plan: observer.source.plan.clone(),
                element: observer.source.element,
                attempt: observer.source.attempt.clone(),
                journal: observer.source.journal,
                series: own
                    .map(|(_, process)| process.series)
                    .max()
                    .unwrap_or_default(),
                observer: observer.source.observer.clone(),
            };
            Statement::of(winner, &place)?.publish(store, key)?;
        }
    }
    Ok(())
}

/// Returns whether the store already contains a statement about one of the configs of the element's tasks by this
/// observer, or by an observer that may be the same device. If so, another confirmation by this observer would not
/// count. Only the statements for `plan` and for the plan that it continues are read. Their signatures are not
/// verified, because the answer only avoids useless work.
///
/// # Errors
/// If the store cannot be read.
pub fn has_stated(
    store: &dyn ObjectStore,
    plan: &Plan,
    element: &Element,
    observer: &BTreeMap<String, String>,
) -> Result<bool, FleetError> {
    let own = ObserverId::new(observer, "");
    let is_of_task = |statement: &Statement| {
        element
            .task(&statement.kernel, &statement.problem)
            .is_some_and(|task| task.configs.contains(&statement.config))
    };
    for id in [Some(plan.id()), plan.previous.clone()]
        .into_iter()
        .flatten()
    {
        for name in store.list(&object::statements(&id))?.names {
            let bytes = store.get(&name, MAX_STATEMENT_BYTES)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let Ok(statement) = Statement::parse(&text) else {
                continue;
            };
            let stated = ObserverId::new(&statement.observer, "");
            let both = distinct_observers([stated, own.clone()], Distinct::Device);
            if is_of_task(&statement) && both.len() < 2 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The number of the winner's last confirmation series.
fn series(cache: &Cache, winner: &Winner) -> Result<u64, Failure> {
    let all = cache.confirmations(winner.key)?;
    let own = all.iter().filter(|process| process.config == winner.config);
    Ok(own.map(|process| process.series).max().unwrap_or_default())
}
