//! The union of segments. It has all records, grouped by their source.
//!
//! A record is identified by its source, its sequence number, and the hash of its journal up to and including the
//! record. The union of sets of records is therefore commutative, associative and idempotent: it does not depend on the
//! order of segments, on repetitions, or on where a journal is cut into segments.

use std::collections::BTreeMap;
use std::sync::Arc;

use kiln_cache::record::{ConfirmProcess, SearchDone};
use kiln_cache::{Record, Trial, TuningKey, Winner};
use kiln_spec::Hash;

use crate::segment::{Placed, Segment};

/// The origin of records: one journal of one attempt at an element, signed by one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Identity of the plan, or `none`.
    pub plan: String,
    /// Number of the element; 0 without a plan.
    pub element: u32,
    /// The attempt at the element.
    pub attempt: String,
    /// Identity of the journal.
    pub journal: u64,
    /// Fingerprint of the key that signed the segments.
    pub author: String,
    /// The observer: properties of the machine that measured, such as `host`, `device` and `uuid`.
    pub observer: BTreeMap<String, String>,
}

/// A record of a source, and the hash of all records before it.
#[derive(Clone, Debug)]
struct Node {
    before: Hash,
    record: Arc<Record>,
}

/// The records of one source. The key of a record is its sequence number and the hash of all records up to and
/// including it. If the journal forked, several records may have the same sequence number.
type Nodes = BTreeMap<(u64, Hash), Node>;

/// A set of records from any number of sources.
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

    /// Adds all records of another set.
    pub fn merge(&mut self, other: Observations) {
        for (source, nodes) in other.sources {
            let ours = self.sources.entry(source).or_default();
            for (place, node) in nodes {
                ours.entry(place).or_insert(node);
            }
        }
    }

    /// The hash of the sources and record hashes of the set, as 64 hexadecimal digits. Equal sets have equal hashes.
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

    /// Whether the set has no records.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The sources and their records, sorted by source.
    pub fn sources(&self) -> impl Iterator<Item = Observer<'_>> {
        let sources = self.sources.iter();
        sources.map(|(source, nodes)| Observer { source, nodes })
    }
}

/// A source and its records.
#[derive(Clone, Copy, Debug)]
pub struct Observer<'a> {
    /// The source.
    pub source: &'a Source,
    nodes: &'a Nodes,
}

impl<'a> Observer<'a> {
    /// The records and their sequence numbers, in order of sequence number.
    pub fn records(&self) -> impl Iterator<Item = (u64, &'a Record)> + use<'a> {
        let nodes = self.nodes.iter();
        nodes.map(|((sequence, _), node)| (*sequence, &*node.record))
    }

    /// The source's tuning keys with all their fields. The key of the map is the hash of the tuning key.
    pub fn keys(&self) -> BTreeMap<Hash, &'a TuningKey> {
        let key = |record: &'a Record| match record {
            Record::Key(key) => Some((key.hash(), key)),
            _ => None,
        };
        self.records()
            .filter_map(|(_, record)| key(record))
            .collect()
    }

    /// The trials that ended, in order of sequence number.
    pub fn trials(&self) -> impl Iterator<Item = &'a Trial> + use<'a> {
        self.records().filter_map(|(_, record)| match record {
            Record::End(trial) => Some(trial),
            _ => None,
        })
    }

    /// The processes of confirmations, with the sequence numbers of their records.
    pub fn confirmations(&self) -> impl Iterator<Item = (u64, &'a ConfirmProcess)> + use<'a> {
        self.records()
            .filter_map(|(sequence, record)| match record {
                Record::ConfirmProcess(process) => Some((sequence, process)),
                _ => None,
            })
    }

    /// The decisions (records `Sealed`), with the sequence numbers of their records.
    pub fn winners(&self) -> impl Iterator<Item = (u64, &'a Winner)> + use<'a> {
        self.records()
            .filter_map(|(sequence, record)| match record {
                Record::Sealed(winner) => Some((sequence, winner)),
                _ => None,
            })
    }

    /// The searches that were completed.
    pub fn done(&self) -> impl Iterator<Item = &'a SearchDone> + use<'a> {
        self.records().filter_map(|(_, record)| match record {
            Record::SearchDone(done) => Some(done),
            _ => None,
        })
    }

    /// Number of histories in the journal: 1, plus 1 for each record, beyond the first, that follows the same
    /// predecessor.
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
