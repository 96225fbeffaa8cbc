//! Loads candidates on a device.

use kiln::Stream;
use kiln::compiler::{Artifact, BuildKind};
use kiln::device::Function;

use kiln_cache::Outcome;

use super::failure::{of_device_error, of_file};
use crate::worker::protocol::ArmJob;

/// A candidate that is loaded on the device.
pub(super) struct LoadedArm {
    pub(super) job: ArmJob,
    pub(super) release: Function,
    pub(super) receipt: Function,
    /// The index of the rig (the buffers of a launch) on which the candidate is timed.
    pub(super) rig: usize,
}

/// Loads a candidate and checks that its artifact has the expected hash.
pub(super) fn load(stream: &Stream, job: &ArmJob) -> Result<LoadedArm, Outcome> {
    let image = std::fs::read(&job.artifact).map_err(of_file(&job.artifact))?;
    let build = if job.check {
        BuildKind::Check
    } else {
        BuildKind::Release
    };
    let device = stream.device();
    let artifact = Artifact::new(
        device.info().key.backend,
        &job.target,
        build,
        image,
        String::new(),
    );
    if artifact.hash != job.artifact_hash {
        let text = format!(
            "the artifact is {}, but {} was expected",
            artifact.hash, job.artifact_hash
        );
        return Err(Outcome::WrongLaunch {
            field: "artifact".into(),
            want: job.artifact_hash.to_string(),
            got: text,
        });
    }
    let module = device.load(&artifact).map_err(of_device_error)?;
    let release = module.clone().function(&job.release);
    let receipt = module.function(&job.receipt);
    Ok(LoadedArm {
        job: job.clone(),
        release: release.map_err(of_device_error)?,
        receipt: receipt.map_err(of_device_error)?,
        rig: 0,
    })
}
