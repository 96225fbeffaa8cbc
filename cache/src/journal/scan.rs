//! Reading a journal of any content: damage is skipped and counted, memory is bounded.

use std::io::{self, BufRead};
use std::ops::RangeInclusive;

use kiln_spec::Hash;

use super::frame::{self, END, Frame, MAX_FRAME, START};
use crate::record::RECORD_SCHEMA;

/// What a reading of the whole journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
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
    /// Highest schema version of a sound record, where it is newer than this program's.
    pub newer: Option<u32>,
    /// Hash of everything up to the last sound record.
    pub(super) chain: Option<Hash>,
}

impl Survey {
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

/// Reads all of `input`, handing each sound record's sequence number and JSON to `sink`.
///
/// A record is handed on once its successor's chain agrees (or has a gap before it), so that a record
/// which was replaced by another sound one is noticed.
pub(super) fn scan<E: From<io::Error>>(
    input: &mut dyn BufRead,
    sink: &mut dyn FnMut(u64, &str) -> Result<(), E>,
) -> Result<Survey, E> {
    let mut scanner = Scanner {
        survey: Survey::default(),
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
    /// From RS to LF, or to the next RS where the LF is gone.
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
    let mut held = Vec::new();
    let (mut offset, mut stray) = (0_u64, false);
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if chunk.is_empty() {
            break;
        }
        let cut = chunk.iter().position(|b| *b == START || *b == END);
        let (plain, mark) = match cut {
            Some(at) => (&chunk[..at], Some(chunk[at])),
            None => (chunk, None),
        };
        let used = plain.len() + usize::from(mark.is_some());
        // Outside a record, or in one that is too long: nothing to keep.
        if held.is_empty() || held.len() + plain.len() >= MAX_FRAME {
            stray |= !plain.is_empty() || !held.is_empty();
            held.clear();
        } else {
            held.extend_from_slice(plain);
        }
        offset += used as u64;
        match mark {
            Some(END) if !held.is_empty() => {
                held.push(END);
                visit(Piece::Candidate(&held), offset)?;
                held.clear();
            }
            Some(END) => {
                visit(Piece::Garbage, offset)?;
                stray = false;
            }
            Some(_) => {
                if !held.is_empty() {
                    visit(Piece::Candidate(&held), offset - 1)?;
                } else if stray {
                    visit(Piece::Garbage, offset - 1)?;
                }
                stray = false;
                held.clear();
                held.push(START);
            }
            None => {}
        }
        input.consume(used);
    }
    if !held.is_empty() {
        visit(Piece::Torn(held.len() as u64), offset)?;
    } else if stray {
        visit(Piece::Garbage, offset)?;
    }
    Ok(())
}

/// A sound record that waits for its successor.
struct Held {
    sequence: u64,
    next_chain: Hash,
    payload: String,
}

struct Scanner<'s, E> {
    survey: Survey,
    held: Option<Held>,
    /// Whether the piece before was damaged: pieces of one record are counted once.
    after_damage: bool,
    sink: &'s mut dyn FnMut(u64, &str) -> Result<(), E>,
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
        self.held = Some(Held {
            sequence: frame.sequence,
            next_chain: frame.next_chain(),
            payload: frame.payload.to_string(),
        });
        self.survey.chain = self.held.as_ref().map(|held| held.next_chain);
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
            Some(held) => held.next_chain,
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
        (self.sink)(held.sequence, &held.payload)
    }
}

#[cfg(test)]
mod tests;
