//! Uses the results that `tune cache pull` fetched. Results that this device measured are added to this cache. Results
//! of other devices are only starting points of searches, because times of different devices are never compared.

use std::collections::BTreeMap;

use kiln_cache::Cache;
use kiln_fleet::{Imported, Imports};

use crate::error::Failure;
use crate::fleet::FleetError;
use crate::progress::Reporter;
use crate::run::own_trials;

/// Adds the pulled results of `observer`, which is this device, to the cache, and returns the results of other devices.
///
/// # Errors
/// If the pulled results cannot be read, or the cache cannot be written.
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
        own_trials::take_up(cache, &one.key, one.trials)?;
    }
    Ok(others)
}
