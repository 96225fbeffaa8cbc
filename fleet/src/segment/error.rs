//! Why a segment was rejected.

use kiln_cache::record::{RECORD_SCHEMA, RecordError};
use thiserror::Error;

use super::{MAX_SEGMENT_BYTES, SEGMENT_SCHEMA};

/// Why a segment was rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The segment is larger than [`MAX_SEGMENT_BYTES`].
    #[error(
        "the segment has {bytes} bytes, more than the {MAX_SEGMENT_BYTES} of one\nhelp: publish it again with `tune cache push`"
    )]
    TooLarge {
        /// Length of the segment, in bytes.
        bytes: usize,
    },
    /// The hash of the segment's bytes differs from its name.
    #[error(
        "the segment is named {name}, its bytes have the hash {found}\nhelp: it was damaged or swapped: publish it again with `tune cache push`"
    )]
    Name {
        /// The segment's name, cut after 80 characters.
        name: String,
        /// The hash of the segment's bytes.
        found: String,
    },
    /// The header has another schema than this version reads.
    #[error(
        "the segment has schema {found}, this version knows {SEGMENT_SCHEMA}\nhelp: merge with the `tune` that wrote it"
    )]
    Schema {
        /// The header's schema.
        found: u32,
    },
    /// The header is invalid.
    #[error("the segment's header is wrong: {why}\nhelp: publish it again with `tune cache push`")]
    Header {
        /// What is wrong.
        why: String,
    },
    /// A frame is damaged or cut off.
    #[error(
        "no sound record at byte {offset} of the segment's records\nhelp: publish it again with `tune cache push`"
    )]
    Frame {
        /// Offset of the damaged frame from the first frame, in bytes.
        offset: usize,
    },
    /// A frame does not follow its predecessor.
    #[error(
        "record {found} of journal {journal} stands where record {expected} must: {why}\nhelp: publish it again with `tune cache push`"
    )]
    Order {
        /// Identity of the journal in the frame, as 16 hexadecimal digits.
        journal: String,
        /// The frame's sequence number.
        found: u64,
        /// The sequence number that is expected here.
        expected: u64,
        /// What differs: the journal, the number, or the history.
        why: &'static str,
    },
    /// A field of the header differs from the records.
    #[error(
        "the segment's header says {field} {said}, its records give {found}\nhelp: publish it again with `tune cache push`"
    )]
    Differs {
        /// Name of the field.
        field: &'static str,
        /// The field's value in the header.
        said: String,
        /// The value that follows from the records.
        found: String,
    },
    /// A record has a newer schema than this version reads, or cannot be decoded.
    #[error(
        "record {sequence} has schema {version}, this version decodes up to {RECORD_SCHEMA}: {why}\nhelp: merge with the `tune` that wrote it"
    )]
    Version {
        /// The record's sequence number.
        sequence: u64,
        /// The record's schema.
        version: u32,
        /// Why the record could not be decoded.
        why: String,
    },
    /// A record was decoded, but its content is invalid.
    #[error("record {sequence}: {source}\nhelp: its worker is broken or dishonest: revoke its key")]
    Record {
        /// The record's sequence number.
        sequence: u64,
        /// What is wrong.
        source: RecordError,
    },
}
