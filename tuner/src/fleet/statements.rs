//! States what an element proved: one signed statement for each proven task.

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

/// Where statements come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Identity of the plan.
    pub plan: String,
    /// Number of the element.
    pub element: u32,
    /// The attempt at it.
    pub attempt: String,
    /// Identity of the attempt's journal.
    pub journal: u64,
    /// Who measured.
    pub observer: BTreeMap<String, String>,
}

/// Publishes a statement for each task of a run that is proven.
///
/// # Errors
/// If the cache cannot be read, or the store does not take one.
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

/// States again what attempts proved, from their records: an attempt may have ended between its last record and its
/// statements. A statement that is in the store stays as it is.
///
/// # Errors
/// If the store does not take one.
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

/// Whether this observer, or one that cannot be told from it, has stated one of an element's tasks before: another
/// confirmation by it would count for nothing. Statements are not verified here, since they decide nothing.
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

/// The number of the winner's last confirmation.
fn series(cache: &Cache, winner: &Winner) -> Result<u64, Failure> {
    let all = cache.confirmations(winner.key)?;
    let own = all.iter().filter(|process| process.config == winner.config);
    Ok(own.map(|process| process.series).max().unwrap_or_default())
}
