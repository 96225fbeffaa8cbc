//! Frames. A frame is the encoding of one record as a line of text. After damage, a reader can find the next frame.
//!
//! ```text
//! RS crc32c SP version SP journal-id SP sequence SP chain SP json LF
//! ```
//! RS (0x1e) and LF cannot occur inside a frame, because JSON escapes both, so after damage a reader continues at the
//! next RS or LF. The checksum covers everything between itself and LF. `chain` is the hash of all records before this
//! one.

use std::fmt::Write as _;

use kiln_spec::{Hash, hash::Hasher};

/// The first byte of a frame.
pub(super) const START: u8 = 0x1e;
/// The last byte of a frame.
pub(super) const END: u8 = b'\n';
/// The largest JSON of a record, in bytes.
pub(super) const MAX_PAYLOAD: usize = 1 << 20;
/// The largest frame, in bytes: the payload, and at most 128 bytes of other fields.
pub(super) const MAX_FRAME: usize = MAX_PAYLOAD + 128;
/// Largest journal that is read, in bytes.
pub(super) const MAX_BYTES: u64 = 4 << 30;
/// Highest valid sequence number. A frame with a larger number is damaged.
pub(super) const MAX_SEQUENCE: u64 = 1 << 53;

/// A frame whose checksum is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// Schema version of the record.
    pub version: u32,
    /// Identity of the journal that the record belongs to.
    pub journal: u64,
    /// The record's sequence number, from 1.
    pub sequence: u64,
    /// Hash of all records before this one.
    pub chain: Hash,
    /// The record's JSON.
    pub payload: &'a str,
}

impl Frame<'_> {
    /// The bytes of the frame, from RS to LF.
    pub fn encode(&self) -> Vec<u8> {
        let Frame {
            version,
            journal,
            sequence,
            chain,
            payload,
        } = self;
        let body = format!("{version} {journal:016x} {sequence} {chain} {payload}");
        let mut text = String::with_capacity(body.len() + 11);
        text.push(char::from(START));
        // Writing to a String cannot fail.
        let _ = write!(text, "{:08x} ", crc32c::crc32c(body.as_bytes()));
        text.push_str(&body);
        text.push(char::from(END));
        text.into_bytes()
    }

    /// The hash of all records up to and including this one.
    pub fn next_chain(&self) -> Hash {
        Hasher::new("kiln.journal.chain")
            .field(&self.journal.to_le_bytes())
            .field(&self.sequence.to_le_bytes())
            .field(self.chain.to_string().as_bytes())
            .field(self.payload.as_bytes())
            .finish()
    }
}

/// The value of `chain` in the first record of a journal.
pub(super) fn first_chain() -> Hash {
    Hash::of("kiln.journal.chain", b"")
}

/// Reads a frame, including RS and LF. Returns `None` if any part of it is invalid.
pub(super) fn parse(bytes: &[u8]) -> Option<Frame<'_>> {
    let inner = bytes.strip_prefix(&[START])?.strip_suffix(&[END])?;
    let (crc, rest) = inner.split_at_checked(9)?;
    let crc = std::str::from_utf8(crc.strip_suffix(b" ")?).ok()?;
    if crc != format!("{:08x}", crc32c::crc32c(rest)) {
        return None;
    }
    let mut parts = std::str::from_utf8(rest).ok()?.splitn(5, ' ');
    let version = parts.next()?.parse().ok()?;
    let journal = u64::from_str_radix(parts.next()?, 16).ok()?;
    let sequence = parts.next()?.parse().ok()?;
    let chain = parts.next()?.parse().ok()?;
    let payload = parts.next()?;
    (1..=MAX_SEQUENCE).contains(&sequence).then_some(Frame {
        version,
        journal,
        sequence,
        chain,
        payload,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(payload: &str) -> Frame<'_> {
        Frame {
            version: 1,
            journal: 7,
            sequence: 42,
            chain: first_chain(),
            payload,
        }
    }

    proptest! {
        #[test]
        fn a_frame_survives_its_bytes(sequence in 1..MAX_SEQUENCE, version: u32, journal: u64, text: String) {
            let payload = serde_json::to_string(&text).unwrap();
            let frame = Frame { version, journal, sequence, chain: first_chain(), payload: &payload };
            let bytes = frame.encode();
            prop_assert_eq!(parse(&bytes), Some(frame));
            prop_assert!(!bytes[1..bytes.len() - 1].iter().any(|b| *b == START || *b == END));
        }

        #[test]
        fn arbitrary_bytes_are_no_frame(bytes: Vec<u8>) {
            prop_assert_eq!(parse(&bytes), None);
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = frame("{\"a\":1}").encode();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn a_sequence_number_out_of_range_is_damage() {
        for sequence in [0, MAX_SEQUENCE + 1, u64::MAX] {
            let bytes = Frame {
                sequence,
                ..frame("{}")
            }
            .encode();
            assert_eq!(parse(&bytes), None);
        }
    }

    #[test]
    fn the_chain_depends_on_everything_before() {
        let base = frame("{}").next_chain();
        assert_ne!(frame("{ }").next_chain(), base);
        let later = Frame {
            sequence: 43,
            ..frame("{}")
        };
        assert_ne!(later.next_chain(), base);
        let other = Frame {
            chain: base,
            ..frame("{}")
        };
        assert_ne!(other.next_chain(), base);
    }
}
