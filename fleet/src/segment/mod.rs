//! Segments: consecutive records of a journal, byte for byte, and where they come from.
//!
//! A segment is a line of canonical JSON, the header, and then the journal's frames. Its name is the hash of all its
//! bytes, and its signature a second object.

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

/// Version of headers. A segment with another one is refused.
pub const SEGMENT_SCHEMA: u32 = 1;
/// Largest segment, in bytes.
pub const MAX_SEGMENT_BYTES: usize = 4 << 20;
/// Largest header, in bytes.
pub const MAX_HEADER_BYTES: usize = 64 << 10;

/// Where the records of a segment come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the form: [`SEGMENT_SCHEMA`].
    pub schema: u32,
    /// Identity of the plan, or `none`.
    pub plan: String,
    /// Number of the element; 0 without a plan.
    pub element: u32,
    /// 128 random bits as 32 hexadecimal digits, new at every attempt at the element.
    pub attempt: String,
    /// Identity of the journal, as 16 hexadecimal digits.
    pub journal: String,
    /// Sequence number of the first record.
    pub first: u64,
    /// Sequence number of the last record.
    pub last: u64,
    /// Hash of all the journal's records before the first.
    pub chain_before: Hash,
    /// Hash of all the journal's records up to the last.
    pub chain_after: Hash,
    /// Who measured: `host`, `device`, `uuid`, `memory_bytes`, …
    pub observer: BTreeMap<String, String>,
}

/// One record of a segment, and its place in the journal.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Its sequence number.
    pub sequence: u64,
    /// Hash of all records before it.
    pub before: Hash,
    /// Hash of all records up to and including it.
    pub after: Hash,
    /// The record.
    pub record: Arc<Record>,
}

/// A segment that was read: every record is sound and in its place.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The hash of its bytes.
    pub name: String,
    /// The header.
    pub header: Header,
    /// The journal's identity.
    pub journal: u64,
    /// Fingerprint of the key that signed it; empty until it is verified.
    pub author: String,
    /// The records, in order: at least one.
    pub records: Vec<Placed>,
}

impl Segment {
    /// The bytes of a segment: its header, and the journal's frames from one on.
    ///
    /// `header` gives the plan, element, attempt and observer; its other fields are filled in from the frames.
    ///
    /// # Errors
    /// No frames, frames that do not follow each other, or more than [`MAX_SEGMENT_BYTES`].
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

    /// Reads a segment and checks all of it: the name, the header, every frame, and every record. Who signed it is
    /// not checked here.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Segment, SegmentError> {
        parse::parse(bytes, name)
    }

    /// Its name in a store.
    pub fn object(&self) -> String {
        let Header {
            plan, first, last, ..
        } = &self.header;
        object::segment(plan, self.journal, *first, *last, &self.name)
    }
}

#[cfg(test)]
mod tests;
