//! Access to the bytes of frames, for programs that copy parts of a journal and check them elsewhere.

use kiln_spec::Hash;

use super::JournalError;
use super::frame::{self, END, MAX_FRAME};
use crate::record::Record;
use crate::store::Position;

/// A frame whose checksum is valid. The caller must check whether the frame follows its predecessor.
#[derive(Clone, Copy, Debug)]
pub struct RawFrame<'a> {
    /// Schema version of the record.
    pub version: u32,
    /// Identity of the journal.
    pub journal: u64,
    /// The record's sequence number, from 1.
    pub sequence: u64,
    /// Hash of all records of the journal before this one.
    pub before: Hash,
    /// Hash of all records of the journal up to and including this one.
    pub after: Hash,
    /// The record's JSON.
    pub payload: &'a str,
    /// The bytes of the frame.
    pub bytes: &'a [u8],
}

impl<'a> RawFrame<'a> {
    /// The frame at the start of `bytes`; `None` if any part of it is invalid.
    pub fn first_of(bytes: &'a [u8]) -> Option<RawFrame<'a>> {
        let window = &bytes[..bytes.len().min(MAX_FRAME)];
        let end = window.iter().position(|b| *b == END)?;
        let bytes = &bytes[..=end];
        let frame = frame::parse(bytes)?;
        Some(RawFrame {
            version: frame.version,
            journal: frame.journal,
            sequence: frame.sequence,
            before: frame.chain,
            after: frame.next_chain(),
            payload: frame.payload,
            bytes,
        })
    }
}

impl Position {
    /// The position before the first record of a journal.
    pub fn start(journal: u64) -> Position {
        Position {
            journal,
            sequence: 0,
            chain: frame::first_chain(),
        }
    }
}

/// The frames of `records` after the position `at`, encoded as in a journal, and the position of the last record.
///
/// # Errors
/// A record is invalid, or too large for a frame.
pub fn encode_after(records: &[Record], at: Position) -> Result<(Vec<u8>, Position), JournalError> {
    let (bytes, places) = super::encode(records, at)?;
    Ok((bytes, places.last().copied().unwrap_or(at)))
}
