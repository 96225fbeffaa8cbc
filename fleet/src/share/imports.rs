//! Results that were pulled from other machines, grouped by the device that measured them.

use std::collections::BTreeMap;
use std::path::Path;

use kiln_cache::{Record, Trial, TuningKey};
use kiln_spec::Hash;
use rayon::prelude::*;

use super::read;
use crate::fold::{Observations, Observer, fold};
use crate::object;
use crate::store::{Folder, ObjectStore, StoreError};

/// The results that one observer measured under one tuning key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The tuning key with all its fields.
    pub key: TuningKey,
    /// The observer: properties of the machine that measured, such as `host` and `uuid`. If the record of the run is
    /// missing, this is the observer in the segment's header.
    pub observer: BTreeMap<String, String>,
    /// Fingerprint of the key that signed the results.
    pub author: String,
    /// The last trial of each config, sorted by config.
    pub trials: Vec<Trial>,
}

/// The results that were pulled into a folder.
#[derive(Debug, Default)]
pub struct Imports {
    observations: Observations,
    /// Names of damaged segments. Their records are ignored.
    pub damaged: Vec<String>,
}

impl Imports {
    /// Reads the segments that [`pull`](super::pull) fetched into a folder. Signatures are verified. It is not checked
    /// again whether their keys may sign, because [`pull`](super::pull) checked this when it fetched the segments.
    ///
    /// # Errors
    /// The folder cannot be read. Damaged segments are not an error; [`Imports::damaged`] lists them. A missing folder
    /// is empty.
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

    /// All records that were pulled.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The results, grouped by key and observer. The result depends neither on the order of the segments nor on where
    /// journals are cut into segments.
    pub fn results(&self) -> Vec<Imported> {
        // A tuning key is identified by the hash of its fields, so its fields can be taken from any source.
        let sources = || self.observations.sources();
        let keys: BTreeMap<Hash, &TuningKey> = sources().flat_map(|source| source.keys()).collect();
        let everywhere: BTreeMap<Run, &Named> =
            sources().flat_map(|source| runs(&source)).collect();
        let mut results: BTreeMap<(Hash, &Named, &str), Trials> = BTreeMap::new();
        for source in sources() {
            let (journal, author) = (source.source.journal, source.source.author.as_str());
            // The run is first looked up in the same source, because a copy of a cache can contain a different run with
            // the same number.
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

/// Properties of an observer, by name.
type Named = BTreeMap<String, String>;
/// A run: its journal, the fingerprint of the key that signed it, and its number.
type Run<'a> = (u64, &'a str, u64);
/// Trials, by config.
type Trials<'a> = BTreeMap<&'a str, &'a Trial>;

/// The observer of each run of a source.
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
