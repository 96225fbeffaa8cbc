//! The union of segments: what was observed, by whom.
//!
//! A record is identified by its source, its sequence number and the hash of its journal up to it, so that a union of
//! sets of records is commutative, associative and idempotent, whatever the order, repetition and cut of segments.

use std::collections::BTreeMap;
use std::sync::Arc;

use kiln_cache::record::{ConfirmProcess, SearchDone};
use kiln_cache::{Record, Trial, TuningKey, Winner};
use kiln_spec::Hash;

use crate::segment::{Placed, Segment};

/// Where records come from: one journal of one attempt at an element, signed by one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Identity of the plan, or `none`.
    pub plan: String,
    /// Number of the element.
    pub element: u32,
    /// The attempt at the element.
    pub attempt: String,
    /// Identity of the journal.
    pub journal: u64,
    /// Fingerprint of the key that signed.
    pub author: String,
    /// Who measured: `host`, `device`, `uuid`, …
    pub observer: BTreeMap<String, String>,
}

/// A record of a source, and the hash of everything before it.
#[derive(Clone, Debug)]
struct Node {
    before: Hash,
    record: Arc<Record>,
}

/// The records of a source, by sequence number and by the hash of everything up to each. A fork has two records of
/// one number.
type Nodes = BTreeMap<(u64, Hash), Node>;

/// A set of observations.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    sources: BTreeMap<Source, Nodes>,
}

/// The union of the records of segments.
pub fn fold(segments: &[Segment]) -> Observations {
    let mut observations = Observations::default();
    for segment in segments {
        observations.add(segment);
    }
    observations
}

impl Observations {
    /// Adds the records of a segment.
    pub fn add(&mut self, segment: &Segment) {
        let header = &segment.header;
        let source = Source {
            plan: header.plan.clone(),
            element: header.element,
            attempt: header.attempt.clone(),
            journal: segment.journal,
            author: segment.author.clone(),
            observer: header.observer.clone(),
        };
        let nodes = self.sources.entry(source).or_default();
        for placed in &segment.records {
            let Placed {
                sequence,
                before,
                after,
                record,
            } = placed;
            nodes.entry((*sequence, *after)).or_insert_with(|| Node {
                before: *before,
                record: Arc::clone(record),
            });
        }
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: Observations) {
        for (source, nodes) in other.sources {
            let ours = self.sources.entry(source).or_default();
            for (place, node) in nodes {
                ours.entry(place).or_insert(node);
            }
        }
    }

    /// The hash of the set, as 64 hexadecimal digits: equal for equal sets.
    pub fn root_hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut field = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for (source, nodes) in &self.sources {
            field(source.plan.as_bytes());
            field(&source.element.to_le_bytes());
            field(source.attempt.as_bytes());
            field(&source.journal.to_le_bytes());
            field(source.author.as_bytes());
            field(&(source.observer.len() as u64).to_le_bytes());
            for (name, text) in &source.observer {
                field(name.as_bytes());
                field(text.as_bytes());
            }
            field(&(nodes.len() as u64).to_le_bytes());
            for ((sequence, after), node) in nodes {
                field(&sequence.to_le_bytes());
                field(after.to_string().as_bytes());
                field(node.before.to_string().as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.sources.values().map(BTreeMap::len).sum()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The sources, in order.
    pub fn sources(&self) -> impl Iterator<Item = Observer<'_>> {
        let sources = self.sources.iter();
        sources.map(|(source, nodes)| Observer { source, nodes })
    }
}

/// What one source observed.
#[derive(Clone, Copy, Debug)]
pub struct Observer<'a> {
    /// The source.
    pub source: &'a Source,
    nodes: &'a Nodes,
}

impl<'a> Observer<'a> {
    /// Its records, by sequence number.
    pub fn records(&self) -> impl Iterator<Item = (u64, &'a Record)> + use<'a> {
        let nodes = self.nodes.iter();
        nodes.map(|((sequence, _), node)| (*sequence, &*node.record))
    }

    /// The tuning keys in clear, by their hash.
    pub fn keys(&self) -> BTreeMap<Hash, &'a TuningKey> {
        let key = |record: &'a Record| match record {
            Record::Key(key) => Some((key.hash(), key)),
            _ => None,
        };
        self.records()
            .filter_map(|(_, record)| key(record))
            .collect()
    }

    /// The trials that ended.
    pub fn trials(&self) -> impl Iterator<Item = &'a Trial> + use<'a> {
        self.records().filter_map(|(_, record)| match record {
            Record::End(trial) => Some(trial),
            _ => None,
        })
    }

    /// The processes of confirmations, and their sequence numbers.
    pub fn confirmations(&self) -> impl Iterator<Item = (u64, &'a ConfirmProcess)> + use<'a> {
        self.records()
            .filter_map(|(sequence, record)| match record {
                Record::ConfirmProcess(process) => Some((sequence, process)),
                _ => None,
            })
    }

    /// The decisions, and their sequence numbers.
    pub fn winners(&self) -> impl Iterator<Item = (u64, &'a Winner)> + use<'a> {
        self.records()
            .filter_map(|(sequence, record)| match record {
                Record::Sealed(winner) => Some((sequence, winner)),
                _ => None,
            })
    }

    /// The completed searches.
    pub fn done(&self) -> impl Iterator<Item = &'a SearchDone> + use<'a> {
        self.records().filter_map(|(_, record)| match record {
            Record::SearchDone(done) => Some(done),
            _ => None,
        })
    }

    /// Number of histories: 1, and one more for each record that another one of its source follows too.
    pub fn branches(&self) -> usize {
        let mut followers: BTreeMap<(u64, Hash), usize> = BTreeMap::new();
        for ((sequence, _), node) in self.nodes {
            *followers.entry((*sequence, node.before)).or_default() += 1;
        }
        1 + followers.values().map(|count| count - 1).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
