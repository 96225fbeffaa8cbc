//! Reads a journal that may have any content. Damage is skipped and counted, and the memory is bounded.

use std::io::{self, BufRead};
use std::ops::RangeInclusive;

use kiln_spec::Hash;

use super::frame::{self, END, Frame, MAX_FRAME, START};
use crate::record::RECORD_SCHEMA;
use crate::store::Position;

/// The result of reading the whole journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalScan {
    /// Identity of the journal, from its first undamaged record; `None` if there is no such record.
    pub journal: Option<u64>,
    /// Number of undamaged records.
    pub sound: u64,
    /// Number of damaged sections. A section is a part of a record, one record or several records.
    pub damaged: u64,
    /// Ranges of sequence numbers below `last` for which no undamaged record was found.
    pub missing: Vec<RangeInclusive<u64>>,
    /// Sequence number of the last undamaged record; 0 if there is none.
    pub last: u64,
    /// Number of damaged sections after the last undamaged record.
    pub damaged_tail: u64,
    /// Number of bytes of a last record that was written only in part.
    pub torn_bytes: u64,
    /// Offset of the end of the last undamaged record, in bytes.
    pub sound_end: u64,
    /// The highest schema version of an undamaged record, if it is newer than this program's; `None` otherwise.
    pub newer: Option<u32>,
    /// Hash of all records up to and including the last undamaged one; `None` if there is none.
    pub(super) chain: Option<Hash>,
}

impl JournalScan {
    /// Number of lost records after sequence number `base`.
    pub fn lost_after(&self, base: u64) -> u64 {
        let gaps = self.missing.iter().map(|gap| {
            let from = (*gap.start()).max(base + 1);
            (gap.end() + 1).saturating_sub(from)
        });
        let tail = (self.last + self.damaged_tail).saturating_sub(self.last.max(base));
        gaps.sum::<u64>() + tail
    }
}

/// A function that receives the position and JSON of each undamaged record.
pub(super) type Sink<'s, E> = &'s mut dyn FnMut(Position, &str) -> Result<(), E>;

/// Reads all of `input`, and passes each undamaged record to `sink`.
///
/// A record is passed to `sink` only after the next record has been read. If the next record has the following sequence
/// number, its chain must match this record. This detects a record that was replaced by another one with a valid
/// checksum.
pub(super) fn scan<E: From<io::Error>>(
    input: &mut dyn BufRead,
    sink: Sink<'_, E>,
) -> Result<JournalScan, E> {
    let mut scanner = Scanner {
        survey: JournalScan::default(),
        held: None,
        after_damage: false,
        sink,
    };
    split(input, &mut |piece, offset| scanner.piece(piece, offset))?;
    scanner.release()?;
    Ok(scanner.survey)
}

/// A section of the file.
enum Piece<'a> {
    /// Bytes from RS to LF, or to the next RS if the LF is missing.
    Candidate(&'a [u8]),
    /// Bytes outside a frame.
    Garbage,
    /// Bytes from RS to the end of the file, without an LF. The field is their number.
    Torn(u64),
}

/// Splits the input at RS and LF. At most one frame is in memory.
fn split<E: From<io::Error>>(
    input: &mut dyn BufRead,
    visit: &mut dyn FnMut(Piece<'_>, u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut splitter = Splitter {
        held: Vec::new(),
        offset: 0,
        stray: false,
        visit,
    };
    loop {
        let chunk = match input.fill_buf() {
            Ok([]) => return splitter.end(),
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let cut = chunk.iter().position(|b| *b == START || *b == END);
        let plain = &chunk[..cut.unwrap_or(chunk.len())];
        splitter.plain(plain);
        let used = plain.len() + usize::from(cut.is_some());
        match cut.map(|at| chunk[at]) {
            Some(START) => splitter.start()?,
            Some(_) => splitter.finish()?,
            None => {}
        }
        input.consume(used);
    }
}

struct Splitter<'v, E> {
    /// The bytes of the current frame from its RS on; empty outside a frame.
    held: Vec<u8>,
    offset: u64,
    /// Whether bytes outside a frame were skipped since the last RS or LF.
    stray: bool,
    visit: &'v mut dyn FnMut(Piece<'_>, u64) -> Result<(), E>,
}

impl<E> Splitter<'_, E> {
    fn plain(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        // Bytes outside a frame, or in a frame that is too long, are not kept.
        if self.held.is_empty() || self.held.len() + bytes.len() >= MAX_FRAME {
            self.stray |= !bytes.is_empty() || !self.held.is_empty();
            self.held.clear();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn start(&mut self) -> Result<(), E> {
        if !self.held.is_empty() {
            (self.visit)(Piece::Candidate(&self.held), self.offset)?;
        } else if self.stray {
            (self.visit)(Piece::Garbage, self.offset)?;
        }
        self.stray = false;
        self.offset += 1;
        self.held.clear();
        self.held.push(START);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), E> {
        self.offset += 1;
        if self.held.is_empty() {
            self.stray = false;
            return (self.visit)(Piece::Garbage, self.offset);
        }
        self.held.push(END);
        (self.visit)(Piece::Candidate(&self.held), self.offset)?;
        self.held.clear();
        Ok(())
    }

    fn end(self) -> Result<(), E> {
        if !self.held.is_empty() {
            let bytes = self.held.len() as u64;
            return (self.visit)(Piece::Torn(bytes), self.offset);
        }
        if self.stray {
            return (self.visit)(Piece::Garbage, self.offset);
        }
        Ok(())
    }
}

/// An undamaged record that is checked against the next one before it is passed on.
struct HeldRecord {
    position: Position,
    payload: String,
}

struct Scanner<'s, E> {
    survey: JournalScan,
    held: Option<HeldRecord>,
    /// Whether the previous piece was damaged. Several damaged pieces of one record are counted once.
    after_damage: bool,
    sink: Sink<'s, E>,
}

impl<E> Scanner<'_, E> {
    fn piece(&mut self, piece: Piece<'_>, end: u64) -> Result<(), E> {
        match piece {
            Piece::Candidate(bytes) => match frame::parse(bytes) {
                Some(frame) => return self.sound(&frame, end),
                None => self.damage(true),
            },
            Piece::Garbage => self.damage(false),
            Piece::Torn(bytes) => self.survey.torn_bytes = bytes,
        }
        Ok(())
    }

    fn damage(&mut self, starts_a_record: bool) {
        if starts_a_record || !self.after_damage {
            self.survey.damaged += 1;
            self.survey.damaged_tail += 1;
        }
        self.after_damage = true;
    }

    fn sound(&mut self, frame: &Frame<'_>, end: u64) -> Result<(), E> {
        if frame.version > RECORD_SCHEMA {
            let newest = self.survey.newer.unwrap_or(0).max(frame.version);
            self.survey.newer = Some(newest);
            return Ok(());
        }
        let foreign = *self.survey.journal.get_or_insert(frame.journal) != frame.journal;
        if foreign || frame.sequence <= self.survey.last {
            // This is a record of another journal, or a second copy of a record.
            self.damage(true);
            return Ok(());
        }
        self.follow(frame)?;
        let chain = frame.next_chain();
        self.held = Some(HeldRecord {
            position: Position {
                journal: frame.journal,
                sequence: frame.sequence,
                chain,
            },
            payload: frame.payload.to_string(),
        });
        self.survey.chain = Some(chain);
        self.survey.last = frame.sequence;
        self.survey.sound_end = end;
        self.survey.damaged_tail = 0;
        self.after_damage = false;
        Ok(())
    }

    /// Checks the new record against the previous one, and passes the previous one on.
    fn follow(&mut self, frame: &Frame<'_>) -> Result<(), E> {
        let before = self.survey.last;
        if frame.sequence > before + 1 {
            self.survey.missing.push(before + 1..=frame.sequence - 1);
            return self.release();
        }
        let expected = match &self.held {
            Some(held) => held.position.chain,
            None => frame::first_chain(),
        };
        if frame.chain != expected && self.held.take().is_some() {
            // The chain shows that the new record did not follow the record before it, so that record was replaced.
            self.survey.damaged += 1;
            self.survey.missing.push(before..=before);
        }
        self.release()
    }

    fn release(&mut self) -> Result<(), E> {
        let Some(held) = self.held.take() else {
            return Ok(());
        };
        self.survey.sound += 1;
        (self.sink)(held.position, &held.payload)
    }
}

#[cfg(test)]
mod tests;
