//! Profiles configs on simulated GPUs.

use std::sync::Arc;

use kiln::artifacts::ArtifactCache;
use kiln::backend::sim::SimDevice;
use kiln::compiler::Artifact;
use kiln::device::DeviceBackend;
use kiln::rig::{Layout, Rig};
use kiln::{Device, Stream};
use kiln_exchange::profiles::{Profile, ProfileRow};
use kiln_spec::targets::KnownTarget;
use rayon::prelude::*;

use super::error::TargetError;
use super::inspect::Subject;
use crate::error::Failure;
use kiln_lab::LabError;
use kiln_lab::candidate::profile;
use kiln_lab::candidate::{Draft, Workshop};
use kiln_lab::peaks;

/// A simulated GPU and how much of each launch it executes.
pub struct Profiled {
    /// The GPU it stands for.
    pub known: &'static KnownTarget,
    /// The simulated device.
    pub device: Arc<SimDevice>,
    /// The most blocks of a launch that are executed.
    pub max_blocks: u64,
}

impl Profiled {
    /// The simulated GPU of an architecture.
    ///
    /// # Errors
    /// If there is none, or its compiler is not installed.
    pub fn open(known: &'static KnownTarget, max_blocks: u64) -> Result<Profiled, Failure> {
        let device = SimDevice::open(known.arch).map_err(LabError::Device)?;
        device.compiler().map_err(TargetError::NoCompiler)?;
        Ok(Profiled {
            known,
            device,
            max_blocks,
        })
    }

    /// The target, its product and its compiler, for headings.
    pub fn title(&self) -> String {
        let compiler = self.device.compiler().map_or_else(
            |error| error.to_string(),
            |compiler| compiler.identity().to_string(),
        );
        format!(
            "sim:{} ({}), {compiler}",
            self.known.arch, self.known.product
        )
    }

    /// Compiles the subjects in parallel, and executes one after the other on all cores.
    ///
    /// # Errors
    /// If no work folder can be created, or the compiler is missing.
    pub fn profile(&self, subjects: &[Subject<'_>]) -> Result<Vec<ProfileRow>, Failure> {
        let folder = tempfile::Builder::new().prefix("kiln-profile-").tempdir();
        let folder = folder.map_err(Failure::file("make a folder in", &std::env::temp_dir()))?;
        let artifacts = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?)
            .map_err(LabError::Device)?;
        let compiler = self.device.compiler().map_err(TargetError::NoCompiler)?;
        let workshop = Workshop::new(compiler, self.device.info(), &artifacts, folder.path());
        let compiled: Vec<_> = subjects
            .par_iter()
            .map(|subject| workshop.release(subject.kernel, subject.which(), &subject.problem))
            .collect();
        let rows = subjects.iter().zip(compiled).map(|(subject, compiled)| {
            let profile =
                compiled
                    .map_err(|outcome| outcome.to_string())
                    .and_then(|(draft, artifact)| {
                        self.launch(subject, &draft, &artifact)
                            .map_err(|error| error.to_string())
                    });
            let (profile, error) = match profile {
                Ok(profile) => (Some(profile), None),
                Err(error) => (None, Some(error)),
            };
            ProfileRow {
                target: self.known.arch.to_owned(),
                kernel: subject.kernel.spec.name.clone(),
                problem: subject.problem.to_string(),
                what: subject.what.clone(),
                config: subject.config_text(),
                profile,
                error,
            }
        });
        Ok(rows.collect())
    }

    fn launch(
        &self,
        subject: &Subject<'_>,
        draft: &Draft,
        artifact: &Artifact,
    ) -> Result<Profile, kiln::Error> {
        let (spec, problem) = (Arc::new(subject.kernel.spec.clone()), &subject.problem);
        let stream = Stream::default_of(Device::from(self.device.clone()));
        let rig = Rig::of_config(&stream, &spec, &draft.config, problem, 1, Layout::Plain)?;
        let module = self.device.load(artifact)?;
        let function = module.function(draft.unit.release.as_str())?;
        let launch = || rig.launch(&function, &draft.plan);
        let launched = self.device.profile(self.max_blocks, launch)?;
        let least_bytes = peaks::work(&spec, problem).bytes;
        Ok(profile::of_launch(&launched, least_bytes))
    }
}
