//! Options for opening a cache.

use std::time::Duration;

use crate::lock::Waiting;
use crate::probe::ProbeCommand;

/// The default time to wait for the cache's lock. A process that was killed may leave a child that holds the lock for a
/// moment.
const GRACE: Duration = Duration::from_secs(2);

/// Options for opening a cache.
pub struct OpenOptions<'a> {
    pub(super) probe: Option<ProbeCommand>,
    pub(super) deadline: Duration,
    pub(super) lock_deadline: Option<Duration>,
    pub(super) on_wait: Box<dyn FnMut(&Waiting) + 'a>,
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        OpenOptions {
            probe: None,
            deadline: Duration::from_secs(10),
            lock_deadline: Some(GRACE),
            on_wait: Box::new(|_| {}),
        }
    }
}

impl<'a> OpenOptions<'a> {
    /// The default options: no probe, ten seconds for the database, and two seconds for the lock.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    /// First opens the database in a child process, which can be killed if the database makes it hang.
    #[must_use]
    pub fn probe(mut self, command: ProbeCommand) -> Self {
        self.probe = Some(command);
        self
    }

    /// How long the database may take to open, and to become free; ten seconds by default. One second per 8 MiB of the
    /// database is added.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// If another `tune` holds the lock, waits for it, at most until the deadline, or without limit for `None`.
    /// `on_wait` is called before each pause and receives the process that holds the lock.
    #[must_use]
    pub fn wait(mut self, deadline: Option<Duration>, on_wait: impl FnMut(&Waiting) + 'a) -> Self {
        self.lock_deadline = deadline;
        self.on_wait = Box::new(on_wait);
        self
    }
}
