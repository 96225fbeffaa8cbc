//! Copies trials that the same device made with another cache. For example, an earlier attempt at the same fleet
//! element had a cache of its own, or this machine lost its cache and pulled the results again.

use std::collections::BTreeSet;

use kiln_cache::{Cache, CacheError, Trial, TuningKey};

/// Copies the trials with final outcomes into the cache, for configs that have no trial in it. All trials must be from
/// this device, because times of different devices are never compared.
///
/// # Errors
/// If the cache cannot be read or written.
pub fn take_up(cache: &Cache, key: &TuningKey, trials: Vec<Trial>) -> Result<(), CacheError> {
    let known = cache.trials(key.hash())?.into_iter();
    let known: BTreeSet<String> = known.map(|trial| trial.config).collect();
    let new = |trial: &Trial| trial.stands() && !known.contains(&trial.config);
    // The timestamps refer to runs of the other cache, so they are dropped.
    let unplaced = |trial: Trial| Trial {
        place: None,
        ..trial
    };
    let trials: Vec<Trial> = trials.into_iter().filter(new).map(unplaced).collect();
    if trials.is_empty() {
        return Ok(());
    }
    cache.remember_key(key)?;
    cache.finish_all(trials)
}
