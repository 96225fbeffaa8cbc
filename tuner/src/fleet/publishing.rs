//! Publishes the journal of an element from a separate thread, while the journal grows.

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

/// Number of new records after which results are published even if the period has not ended. It corresponds to 48
/// trials, because each trial writes one record when it starts and one when it ends. A killed attempt may lose at most
/// 64 trials, so 16 more trials can end while the thread sleeps or publishes.
const MAX_UNPUBLISHED: u64 = 2 * 48;
/// The interval at which the thread checks for new records and signals.
const TICK: Duration = Duration::from_millis(200);

/// Handle of the running thread.
#[derive(Debug)]
pub struct Publishing<'scope> {
    stop: Sender<()>,
    thread: ScopedJoinHandle<'scope, Result<(), PublishError>>,
}

impl<'scope> Publishing<'scope> {
    /// Starts to publish the journal of a cache, at least every `period` while it grows. If SIGINT or SIGTERM arrives,
    /// the thread publishes the recorded results and ends the process with the exit code that makes a scheduler try
    /// again. It removes the folder `scratch` only if the results were published.
    pub fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        cache: &'env Cache,
        scratch: &Path,
        publisher: Publisher<'env>,
        period: Duration,
    ) -> Publishing<'scope> {
        let (stop, stopped) = channel();
        // If the handlers cannot be installed, these signals end the process at once. The last trials are then lost and
        // measured again.
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

    /// Publishes the remaining records and ends the thread.
    ///
    /// # Errors
    /// If the remaining records cannot be published.
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
    /// The folder of this attempt.
    scratch: PathBuf,
    publisher: Publisher<'s>,
    /// Maximum time between two publications.
    period: Duration,
    /// The number of the last record that the store accepted.
    acknowledged: u64,
    /// Number of records in the journal when it was last published.
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

    /// Publishes the recorded results, and ends the process.
    fn end_early(&mut self) -> ! {
        match self.publish() {
            Ok(()) => {
                say("interrupted; what was measured is published");
                // Other threads may still write to the folder. Anything that they add remains there but is not needed.
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
