//! Why a segment was refused.

use kiln_cache::record::{RECORD_SCHEMA, RecordError};
use thiserror::Error;

use super::{MAX_SEGMENT_BYTES, SEGMENT_SCHEMA};

/// Why a segment was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// It is larger than any that is read.
    #[error(
        "the segment has {bytes} bytes, more than the {MAX_SEGMENT_BYTES} of one\nhelp: publish it again with `tune cache push`"
    )]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// Its bytes are not those of its name.
    #[error(
        "the segment is named {name}, its bytes have the hash {found}\nhelp: it was damaged or swapped: publish it again with `tune cache push`"
    )]
    Name {
        /// Its name.
        name: String,
        /// The hash of its bytes.
        found: String,
    },
    /// The header has another schema.
    #[error(
        "the segment has schema {found}, this version knows {SEGMENT_SCHEMA}\nhelp: merge with the `tune` that wrote it"
    )]
    Schema {
        /// Its schema.
        found: u32,
    },
    /// The header is none.
    #[error("the segment's header is wrong: {why}\nhelp: publish it again with `tune cache push`")]
    Header {
        /// What is wrong.
        why: String,
    },
    /// A frame is damaged.
    #[error(
        "no sound record at byte {offset} of the segment's records\nhelp: publish it again with `tune cache push`"
    )]
    Frame {
        /// Offset from the first frame.
        offset: usize,
    },
    /// A frame is not the one that must follow.
    #[error(
        "record {found} of journal {journal} stands where record {expected} must: {why}\nhelp: publish it again with `tune cache push`"
    )]
    Order {
        /// The journal that it says to be of.
        journal: String,
        /// Its sequence number.
        found: u64,
        /// The sequence number that must follow.
        expected: u64,
        /// What differs.
        why: &'static str,
    },
    /// The header and the records differ.
    #[error(
        "the segment's header says {field} {said}, its records give {found}\nhelp: publish it again with `tune cache push`"
    )]
    Differs {
        /// The field.
        field: &'static str,
        /// Its value in the header.
        said: String,
        /// The value of the records.
        found: String,
    },
    /// A record was written by another version.
    #[error(
        "record {sequence} has schema {version}, this version decodes up to {RECORD_SCHEMA}: {why}\nhelp: merge with the `tune` that wrote it"
    )]
    Version {
        /// Its sequence number.
        sequence: u64,
        /// Its schema.
        version: u32,
        /// What could not be decoded.
        why: String,
    },
    /// A record has content that no honest writer makes.
    #[error("record {sequence}: {source}\nhelp: its worker is broken or dishonest: revoke its key")]
    Record {
        /// Its sequence number.
        sequence: u64,
        /// What is wrong.
        source: RecordError,
    },
}
