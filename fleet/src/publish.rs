//! Publishing a journal while it grows.
//!
//! What [`Publisher::publish`] returns is acknowledged: the store has taken the segments of every record up to it,
//! and their signatures. A segment whose signature is missing is not read by anybody, and is published again.

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

/// Bytes of a journal that are read at a time: more than one segment and the largest frame.
const WINDOW_BYTES: usize = 8 << 20;
/// Starts a frame.
const START: u8 = 0x1e;

/// Publishes the journals of one attempt at an element.
#[derive(Debug)]
pub struct Publisher<'s> {
    store: &'s dyn ObjectStore,
    key: Signer,
    header: Header,
    /// Offset in the file of the first byte that is not published.
    offset: u64,
    /// The last record that is published.
    at: Position,
}

/// Up to where a journal is in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The journal's identity; 0 if it has no record yet.
    pub journal: u64,
    /// Sequence number of the last record in the store; 0 if there is none.
    pub last: u64,
    /// Segments that this call published.
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
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The store did not take an object.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A segment could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A segment could not be made.
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
    /// A publisher for one attempt at an element of a plan. `plan` is its identity, or `none`; `attempt` is a new
    /// [`random_name`](crate::sign::random_name).
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

    /// Takes the records up to a position as published.
    pub fn continue_after(&mut self, position: Position) {
        self.at = position;
    }

    /// Publishes the records of a journal that are not in the store yet. Damaged records and an unfinished last one
    /// are passed over. A journal that was rewritten is another one, and published from its start.
    ///
    /// # Errors
    /// An unreadable journal, or a store that does not take a segment: what was published before stays published.
    pub fn publish(&mut self, journal: &Path) -> Result<Published, PublishError> {
        self.publish_with(journal, &mut |_| {})
    }

    /// As [`Publisher::publish`]; `done` is called after each segment with the number of its records.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
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

    /// A rewritten journal has another identity, and is shorter or has other records.
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

    /// The next frames that fit one segment, and the offset up to which there is nothing else to publish.
    fn next_run(&self, window: &[u8]) -> (Option<Run>, u64) {
        let mut run: Option<Run> = None;
        let mut at = 0;
        while at < window.len() {
            let Some(frame) = RawFrame::first_of(&window[at..]) else {
                match next_start(window, at) {
                    // Damage ends a run.
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

    /// Whether a sound frame is one of this journal that is not published, and that a merge can read.
    fn is_wanted(&self, frame: &RawFrame<'_>) -> bool {
        let ours = self.at.sequence == 0 || frame.journal == self.at.journal;
        let record = || serde_json::from_str::<Record>(frame.payload);
        ours && frame.sequence > self.at.sequence
            && frame.version <= RECORD_SCHEMA
            && record().is_ok_and(|record| record.check().is_ok())
    }

    /// Publishes a segment, and returns the number of its records.
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

/// Reads up to [`WINDOW_BYTES`] from an offset on.
fn window(file: &mut File, offset: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut window = Vec::new();
    file.take(WINDOW_BYTES as u64).read_to_end(&mut window)?;
    Ok(window)
}

/// Where the next frame after one at `at` can start. In a window with no other start the last one may be unfinished,
/// unless the window is full.
fn next_start(window: &[u8], at: usize) -> Option<usize> {
    let rest = window.get(at + 1..)?;
    let next = rest.iter().position(|b| *b == START).map(|n| at + 1 + n);
    let full = window.len() == WINDOW_BYTES && at == 0;
    next.or(full.then_some(window.len()))
}

#[cfg(test)]
mod tests;
