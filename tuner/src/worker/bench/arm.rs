//! A candidate as a device has it loaded.

use kiln::Stream;
use kiln::compiler::{Artifact, BuildKind};
use kiln::device::Function;

use super::failure::failure_of;
use crate::worker::protocol::{ArmJob, Failure};

/// A candidate that is loaded.
pub(super) struct LoadedArm {
    pub(super) job: ArmJob,
    pub(super) release: Function,
    pub(super) receipt: Function,
}

/// Loads a candidate, if its artifact is the one meant.
pub(super) fn load(stream: &Stream, job: &ArmJob) -> Result<LoadedArm, Failure> {
    let internal = |text: String| Failure::Internal(format!("{}: {text}", job.artifact.display()));
    let image = std::fs::read(&job.artifact).map_err(|error| internal(error.to_string()))?;
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
            "artifact is {}, {} was meant",
            artifact.hash, job.artifact_hash
        );
        return Err(Failure::WrongLaunch {
            field: "artifact".into(),
            want: job.artifact_hash.to_string(),
            got: text,
        });
    }
    let failed = |error: kiln::DeviceError| failure_of(error.into());
    let module = device.load(&artifact).map_err(failed)?;
    let release = module.clone().function(&job.release).map_err(failed)?;
    let receipt = module.function(&job.receipt).map_err(failed)?;
    Ok(LoadedArm {
        job: job.clone(),
        release,
        receipt,
    })
}
