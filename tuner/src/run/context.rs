//! The data that all tasks of a run share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use kiln::Kernel;
use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_cache::Cache;
use kiln_cache::record::ReferenceGrade;
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
use kiln_lab::reference::Oracle;
use kiln_lab::regime::Regime;
use kiln_lab::worker::WorkerLimits;
use kiln_measure::claims::Claims;
use kiln_spec::Hash;

/// The data that all tasks of a run share.
pub struct RunContext<'a> {
    /// The name of the device on the command line.
    pub device: &'a str,
    /// The description of the device.
    pub info: &'a DeviceInfo,
    /// The device's compiler.
    pub compiler: &'a dyn Compiler,
    /// Whether timed launches begin with cold or hot caches.
    pub regime: Regime,
    /// The workshop that compiles candidates.
    pub workshop: &'a Workshop<'a>,
    /// The cache that stores the results.
    pub cache: &'a Cache,
    /// The pool of compile threads.
    pub pool: &'a rayon::ThreadPool,
    /// Receives the progress messages.
    pub reporter: &'a dyn Reporter,
    /// The options from the command line.
    pub options: &'a RunOptions,
    /// Recordings from which searches may start.
    pub recordings: &'a [Recording],
    /// Results of other devices from which searches may start.
    pub pulled: &'a [Imported],
    /// The kernels whose plain-Rust references are linked in.
    pub catalogue: &'static [&'static Kernel],
    /// How workers are started.
    pub worker: &'a WorkerLimits,
    /// The scratch folder of the run.
    pub folder: &'a Path,
    /// Where the check builds of candidates run.
    pub check: CheckPlace<'a>,
    /// Provides the timestamps of trials.
    pub clock: &'a RunClock,
    /// The number of claims that this run may make, and how many of them it has proven. A claim is a statement that a
    /// config is faster than the baseline.
    pub claims: Claims,
    /// Digests of what the plain-Rust references of the tasks compute. The key is the hash of a task's tuning key.
    pub references: Mutex<BTreeMap<Hash, Option<Hash>>>,
}

impl RunContext<'_> {
    /// How this run verifies the outputs of a task's candidates.
    pub(crate) fn grade(&self, task: &Task<'_>) -> ReferenceGrade {
        Oracle::grade_of(self.catalogue, task.kernel, task.problem)
    }

    /// The random number generator for the order of a task's samples.
    pub(crate) fn rng(&self, task: &Task<'_>) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.options.seed ^ task.key.hash().short())
    }
}
