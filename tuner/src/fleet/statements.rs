//! States what an element proved: one signed statement for each proven task.

use std::collections::BTreeMap;

use kiln_cache::record::Verdict;
use kiln_cache::{Cache, Winner};
use kiln_fleet::statement::Place;
use kiln_fleet::{ObjectStore, PrivateKey, Statement};

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
        let statement = Statement::of(winner, &place).map_err(super::FleetError::from)?;
        statement
            .publish(store, key)
            .map_err(super::FleetError::from)?;
    }
    Ok(())
}

/// The number of the winner's last confirmation.
fn series(cache: &Cache, winner: &Winner) -> Result<u64, Failure> {
    let all = cache.confirmations(winner.key)?;
    let own = all.iter().filter(|process| process.config == winner.config);
    Ok(own.map(|process| process.series).max().unwrap_or_default())
}
