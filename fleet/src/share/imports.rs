//! What was pulled: the results of other machines, by who measured them.

use std::collections::BTreeMap;
use std::path::Path;

use kiln_cache::{Record, Trial, TuningKey};
use kiln_spec::Hash;
use rayon::prelude::*;

use super::read;
use crate::fold::{Observations, Observer, fold};
use crate::object;
use crate::store::{Folder, ObjectStore, StoreError};

/// The results under one key by one observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The key, in clear.
    pub key: TuningKey,
    /// Who measured: `host`, `uuid`, …; the host alone if the record of the run is missing.
    pub observer: BTreeMap<String, String>,
    /// Fingerprint of the key that signed.
    pub author: String,
    /// The last trial of each config.
    pub trials: Vec<Trial>,
}

/// What was pulled into a folder.
#[derive(Debug, Default)]
pub struct Imports {
    observations: Observations,
    /// Segments that are damaged, and so count for nothing.
    pub damaged: Vec<String>,
}

impl Imports {
    /// Reads the segments in a folder into which [`pull`](super::pull) fetched them. Whether their authors may still sign
    /// is not checked: that was so when they were fetched.
    ///
    /// # Errors
    /// If the folder cannot be read; damaged segments are named in [`Imports::damaged`]. A missing folder is empty.
    pub fn read(folder: &Path) -> Result<Imports, StoreError> {
        if !folder.exists() {
            return Ok(Imports::default());
        }
        let store = Folder::open(folder)?;
        let names = store.list(&object::segments(object::NO_PLAN))?.names;
        let names: Vec<String> = names
            .into_iter()
            .filter(|name| name.ends_with(".seg"))
            .collect();
        let read = names.into_par_iter().map(|name| {
            let signed = read::signed(&store, &name, &|_| true);
            signed.map(|signed| signed.segment).map_err(|_| name)
        });
        let (mut segments, mut damaged) = (Vec::new(), Vec::new());
        for result in read.collect::<Vec<_>>() {
            match result {
                Ok(segment) => segments.push(segment),
                Err(name) => damaged.push(name),
            }
        }
        Ok(Imports {
            observations: fold(&segments),
            damaged,
        })
    }

    /// Everything that was observed.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The results, by key and observer. They are the same for the same segments, whatever their order and cut.
    pub fn results(&self) -> Vec<Imported> {
        // A key has the hash of its fields, so that it does not matter who says it.
        let sources = || self.observations.sources();
        let keys: BTreeMap<Hash, &TuningKey> = sources().flat_map(|source| source.keys()).collect();
        let everywhere: BTreeMap<Run, &Named> =
            sources().flat_map(|source| runs(&source)).collect();
        let mut results: BTreeMap<(Hash, &Named, &str), Trials> = BTreeMap::new();
        for source in sources() {
            let (journal, author) = (source.source.journal, source.source.author.as_str());
            // A copy of a cache can have another run of the same number.
            let own: BTreeMap<Run, &Named> = runs(&source).into_iter().collect();
            for trial in source
                .trials()
                .filter(|trial| keys.contains_key(&trial.key))
            {
                let run = trial.place.map(|place| (journal, author, place.run));
                let observer = run.and_then(|run| own.get(&run).or_else(|| everywhere.get(&run)));
                let observer = observer.copied().unwrap_or(&source.source.observer);
                let trials = results.entry((trial.key, observer, author)).or_default();
                trials.insert(&trial.config, trial);
            }
        }
        let results = results.into_iter();
        results
            .map(|((key, observer, author), trials)| Imported {
                key: keys[&key].clone(),
                observer: observer.clone(),
                author: author.to_owned(),
                trials: trials.into_values().cloned().collect(),
            })
            .collect()
    }
}

/// Properties by their names.
type Named = BTreeMap<String, String>;
/// A run: its journal, who signed it, and its number.
type Run<'a> = (u64, &'a str, u64);
/// Trials, by config.
type Trials<'a> = BTreeMap<&'a str, &'a Trial>;

/// Who measured in each run of a source.
fn runs<'a>(source: &Observer<'a>) -> Vec<(Run<'a>, &'a Named)> {
    let (journal, author) = (source.source.journal, source.source.author.as_str());
    let started = source.records().filter_map(|(_, record)| match record {
        Record::RunStarted(run) => {
            Some(((journal, author, run.run), &run.settings.as_ref()?.observer))
        }
        _ => None,
    });
    started
        .filter(|(_, observer)| !observer.is_empty())
        .collect()
}
