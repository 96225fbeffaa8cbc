//! Checks whether the segments of a journal are one unbroken history.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use kiln_spec::Hash;

use crate::segment::Segment;

/// A range of records that no segment has, although a segment has later records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Identity of the journal.
    pub journal: u64,
    /// Sequence number of the first missing record.
    pub first: u64,
    /// Sequence number of the last missing record.
    pub last: u64,
}

/// Two histories with the same journal identity. This happens if a cache or a machine was copied, or if somebody
/// publishes under the identity of another journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Identity of the journal.
    pub journal: u64,
    /// The first sequence number at which the hashes of the two histories differ. It is 0 if they differ before the
    /// first record.
    pub sequence: u64,
}

/// Finds gaps and forks, sorted by journal and sequence number.
pub(super) fn check(segments: &[Segment]) -> (Vec<Gap>, Vec<Fork>) {
    let mut journals: BTreeMap<u64, Vec<&Segment>> = BTreeMap::new();
    for segment in segments {
        journals.entry(segment.journal).or_default().push(segment);
    }
    let (mut gaps, mut forks) = (Vec::new(), Vec::new());
    for (journal, segments) in journals {
        gaps.extend(gaps_of(journal, &segments));
        forks.extend(fork_of(journal, &segments));
    }
    (gaps, forks)
}

fn gaps_of(journal: u64, segments: &[&Segment]) -> Vec<Gap> {
    let mut ranges: Vec<_> = segments
        .iter()
        .map(|s| (s.header.first, s.header.last))
        .collect();
    ranges.sort_unstable();
    let (mut gaps, mut next) = (Vec::new(), 1);
    for (first, last) in ranges {
        if first > next {
            gaps.push(Gap {
                journal,
                first: next,
                last: first - 1,
            });
        }
        next = next.max(last + 1);
    }
    gaps
}

/// The fork of a journal, at the first sequence number for which two segments have different hashes of all records up
/// to it. `None` if there is none.
fn fork_of(journal: u64, segments: &[&Segment]) -> Option<Fork> {
    let mut chains: BTreeMap<u64, Hash> = BTreeMap::new();
    let mut forked: Option<u64> = None;
    for segment in segments {
        let before = (segment.header.first - 1, segment.header.chain_before);
        let records = segment.records.iter();
        for (sequence, chain) in records.map(|r| (r.sequence, r.after)).chain([before]) {
            match chains.entry(sequence) {
                Entry::Vacant(free) => {
                    free.insert(chain);
                }
                Entry::Occupied(known) if *known.get() != chain => {
                    forked = Some(forked.map_or(sequence, |earlier| earlier.min(sequence)));
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    forked.map(|sequence| Fork { journal, sequence })
}
