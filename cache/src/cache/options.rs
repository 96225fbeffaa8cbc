//! How a cache is opened.

use std::time::Duration;

use crate::lock::Waiting;
use crate::probe::ProbeCommand;

/// The default time to wait for the cache: a process that was killed may leave a
/// child behind that holds the lock for a moment.
const GRACE: Duration = Duration::from_secs(2);

/// How a cache is opened.
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
    /// No probe, ten seconds for the database, and two for the holder of the cache.
    pub fn new() -> OpenOptions<'a> {
        OpenOptions::default()
    }

    /// Opens the database in a child process first, which can be killed if it is stuck.
    #[must_use]
    pub fn probe(mut self, command: ProbeCommand) -> Self {
        self.probe = Some(command);
        self
    }

    /// How long the database may take to open, and to become free; ten seconds by default. A large one
    /// has more: one second per 8 MiB.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Waits for another `tune` to end: until the deadline, or for ever. `on_wait` is called before
    /// each pause, with who is waited for.
    #[must_use]
    pub fn wait(mut self, deadline: Option<Duration>, on_wait: impl FnMut(&Waiting) + 'a) -> Self {
        self.lock_deadline = deadline;
        self.on_wait = Box::new(on_wait);
        self
    }
}
