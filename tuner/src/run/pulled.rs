//! What `tune cache pull` fetched, as a run uses it. Results of this very device go on where they ended. Those of others
//! are a start for searches, and nothing else: times of different devices are never compared.

use std::collections::BTreeMap;

use kiln_cache::Cache;
use kiln_fleet::{Imported, Imports};

use crate::error::Failure;
use crate::fleet::FleetError;
use crate::progress::Reporter;
use crate::run::own_trials;

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
        own_trials::take_up(cache, &one.key, one.trials)?;
    }
    Ok(others)
}
