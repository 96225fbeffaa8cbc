//! What `tune cache pull` fetched, as a run uses it. Results of this very device go on where they ended. Those of others
//! are a start for searches, and nothing else: times of different devices are never compared.

use std::collections::{BTreeMap, BTreeSet};

use kiln_cache::{Cache, CacheError, Trial};
use kiln_fleet::{Imported, Imports};

use crate::error::Failure;
use crate::fleet::FleetError;
use crate::progress::Reporter;

/// Takes the results of this device into its cache, and returns those of others.
///
/// # Errors
/// If what was pulled cannot be read, or the cache cannot be written.
pub fn take_in(
    cache: &Cache,
    observer: &BTreeMap<String, String>,
    reporter: &dyn Reporter,
) -> Result<Vec<Imported>, Failure> {
    let folder = cache.imports();
    let imports = Imports::read(&folder).map_err(FleetError::from)?;
    for name in &imports.damaged {
        let path = folder.join(name);
        reporter.notice(&format!(
            "{} is damaged and was left out: remove it, and `tune cache pull` fetches it again",
            path.display()
        ));
    }
    let (own, others): (Vec<Imported>, Vec<Imported>) = imports
        .results()
        .into_iter()
        .partition(|one| one.observer == *observer);
    for one in own {
        take_up(cache, one)?;
    }
    Ok(others)
}

/// Takes up the trials that stand of configs of which the cache has none.
fn take_up(cache: &Cache, own: Imported) -> Result<(), CacheError> {
    let known = cache.trials(own.key.hash())?.into_iter();
    let known: BTreeSet<String> = known.map(|trial| trial.config).collect();
    let new = |trial: &Trial| trial.stands() && !known.contains(&trial.config);
    let trials: Vec<Trial> = own.trials.into_iter().filter(new).collect();
    if trials.is_empty() {
        return Ok(());
    }
    cache.remember_key(&own.key)?;
    // Their place in a run means nothing in this cache.
    let trials = trials.into_iter().map(|trial| Trial {
        place: None,
        ..trial
    });
    cache.finish_all(trials.collect())
}
