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
        "the segment has {bytes} bytes, but the maximum is {MAX_SEGMENT_BYTES}\n\
         help: publish it again with `tune cache push`"
    )]
    TooLarge {
        /// Length of the segment, in bytes.
        bytes: usize,
    },
    /// The hash of the segment's bytes differs from its name.
    #[error(
        "the segment is named {name}, but its bytes have the hash {found}\n\
         help: it was damaged or replaced: publish it again with `tune cache push`"
    )]
    Name {
        /// The segment's name, cut after 80 characters.
        name: String,
        /// The hash of the segment's bytes.
        found: String,
    },
    /// The header has another schema than this version reads.
    #[error(
        "the segment has schema {found}, but this version reads schema {SEGMENT_SCHEMA}\n\
         help: merge with the `tune` that wrote it"
    )]
    Schema {
        /// The header's schema.
        found: u32,
    },
    /// The header is invalid.
    #[error(
        "the segment's header is invalid: {why}\nhelp: publish it again with `tune cache push`"
    )]
    Header {
        /// What is wrong.
        why: String,
    },
    /// A frame is damaged or cut off.
    #[error(
        "there is no valid record at byte {offset} of the segment's records\n\
         help: publish it again with `tune cache push`"
    )]
    Frame {
        /// Offset of the damaged frame from the first frame, in bytes.
        offset: usize,
    },
    /// A frame does not follow its predecessor.
    #[error(
        "the segment contains record {found} of journal {journal} where record {expected} must follow: {why}\n\
         help: publish it again with `tune cache push`"
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
        "the segment's header says {field} {said}, but its records say {found}\n\
         help: publish it again with `tune cache push`"
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
        "record {sequence} has schema {version}, but this version reads schemas up to {RECORD_SCHEMA}: {why}\n\
         help: merge with the `tune` that wrote the record"
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
    #[error(
        "record {sequence}: {source}\n\
         help: the worker that wrote the record is broken or dishonest: revoke the worker's key"
    )]
    Record {
        /// The record's sequence number.
        sequence: u64,
        /// What is wrong.
        source: RecordError,
    },
}
