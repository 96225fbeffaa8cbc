//! Publishes a journal while it grows.
//!
//! When [`Publisher::publish`] returns, all records up to the sequence number [`Published::last`] are in segments that
//! the store has acknowledged, together with their signatures. Records that are damaged or that a merge cannot read are
//! left out. Readers ignore a segment without a signature, and the next call publishes it again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use kiln_cache::Record;
use kiln_cache::journal::RawFrame;
use kiln_cache::record::RECORD_SCHEMA;
use kiln_cache::store::Position;
use thiserror::Error;

use crate::object;
use crate::segment::{
    Header, MAX_HEADER_BYTES, MAX_SEGMENT_BYTES, SEGMENT_SCHEMA, Segment, SegmentError,
};
use crate::sign::{SignError, Signer};
use crate::store::{ObjectStore, StoreError};

/// Number of bytes of a journal that are read at a time. This is enough for one segment and the largest frame (a frame
/// is one encoded record).
const WINDOW_BYTES: usize = 8 << 20;
/// The first byte of every frame.
const START: u8 = 0x1e;

/// Publishes a journal, either of one attempt at an element or of a machine that shares its results without a plan.
#[derive(Debug)]
pub struct Publisher<'s> {
    store: &'s dyn ObjectStore,
    key: Signer,
    header: Header,
    /// Offset in the file of the first byte that is not yet published.
    offset: u64,
    /// Position of the last record that is published.
    at: Position,
}

/// How much of a journal is in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The journal's identity; 0 if the journal has no records yet.
    pub journal: u64,
    /// Sequence number of the last record in the store; 0 if there is none.
    pub last: u64,
    /// Number of segments that this call published.
    pub segments: u32,
}

/// Why a journal was not published.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The journal could not be read.
    #[error(
        "cannot read the journal {path}: {source}\nhelp: check its permissions, then run the element again"
    )]
    Read {
        /// The journal's file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The store did not accept an object.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A segment could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A segment could not be created.
    #[error(transparent)]
    Segment(#[from] SegmentError),
}

/// Consecutive frames that go into one segment.
struct Run {
    frames: Vec<u8>,
    end: Position,
    /// Offset in the file of the end of the last frame.
    offset: u64,
}

impl<'s> Publisher<'s> {
    /// Creates a publisher. `plan` is the identity of the plan, or [`NO_PLAN`](crate::object::NO_PLAN) for a journal
    /// that is shared without a plan. For an element of a plan, pass a new [`random_name`](crate::sign::random_name) as
    /// `attempt`. Without a plan, pass the same `attempt` for every push of a journal. `observer` describes the machine
    /// that measures.
    pub fn new(
        store: &'s dyn ObjectStore,
        key: impl Into<Signer>,
        plan: &str,
        element: u32,
        attempt: &str,
        observer: BTreeMap<String, String>,
    ) -> Publisher<'s> {
        let start = Position::start(0);
        Publisher {
            store,
            key: key.into(),
            header: Header {
                schema: SEGMENT_SCHEMA,
                plan: plan.into(),
                element,
                attempt: attempt.into(),
                journal: format!("{:016x}", 0),
                first: 0,
                last: 0,
                chain_before: start.chain,
                chain_after: start.chain,
                observer,
            },
            offset: 0,
            at: start,
        }
    }

    /// Treats the records up to a position as already published.
    pub fn continue_after(&mut self, position: Position) {
        self.at = position;
    }

    /// Publishes the records of a journal that this publisher has not yet published. Damaged records, records that a
    /// merge cannot read, and an unfinished last record are skipped. A journal that was rewritten has a new identity,
    /// so it is published from its start. A journal that does not exist is not an error.
    ///
    /// # Errors
    /// The journal is unreadable, a segment cannot be created or signed, or the store does not accept it. Segments that
    /// were published before the error stay published.
    pub fn publish(&mut self, journal: &Path) -> Result<Published, PublishError> {
        self.publish_with(journal, &mut |_| {})
    }

    /// Like [`Publisher::publish`], and calls `done` after each segment with the number of its records.
    ///
    /// # Errors
    /// The errors of [`Publisher::publish`].
    pub fn publish_with(
        &mut self,
        journal: &Path,
        done: &mut dyn FnMut(usize),
    ) -> Result<Published, PublishError> {
        let read_error = |source| PublishError::Read {
            path: journal.into(),
            source,
        };
        let mut segments = 0;
        let mut file = match File::open(journal) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.published(0)),
            Err(error) => return Err(read_error(error)),
        };
        self.start_over_if_rewritten(&mut file)
            .map_err(read_error)?;
        loop {
            let window = window(&mut file, self.offset).map_err(read_error)?;
            let (run, next) = self.next_run(&window);
            let moved = next > self.offset;
            if let Some(run) = run {
                done(self.put(&run)?);
                segments += 1;
                self.at = run.end;
                self.offset = run.offset;
            } else {
                self.offset = next;
            }
            if !moved {
                return Ok(self.published(segments));
            }
        }
    }

    fn published(&self, segments: u32) -> Published {
        Published {
            journal: self.at.journal,
            last: self.at.sequence,
            segments,
        }
    }

    /// If the journal now has another identity, it was rewritten, so publishing starts again at offset 0.
    fn start_over_if_rewritten(&mut self, file: &mut File) -> io::Result<()> {
        if self.at.sequence == 0 {
            return Ok(());
        }
        let window = window(file, 0)?;
        let mut frames = (0..window.len()).filter(|at| window[*at] == START);
        let first = frames.find_map(|at| RawFrame::first_of(&window[at..]));
        if first.is_some_and(|frame| frame.journal != self.at.journal) {
            self.offset = 0;
            self.at = Position::start(0);
        }
        Ok(())
    }

    /// Returns the next consecutive frames that fit into one segment, and the offset in the file at which the search of
    /// the window ended.
    fn next_run(&self, window: &[u8]) -> (Option<Run>, u64) {
        let mut run: Option<Run> = None;
        let mut at = 0;
        while at < window.len() {
            let Some(frame) = RawFrame::first_of(&window[at..]) else {
                match next_start(window, at) {
                    // A damaged frame ends the run.
                    Some(_) if run.is_some() => break,
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            let end = at + frame.bytes.len();
            if !self.is_wanted(&frame) {
                if run.is_some() {
                    break;
                }
                at = end;
                continue;
            }
            let follows =
                |run: &Run| run.end.sequence + 1 == frame.sequence && run.end.chain == frame.before;
            let room = MAX_SEGMENT_BYTES - MAX_HEADER_BYTES;
            let fits = |run: &Run| run.frames.len() + frame.bytes.len() <= room;
            if run.as_ref().is_some_and(|run| !follows(run) || !fits(run)) {
                break;
            }
            let run = run.get_or_insert_with(|| Run {
                frames: Vec::new(),
                end: Position::start(frame.journal),
                offset: 0,
            });
            run.frames.extend_from_slice(frame.bytes);
            run.end.sequence = frame.sequence;
            run.end.chain = frame.after;
            at = end;
            run.offset = self.offset + end as u64;
        }
        (run, self.offset + at as u64)
    }

    /// Whether an undamaged frame belongs to this journal, is not yet published, and can be read by a merge.
    fn is_wanted(&self, frame: &RawFrame<'_>) -> bool {
        let ours = self.at.sequence == 0 || frame.journal == self.at.journal;
        let record = || serde_json::from_str::<Record>(frame.payload);
        ours && frame.sequence > self.at.sequence
            && frame.version <= RECORD_SCHEMA
            && record().is_ok_and(|record| record.check().is_ok())
    }

    /// Publishes a segment of these frames, and returns the number of its records.
    fn put(&self, run: &Run) -> Result<usize, PublishError> {
        let (header, bytes) = Segment::build(&self.header, &run.frames)?;
        let signature = self.key.sign(&bytes)?;
        let (journal, name) = (run.end.journal, object::name_of(&bytes));
        let name = object::segment(&header.plan, journal, header.first, header.last, &name);
        self.store.put(&name, &bytes)?;
        self.store
            .put(&object::signature(&name), signature.as_bytes())?;
        Ok(usize::try_from(header.last - header.first + 1).unwrap_or(usize::MAX))
    }
}

/// Reads up to [`WINDOW_BYTES`] bytes from `offset`.
fn window(file: &mut File, offset: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut window = Vec::new();
    file.take(WINDOW_BYTES as u64).read_to_end(&mut window)?;
    Ok(window)
}

/// Returns the next position after `at` at which a frame can start. Returns `None` if the window has no such position,
/// because the frame at `at` may then be unfinished. There is one exception: if `at` is 0 and the window is full, the
/// frame at `at` is larger than any valid frame, so it is damaged, and the result is the end of the window.
fn next_start(window: &[u8], at: usize) -> Option<usize> {
    let rest = window.get(at + 1..)?;
    let next = rest.iter().position(|b| *b == START).map(|n| at + 1 + n);
    let full = window.len() == WINDOW_BYTES && at == 0;
    next.or(full.then_some(window.len()))
}

#[cfg(test)]
mod tests;
