//! What a worker has open: a device, the loaded arms, and the data they run on.

use std::io::Write;
use std::sync::Arc;

use kiln::backend::fake::provide_kernel;
use kiln::rig::Rig;
use kiln::{Kernel, Stream};
use kiln_spec::KernelSpec;

use super::arm::{LoadedArm, load};
use super::failure::{ArmFailure, failure_of};
use crate::worker::frame;
use crate::worker::protocol::{Failure, OpenJob, Reply};

/// Everything a worker has open.
pub(in crate::worker) struct Opened {
    pub(super) stream: Stream,
    pub(super) spec: Arc<KernelSpec>,
    pub(super) arms: Vec<LoadedArm>,
    pub(super) timing: Option<Rig>,
    pub(super) timer_tick_ns: u64,
    pub(super) catalogue: &'static [&'static Kernel],
}

impl Opened {
    pub(in crate::worker) fn new(
        job: &OpenJob,
        catalogue: &'static [&'static Kernel],
    ) -> Result<Opened, ArmFailure> {
        let nobody = |failure| (None, failure);
        let spec = spec_of(job).map_err(nobody)?;
        // The fake device computes what it is given in a kernel's place.
        for kernel in catalogue
            .iter()
            .filter(|kernel| job.device.starts_with("fake") && kernel.name() == spec.name)
        {
            for entry in [&kernel.spec().entry, &kernel.spec().baseline.entry] {
                provide_kernel(entry, kernel);
            }
        }
        let device = kiln::open(&job.device)
            .map_err(|error| nobody(Failure::Internal(error.to_string())))?;
        if job.timed {
            let ready = device.ready_for_timing();
            ready.map_err(|error| nobody(Failure::Internal(error.to_string())))?;
        }
        let stream = Stream::default_of(device);
        let mut loaded: Vec<Option<LoadedArm>> = job.arms.iter().map(|_| None).collect();
        for &arm in &job.load_order {
            let Some(wanted) = job.arms.get(arm) else {
                return Err(nobody(Failure::Internal(format!(
                    "there is no arm {arm} to load"
                ))));
            };
            loaded[arm] = Some(load(&stream, wanted).map_err(|failure| (Some(arm), failure))?);
        }
        let arms: Vec<LoadedArm> = loaded.into_iter().flatten().collect();
        if arms.len() != job.arms.len() {
            return Err(nobody(Failure::Internal(
                "the load order misses an arm".into(),
            )));
        }
        let mut timing = None;
        if job.timed {
            let rig = Rig::rotating(&stream, &spec, &job.problem, job.seed, job.sets);
            timing = Some(rig.map_err(|error| nobody(failure_of(error)))?);
        }
        Ok(Opened {
            stream,
            spec,
            arms,
            timing,
            timer_tick_ns: job.timer_tick_ns,
            catalogue,
        })
    }

    pub(super) fn arm(&self, arm: usize) -> Result<&LoadedArm, Failure> {
        self.arms
            .get(arm)
            .ok_or_else(|| Failure::Internal(format!("there is no arm {arm}")))
    }

    pub(super) fn rig(&self) -> Result<&Rig, Failure> {
        self.timing
            .as_ref()
            .ok_or_else(|| Failure::Internal("nothing was opened for timing".into()))
    }
}

/// Says which arm is about to be launched, so that the parent knows whom to blame.
pub(super) fn announce(replies: &mut impl Write, arm: usize) -> Result<(), ArmFailure> {
    let told = frame::write(replies, &Reply::Launching { arm });
    told.map_err(|error| {
        (
            None,
            Failure::Internal(format!("the parent is gone: {error}")),
        )
    })
}

/// The spec of a job, shared by its rigs.
fn spec_of(job: &OpenJob) -> Result<Arc<KernelSpec>, Failure> {
    KernelSpec::from_json(&job.spec_json)
        .map(Arc::new)
        .map_err(|error| Failure::Internal(format!("the spec cannot be read: {error}")))
}
