//! Reads and checks segments. The bytes are not trusted.

use std::sync::Arc;

use kiln_cache::Record;
use kiln_cache::journal::RawFrame;
use kiln_cache::record::RECORD_SCHEMA;
use kiln_cache::store::Position;

use super::{
    Header, MAX_HEADER_BYTES, MAX_SEGMENT_BYTES, Placed, SEGMENT_SCHEMA, Segment, SegmentError,
};
use crate::text::{hex_u64, is_hex, is_plain};
use crate::{canonical, object};

/// Largest number of fields of an observer.
const MAX_OBSERVER: usize = 64;

/// A function that receives each frame.
type Sink<'s> = &'s mut dyn FnMut(&RawFrame<'_>) -> Result<(), SegmentError>;

pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Segment, SegmentError> {
    if bytes.len() > MAX_SEGMENT_BYTES {
        return Err(SegmentError::TooLarge { bytes: bytes.len() });
    }
    let found = object::name_of(bytes);
    if found != name {
        let name = name.chars().take(80).collect();
        return Err(SegmentError::Name { name, found });
    }
    let (header, frames) = split(bytes)?;
    let journal = check(&header)?;
    let start = Position {
        journal,
        sequence: header.first - 1,
        chain: header.chain_before,
    };
    let mut records = Vec::new();
    let end = follow(start, frames, 0, &mut |frame| {
        records.push(Placed {
            sequence: frame.sequence,
            before: frame.before,
            after: frame.after,
            record: Arc::new(decode(frame)?),
        });
        Ok(())
    })?;
    differs("last", header.last, end.sequence)?;
    differs("chain_after", header.chain_after, end.chain)?;
    Ok(Segment {
        name: found,
        header,
        journal,
        author: String::new(),
        records,
    })
}

/// Splits a segment into its header and its frames.
fn split(bytes: &[u8]) -> Result<(Header, &[u8]), SegmentError> {
    let wrong = |why: &str| SegmentError::Header { why: why.into() };
    let window = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let end = window.iter().position(|b| *b == b'\n');
    let (header, frames) = bytes.split_at(end.ok_or_else(|| wrong("it has no end"))? + 1);
    let text = std::str::from_utf8(header).map_err(|_| wrong("it is not UTF-8 text"))?;
    let header = canonical::from_text::<Header>(text);
    Ok((header.map_err(|source| wrong(&source.to_string()))?, frames))
}

/// Checks the fields of a header, and returns the journal's identity.
pub(super) fn check(header: &Header) -> Result<u64, SegmentError> {
    let wrong = |why: &str| Err(SegmentError::Header { why: why.into() });
    if header.schema != SEGMENT_SCHEMA {
        let found = header.schema;
        return Err(SegmentError::Schema { found });
    }
    if !is_hex(&header.plan, 64) && header.plan != object::NO_PLAN {
        return wrong("its plan is neither a hash of 64 digits nor `none`");
    }
    if !is_hex(&header.attempt, 32) {
        return wrong("its attempt is not a number of 32 hexadecimal digits");
    }
    if header.first == 0 || header.last < header.first {
        return wrong("its sequence numbers are not a range from 1");
    }
    let mut texts = header.observer.iter().flat_map(|(name, text)| [name, text]);
    if header.observer.len() > MAX_OBSERVER || !texts.all(|text| is_plain(text)) {
        return wrong("its observer is not printable text");
    }
    match hex_u64(&header.journal) {
        Some(journal) => Ok(journal),
        None => wrong("its journal is not a number of 16 hexadecimal digits"),
    }
}

/// Checks that the frames from byte `offset` continue the journal after the position `start`, passes each frame to
/// `sink`, and returns the position of the last frame.
pub(super) fn follow(
    start: Position,
    frames: &[u8],
    offset: usize,
    sink: Sink<'_>,
) -> Result<Position, SegmentError> {
    let (mut at, mut offset) = (start, offset);
    loop {
        let frame = RawFrame::first_of(&frames[offset..]).ok_or(SegmentError::Frame { offset })?;
        let why = match () {
            () if frame.journal != at.journal => Some("another journal"),
            () if frame.sequence != at.sequence + 1 => Some("another number"),
            () if frame.before != at.chain => Some("another history"),
            () => None,
        };
        if let Some(why) = why {
            return Err(SegmentError::Order {
                journal: format!("{:016x}", frame.journal),
                found: frame.sequence,
                expected: at.sequence + 1,
                why,
            });
        }
        sink(&frame)?;
        at.sequence = frame.sequence;
        at.chain = frame.after;
        offset += frame.bytes.len();
        if offset == frames.len() {
            return Ok(at);
        }
    }
}

fn decode(frame: &RawFrame<'_>) -> Result<Record, SegmentError> {
    let version = |why: String| SegmentError::Version {
        sequence: frame.sequence,
        version: frame.version,
        why,
    };
    if frame.version > RECORD_SCHEMA {
        return Err(version("it is newer".into()));
    }
    let record: Record =
        serde_json::from_str(frame.payload).map_err(|source| version(source.to_string()))?;
    record.check().map_err(|source| SegmentError::Record {
        sequence: frame.sequence,
        source,
    })?;
    Ok(record)
}

fn differs<T: PartialEq + ToString>(
    field: &'static str,
    said: T,
    found: T,
) -> Result<(), SegmentError> {
    if said == found {
        return Ok(());
    }
    Err(SegmentError::Differs {
        field,
        said: said.to_string(),
        found: found.to_string(),
    })
}
