//! The state of a worker that launches kernels: a device, the loaded arms (candidates), and their data.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use kiln::rig::Rig;
use kiln::{Kernel, Stream};
use kiln_cache::Outcome;
use kiln_spec::{KernelSpec, Problem};

use super::arm::{LoadedArm, load};
use super::failure::{ArmFailure, outcome_of};
use super::kept::Kept;
use super::reference::linked_in;
use crate::candidate::outcome::internal;
use crate::worker::frame;
use crate::worker::protocol::{ArmJob, OpenJob, Reply};

/// The state of a worker that launches kernels.
pub(in crate::worker) struct Opened {
    pub(super) stream: Stream,
    pub(super) spec: Arc<KernelSpec>,
    pub(super) arms: Vec<LoadedArm>,
    /// The rigs (buffers of timed launches): one rig for all arms, or one per arm if the data depends on the config.
    pub(super) timing: Vec<Rig>,
    /// The problem of timed launches.
    pub(super) problem: Problem,
    /// The seed of their inputs.
    pub(super) seed: u64,
    pub(super) timer_tick_ns: u64,
    /// The data of earlier candidates that this worker verified.
    pub(super) kept: Kept,
}

impl Opened {
    pub(in crate::worker) fn new(
        job: &OpenJob,
        catalogue: &'static [&'static Kernel],
    ) -> Result<Opened, ArmFailure> {
        let nobody = |failure| (None, failure);
        let spec = spec_of(&job.spec_json).map_err(nobody)?;
        if let Some(kernel) = linked_in(catalogue, &job.package, &spec) {
            kiln::inputs::provide(kernel);
        }
        #[cfg(feature = "testing")]
        provide_to_fake(job, &spec, catalogue);
        // The launches of a check build may be meant for a GPU and may exceed the limits of the cpu device, so
        // `kiln::smoke::open` raises these limits. This does not change what a check build finds.
        let checks = !job.arms.is_empty() && job.arms.iter().all(|arm| arm.check);
        let opened = if checks {
            kiln::smoke::open(&job.device)
        } else {
            kiln::open(&job.device)
        };
        let device = opened.map_err(|error| nobody(internal(error)))?;
        if job.timed {
            let ready = device.ready_for_timing();
            ready.map_err(|error| nobody(internal(error)))?;
        }
        let stream = Stream::default_of(device);
        let mut loaded: Vec<Option<LoadedArm>> = job.arms.iter().map(|_| None).collect();
        for &arm in &job.load_order {
            let Some(wanted) = job.arms.get(arm) else {
                return Err(nobody(internal(format!("there is no arm {arm} to load"))));
            };
            loaded[arm] = Some(load(&stream, wanted).map_err(|failure| (Some(arm), failure))?);
        }
        let mut arms: Vec<LoadedArm> = loaded.into_iter().flatten().collect();
        if arms.len() != job.arms.len() {
            return Err(nobody(internal("the load order misses an arm")));
        }
        let mut timing = Vec::new();
        if job.timed {
            let one_each = spec.data_depends_on_the_config();
            for arm in &mut arms {
                if timing.is_empty() || one_each {
                    let config = &arm.job.config;
                    let rig =
                        Rig::rotating(&stream, &spec, config, &job.problem, job.seed, job.sets);
                    timing.push(rig.map_err(|error| nobody(outcome_of(error)))?);
                }
                arm.rig = timing.len() - 1;
            }
        }
        Ok(Opened {
            stream,
            spec,
            arms,
            timing,
            problem: job.problem.clone(),
            seed: job.seed,
            timer_tick_ns: job.timer_tick_ns,
            kept: Kept::default(),
        })
    }

    /// Loads an arm and replaces all other arms.
    pub(super) fn load(&mut self, arm: &ArmJob) -> Result<(), Outcome> {
        if !self.timing.is_empty() {
            return Err(internal("this worker times what it has loaded"));
        }
        self.arms.clear();
        self.arms.push(load(&self.stream, arm)?);
        self.kept.is_used = true;
        Ok(())
    }

    pub(super) fn arm(&self, arm: usize) -> Result<&LoadedArm, Outcome> {
        self.arms
            .get(arm)
            .ok_or_else(|| internal(format!("there is no arm {arm}")))
    }

    /// The rig on which an arm is timed.
    pub(super) fn rig(&self, arm: &LoadedArm) -> Result<&Rig, Outcome> {
        let rig = self.timing.get(arm.rig);
        rig.ok_or_else(|| internal("nothing was opened for timing"))
    }
}

/// Reports which arm is about to be launched, so the parent can attribute a crash to that arm.
pub(super) fn announce(replies: &mut impl Write, arm: usize) -> Result<(), ArmFailure> {
    let told = frame::write(replies, &Reply::Launching { arm });
    told.map_err(|error| (None, internal(format!("the parent is gone: {error}"))))
}

/// Reports the time of a launch that began at `start`, so the parent can stop a task for which its time is too short.
pub(super) fn announce_launched(replies: &mut impl Write, start: Instant) {
    let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    // If the parent is gone, the reply to the request fails too.
    let _ = frame::write(replies, &Reply::Launched { ns });
}

/// Registers the function that the fake device runs in place of the kernel.
#[cfg(feature = "testing")]
fn provide_to_fake(job: &OpenJob, spec: &KernelSpec, catalogue: &[&'static Kernel]) {
    for kernel in catalogue
        .iter()
        .filter(|kernel| job.device.starts_with("fake") && kernel.name() == spec.name)
    {
        for entry in [&kernel.spec().entry, &kernel.spec().baseline.entry] {
            kiln::backend::fake::provide_kernel(entry, kernel);
        }
    }
}

/// Parses the spec of a job, which its rigs share.
pub(in crate::worker) fn spec_of(json: &str) -> Result<Arc<KernelSpec>, Outcome> {
    KernelSpec::from_json(json)
        .map(Arc::new)
        .map_err(|error| internal(format!("the spec cannot be read: {error}")))
}
