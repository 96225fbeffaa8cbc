//! Publishes the journal of an element while it grows, in a thread of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use kiln_cache::Cache;
use kiln_fleet::{PublishError, Published, Publisher};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::TRY_AGAIN;

/// Number of new records after which results are published before the period ends: 48 trials, each with a record of its
/// start and one of its result. A killed attempt loses at most 64, which leaves room for the trials that end while the
/// thread waits for its next look and while it publishes.
const MAX_UNPUBLISHED: u64 = 2 * 48;
/// How often the thread looks.
const TICK: Duration = Duration::from_millis(200);

/// The running thread.
#[derive(Debug)]
pub struct Publishing<'scope> {
    stop: Sender<()>,
    thread: ScopedJoinHandle<'scope, Result<(), PublishError>>,
}

impl<'scope> Publishing<'scope> {
    /// Begins to publish a cache's journal. A signal that ends the process is held back until what was measured is
    /// published; the process then removes `scratch`, and ends with the exit code that tells a scheduler to try again.
    pub fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        cache: &'env Cache,
        scratch: &Path,
        publisher: Publisher<'env>,
        period: Duration,
    ) -> Publishing<'scope> {
        let (stop, stopped) = channel();
        // If signals cannot be watched, they end the process at once: the last trials are lost, and tried again.
        let signals = Signals::new([SIGINT, SIGTERM]).ok();
        let publishing = Thread {
            cache,
            scratch: scratch.to_owned(),
            publisher,
            period,
            acknowledged: 0,
            records: 0,
            last: Instant::now(),
        };
        let thread = scope.spawn(move || publishing.run(&stopped, signals));
        Publishing { stop, thread }
    }

    /// Publishes the rest, and ends the thread.
    ///
    /// # Errors
    /// If something is not published.
    pub fn finish(self) -> Result<(), PublishError> {
        drop(self.stop);
        match self.thread.join() {
            Ok(published) => published,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

struct Thread<'s> {
    cache: &'s Cache,
    /// The attempt's folder.
    scratch: PathBuf,
    publisher: Publisher<'s>,
    /// How often results are published at the latest.
    period: Duration,
    /// The last record that the store took.
    acknowledged: u64,
    /// Number of the journal's records at that time.
    records: u64,
    last: Instant,
}

impl Thread<'_> {
    fn run(
        mut self,
        stopped: &Receiver<()>,
        mut signals: Option<Signals>,
    ) -> Result<(), PublishError> {
        loop {
            let end = stopped.recv_timeout(TICK);
            if end != Err(RecvTimeoutError::Timeout) {
                return self.publish();
            }
            let signalled = signals
                .as_mut()
                .is_some_and(|all| all.pending().next().is_some());
            if signalled {
                self.end_early();
            }
            if self.is_due()
                && let Err(error) = self.publish()
            {
                say(&format!("not published yet: {error}"));
                self.last = Instant::now();
            }
        }
    }

    /// Publishes, and ends the process.
    fn end_early(&mut self) -> ! {
        match self.publish() {
            Ok(()) => {
                say("interrupted; what was measured is published");
                // Other threads still write there: what they add meanwhile stays, and is worth nothing.
                let _ = std::fs::remove_dir_all(&self.scratch);
            }
            Err(error) => say(&format!(
                "interrupted; the last results are not published: {error}\nhelp: they are in {}",
                self.scratch.display()
            )),
        }
        process::exit(i32::from(TRY_AGAIN))
    }

    fn is_due(&self) -> bool {
        let new = self.cache.last_record().saturating_sub(self.records);
        new > 0 && (new >= MAX_UNPUBLISHED || self.last.elapsed() >= self.period)
    }

    fn publish(&mut self) -> Result<(), PublishError> {
        let records = self.cache.last_record();
        let Published { journal, last, .. } = self.publisher.publish(&self.cache.journal())?;
        if last > self.acknowledged {
            let mut out = std::io::stdout();
            // A closed standard output must not end an element.
            let _ = writeln!(out, "acknowledged {journal:016x} {last}").and_then(|()| out.flush());
        }
        (self.acknowledged, self.records, self.last) = (last, records, Instant::now());
        Ok(())
    }
}

fn say(text: &str) {
    // A closed standard error must not end an element.
    let _ = writeln!(std::io::stderr(), "tune: {text}");
}
