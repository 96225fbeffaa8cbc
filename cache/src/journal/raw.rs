//! Frames byte for byte, for programs that copy parts of a journal and check them elsewhere.

use kiln_spec::Hash;

use super::JournalError;
use super::frame::{self, END, MAX_FRAME};
use crate::record::Record;
use crate::store::Position;

/// A frame whose checksum is right. Whether it is the next of its journal is for the reader to compare.
#[derive(Clone, Copy, Debug)]
pub struct RawFrame<'a> {
    /// Schema version of the record.
    pub version: u32,
    /// The journal's identity.
    pub journal: u64,
    /// Its sequence number, from 1.
    pub sequence: u64,
    /// Hash of all records before it.
    pub before: Hash,
    /// Hash of all records up to and including it.
    pub after: Hash,
    /// The record's JSON.
    pub payload: &'a str,
    /// All of its bytes.
    pub bytes: &'a [u8],
}

impl<'a> RawFrame<'a> {
    /// The frame at the start of `bytes`; nothing if any bit of it is wrong.
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

/// The frames of `records` after a position, as a journal has them, and the position after the last.
///
/// # Errors
/// A record that is refused, or too large for a frame.
pub fn encode_after(records: &[Record], at: Position) -> Result<(Vec<u8>, Position), JournalError> {
    let (bytes, places) = super::encode(records, at)?;
    Ok((bytes, places.last().copied().unwrap_or(at)))
}
