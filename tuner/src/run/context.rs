//! The state that all tasks of a run share.

use std::path::Path;

use kiln::Kernel;
use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_cache::Cache;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::progress::Reporter;
use crate::run::RunOptions;
use crate::run::clock::RunClock;
use crate::task::Task;
use kiln_exchange::recording::Recording;
use kiln_fleet::Imported;
use kiln_lab::candidate::Workshop;
use kiln_lab::check::CheckPlace;
use kiln_lab::regime::Regime;
use kiln_lab::worker::WorkerLimits;
use kiln_measure::claims::Claims;

/// The state that all tasks of a run share.
pub struct RunContext<'a> {
    /// The device's name on the command line.
    pub device: &'a str,
    /// Describes the device.
    pub info: &'a DeviceInfo,
    /// Its compiler.
    pub compiler: &'a dyn Compiler,
    /// Cold or hot.
    pub regime: Regime,
    /// Compiles candidates.
    pub workshop: &'a Workshop<'a>,
    /// Stores results.
    pub cache: &'a Cache,
    /// The compile threads.
    pub pool: &'a rayon::ThreadPool,
    /// Receives the progress.
    pub reporter: &'a dyn Reporter,
    /// The options of the command line.
    pub options: &'a RunOptions,
    /// Recordings that searches may start from.
    pub recordings: &'a [Recording],
    /// Results of other devices that searches may start from.
    pub pulled: &'a [Imported],
    /// Kernels whose references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// How workers are started.
    pub worker: &'a WorkerLimits,
    /// The run's own folder.
    pub folder: &'a Path,
    /// The place where check builds of candidates run.
    pub check: CheckPlace<'a>,
    /// Timestamps trials.
    pub clock: &'a RunClock,
    /// The claims that this run may make, and its proofs.
    pub claims: Claims,
}

impl RunContext<'_> {
    /// A separate random stream for each task and purpose.
    pub(crate) fn rng(&self, task: &Task<'_>, purpose: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed ^ task.key.hash().short());
        rng.set_stream(purpose);
        rng
    }
}
