//! Reading a journal of any content: damage is skipped and counted, memory is bounded.

use std::io::{self, BufRead};
use std::ops::RangeInclusive;

use kiln_spec::Hash;

use super::frame::{self, END, Frame, MAX_FRAME, START};
use crate::record::RECORD_SCHEMA;
use crate::store::Position;

/// The result of reading the whole journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalScan {
    /// The journal's identity: that of its first sound record.
    pub journal: Option<u64>,
    /// Sound records.
    pub sound: u64,
    /// Damaged stretches: each at least one record, or a part of one.
    pub damaged: u64,
    /// Sequence numbers of which no sound record was found, below the last sound one.
    pub missing: Vec<RangeInclusive<u64>>,
    /// Sequence number of the last sound record; 0 if there is none.
    pub last: u64,
    /// Damaged stretches after the last sound record.
    pub damaged_tail: u64,
    /// Bytes of a last record that was never finished.
    pub torn_bytes: u64,
    /// Offset of the end of the last sound record.
    pub sound_end: u64,
    /// Highest schema version of a sound record, if it is newer than this program's.
    pub newer: Option<u32>,
    /// Hash of everything up to the last sound record.
    pub(super) chain: Option<Hash>,
}

impl JournalScan {
    /// Records after sequence number `base` that are gone.
    pub fn lost_after(&self, base: u64) -> u64 {
        let gaps = self.missing.iter().map(|gap| {
            let from = (*gap.start()).max(base + 1);
            (gap.end() + 1).saturating_sub(from)
        });
        let tail = (self.last + self.damaged_tail).saturating_sub(self.last.max(base));
        gaps.sum::<u64>() + tail
    }
}

/// Receives each sound record's place and JSON.
pub(super) type Sink<'s, E> = &'s mut dyn FnMut(Position, &str) -> Result<(), E>;

/// Reads all of `input`, handing each sound record to `sink`.
///
/// A record is handed on once its successor's chain agrees (or has a gap before it), so that a record
/// which was replaced by another sound one is noticed.
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

/// One stretch of the file.
enum Piece<'a> {
    /// From RS to LF, or to the next RS if the LF is missing.
    Candidate(&'a [u8]),
    /// Anything else.
    Garbage,
    /// From RS to the end of the file, with no LF.
    Torn(u64),
}

/// Cuts the input at RS and LF; holds at most one frame in memory.
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
    /// The record being read, from its RS on; empty outside one.
    held: Vec<u8>,
    offset: u64,
    /// Whether bytes were passed over since the last mark.
    stray: bool,
    visit: &'v mut dyn FnMut(Piece<'_>, u64) -> Result<(), E>,
}

impl<E> Splitter<'_, E> {
    fn plain(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        // Outside a record, or in one that is too long, there is nothing to keep.
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

/// A sound record that waits for its successor.
struct HeldRecord {
    position: Position,
    payload: String,
}

struct Scanner<'s, E> {
    survey: JournalScan,
    held: Option<HeldRecord>,
    /// Whether the piece before was damaged: pieces of one record are counted once.
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
            // A sound record of another journal, or a second copy.
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

    /// Checks the new record against the one before, and hands that one on.
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
            // The record before is not the one that this one was written after.
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
