//! Profiles configs on simulated GPUs, and counts the instructions of the machine code of the same configs.

use std::path::Path;
use std::sync::Arc;

use kiln::artifacts::ArtifactCache;
use kiln::backend::sim::SimDevice;
use kiln::compiler::Artifact;
use kiln::device::DeviceBackend;
use kiln::rig::{Layout, Rig};
use kiln::{Device, Stream};
use kiln_cache::Outcome;
use kiln_exchange::profiles::{MachineCode, Profile, ProfileRow};
use kiln_lab::candidate::machine_code::{self, Disassembler, DisassemblyError};
use kiln_lab::scratch::temporary_folder;
use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;
use rayon::prelude::*;
use thiserror::Error;

use super::error::TargetError;
use super::inspect::Subject;
use super::target::CompileTarget;
use crate::error::Failure;
use kiln_lab::LabError;
use kiln_lab::candidate::profile;
use kiln_lab::candidate::{Draft, Workshop};
use kiln_lab::peaks;

/// A simulated GPU, with the number of blocks that it executes per launch.
pub struct Profiled {
    /// The GPU that is simulated.
    pub known: &'static KnownTarget,
    /// The simulated device.
    pub device: Arc<SimDevice>,
    /// Maximum number of blocks that are executed per launch.
    pub max_blocks: u64,
    code: CodeReader,
}

/// How the machine code of a target is read.
enum CodeReader {
    /// The simulator executes the image itself, so it reports the instructions.
    Simulator,
    /// The simulator executes PTX, so the machine code (a cubin) is compiled and disassembled separately.
    Disassembler(Box<CompileTarget>, Disassembler),
    /// The machine code is not read, for this reason.
    Missing(String),
}

impl Profiled {
    /// Opens the simulated GPU of an architecture.
    ///
    /// # Errors
    /// If no simulator supports the architecture, or its compiler is not installed.
    pub fn open(known: &'static KnownTarget, max_blocks: u64) -> Result<Profiled, Failure> {
        let device = SimDevice::open(known.arch).map_err(LabError::Device)?;
        device.compiler().map_err(TargetError::NoCompiler)?;
        Ok(Profiled {
            known,
            device,
            max_blocks,
            code: CodeReader::open(known)?,
        })
    }

    /// The heading of a target: its architecture, its product and its compiler.
    pub fn title(&self) -> String {
        let compiler = self.device.compiler().map_or_else(
            |error| error.to_string(),
            |compiler| compiler.identity().to_string(),
        );
        let code = match &self.code {
            CodeReader::Simulator => String::new(),
            CodeReader::Disassembler(_, disassembler) => format!(", {disassembler}"),
            CodeReader::Missing(why) => format!("\n{why}"),
        };
        format!(
            "sim:{} ({}), {compiler}{code}",
            self.known.arch, self.known.product
        )
    }

    /// Profiles the subjects. They are compiled in parallel and executed one after another, each on all cores.
    ///
    /// # Errors
    /// If the artifact cache or a temporary folder cannot be used, or the compiler is missing.
    pub fn profile(&self, subjects: &[Subject<'_>]) -> Result<Vec<ProfileRow>, Failure> {
        let folder = temporary_folder("profile")?;
        let artifacts = ArtifactCache::in_cache(&kiln_cache::location::from_environment()?)
            .map_err(LabError::Device)?;
        let compiler = self.device.compiler().map_err(TargetError::NoCompiler)?;
        let workshop = Workshop::new(compiler, self.device.info(), &artifacts, folder.path());
        let compiled: Vec<_> = subjects
            .par_iter()
            .map(|subject| workshop.release(subject.kernel, subject.which(), &subject.problem))
            .collect();
        let codes: Vec<_> = subjects
            .par_iter()
            .map(|subject| self.code.read(subject, &artifacts, folder.path()))
            .collect();
        let rows = subjects.iter().zip(compiled).zip(codes);
        let rows = rows.map(|((subject, compiled), code)| {
            let profile =
                compiled
                    .map_err(|outcome| outcome.to_string())
                    .and_then(|(draft, artifact)| {
                        self.launch(subject, &draft, &artifact)
                            .map_err(|error| error.to_string())
                    });
            let (profile, error) = match profile {
                Ok(profile) => (Some(with_code(profile, code)), None),
                Err(error) => (None, Some(error)),
            };
            ProfileRow {
                target: self.known.arch.to_owned(),
                package: subject.kernel.package.clone(),
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
        let mut profile = profile::of_launch(&launched, least_bytes);
        if let CodeReader::Simulator = self.code {
            let code = machine_code::of_executed(&launched, profile.hot_loop.as_ref());
            profile.machine_code = Some(code);
        }
        Ok(profile)
    }
}

impl CodeReader {
    /// Selects how to read the machine code of a target.
    ///
    /// # Errors
    /// If the compiler for the cubin is not installed.
    fn open(known: &KnownTarget) -> Result<CodeReader, Failure> {
        if known.backend != Backend::Cuda {
            return Ok(CodeReader::Simulator);
        }
        Ok(match Disassembler::find() {
            Ok(found) => {
                CodeReader::Disassembler(Box::new(CompileTarget::isolated(known.arch)?), found)
            }
            Err(missing) => CodeReader::Missing(missing.to_string()),
        })
    }

    /// The machine code of a config. Returns `None` if the simulator reports the instructions itself, or if no
    /// disassembler is available.
    fn read(
        &self,
        subject: &Subject<'_>,
        artifacts: &ArtifactCache,
        folder: &Path,
    ) -> Option<Result<MachineCode, NotRead>> {
        let CodeReader::Disassembler(target, disassembler) = self else {
            return None;
        };
        let workshop = target.workshop(artifacts, folder);
        let compiled = workshop.release(subject.kernel, subject.which(), &subject.problem);
        Some(match compiled {
            Ok((draft, artifact)) => disassembler
                .count(&artifact.image, draft.unit.release.as_str())
                .map_err(NotRead::from),
            Err(outcome) => Err(NotRead::Outcome(outcome)),
        })
    }
}

/// Why the machine code of a config was not read.
#[derive(Debug, Error)]
enum NotRead {
    /// The cubin does not compile, or the config cannot be launched.
    #[error("{0}")]
    Outcome(Outcome),
    /// The cubin was not disassembled.
    #[error(transparent)]
    Disassembly(#[from] DisassemblyError),
}

fn with_code(mut profile: Profile, code: Option<Result<MachineCode, NotRead>>) -> Profile {
    match code {
        Some(Ok(code)) => profile.machine_code = Some(code),
        Some(Err(why)) => profile.no_machine_code = Some(why.to_string()),
        None => {}
    }
    profile
}
