//! Segments. A segment is a part of a journal (consecutive records, byte for byte) with a header that names the origin
//! of the records.
//!
//! A segment begins with one line of canonical JSON, which is the header. The frames of the journal follow (a frame is
//! one encoded record). The name of a segment is the hash of all its bytes. Its signature is a separate object.

mod error;
mod parse;

use std::collections::BTreeMap;
use std::sync::Arc;

use kiln_cache::Record;
use kiln_cache::journal::RawFrame;
use kiln_cache::store::Position;
use kiln_spec::Hash;
use serde::{Deserialize, Serialize};

pub use error::SegmentError;

use crate::{canonical, object};

/// Version of the header format. A segment with another version is rejected with an error.
pub const SEGMENT_SCHEMA: u32 = 1;
/// Largest segment, in bytes.
pub const MAX_SEGMENT_BYTES: usize = 4 << 20;
/// Largest header of a segment, in bytes.
pub const MAX_HEADER_BYTES: usize = 64 << 10;

/// The header of a segment: where its records come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format: [`SEGMENT_SCHEMA`].
    pub schema: u32,
    /// Identity of the plan, or `none` for a segment that belongs to no plan.
    pub plan: String,
    /// Number of the element; 0 without a plan.
    pub element: u32,
    /// The attempt at the element: 32 hexadecimal digits. Every attempt at an element of a plan has a new random value.
    /// Without a plan, all segments of a journal normally have the same value.
    pub attempt: String,
    /// Identity of the journal, as 16 hexadecimal digits.
    pub journal: String,
    /// Sequence number of the segment's first record, at least 1.
    pub first: u64,
    /// Sequence number of the segment's last record.
    pub last: u64,
    /// Hash of all records of the journal before the first record.
    pub chain_before: Hash,
    /// Hash of all records of the journal up to and including the last record.
    pub chain_after: Hash,
    /// The observer: properties of the machine that measured, such as `host`, `device`, `uuid` and `memory_bytes`.
    pub observer: BTreeMap<String, String>,
}

/// One record of a segment, and its position in the journal.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The record's sequence number.
    pub sequence: u64,
    /// Hash of all records of the journal before this record.
    pub before: Hash,
    /// Hash of all records of the journal up to and including this record.
    pub after: Hash,
    /// The record.
    pub record: Arc<Record>,
}

/// A segment that was read. Every record is valid and follows its predecessor.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The hash of the segment's bytes.
    pub name: String,
    /// The header.
    pub header: Header,
    /// Identity of the journal.
    pub journal: u64,
    /// Fingerprint of the key that signed the segment; empty until the signature is verified.
    pub author: String,
    /// The records in order of sequence number, at least one.
    pub records: Vec<Placed>,
}

impl Segment {
    /// Creates a segment from frames of a journal, and returns its header and its bytes.
    ///
    /// The plan, element, attempt and observer are copied from `header`. All other fields of the new header are
    /// computed from the frames.
    ///
    /// # Errors
    /// There are no frames, a frame does not follow its predecessor, a field of the header is invalid, or the segment
    /// is larger than [`MAX_SEGMENT_BYTES`].
    pub fn build(header: &Header, frames: &[u8]) -> Result<(Header, Vec<u8>), SegmentError> {
        let first = RawFrame::first_of(frames).ok_or(SegmentError::Frame { offset: 0 })?;
        let start = Position {
            journal: first.journal,
            sequence: first.sequence - 1,
            chain: first.before,
        };
        let last = parse::follow(start, frames, 0, &mut |_| Ok(()))?;
        let header = Header {
            schema: SEGMENT_SCHEMA,
            journal: format!("{:016x}", first.journal),
            first: first.sequence,
            last: last.sequence,
            chain_before: first.before,
            chain_after: last.chain,
            ..header.clone()
        };
        parse::check(&header)?;
        let text = canonical::to_text(&header).map_err(|source| SegmentError::Header {
            why: source.to_string(),
        })?;
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(frames);
        if bytes.len() > MAX_SEGMENT_BYTES {
            return Err(SegmentError::TooLarge { bytes: bytes.len() });
        }
        Ok((header, bytes))
    }

    /// Reads a segment and checks its name, its header, every frame and every record. The signature is not checked
    /// here.
    ///
    /// # Errors
    /// The first problem that is found.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Segment, SegmentError> {
        parse::parse(bytes, name)
    }

    /// The name of the segment's object in a store.
    pub fn object(&self) -> String {
        let Header {
            plan, first, last, ..
        } = &self.header;
        object::segment(plan, self.journal, *first, *last, &self.name)
    }
}

#[cfg(test)]
mod tests;
