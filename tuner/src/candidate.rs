//! From a config to something a worker can load: generate, compile, store.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kiln::artifacts::{ArtifactCache, compile_key};
use kiln::compiler::{Artifact, BuildKind, CompileLimits, CompileRequest, Compiler};
use kiln_cache::Outcome;
use kiln_cache::record::one_line;
use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::{Backend, Config, Hash, Problem};

use crate::outcome::of_compile_error;
use crate::project::TunedKernel;
use crate::worker::ArmJob;

/// Compiles the candidates of one device; shared by the threads of the compile pool.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// The device's compiler.
    pub compiler: &'a dyn Compiler,
    /// The backend it compiles for.
    pub backend: Backend,
    /// Compiled artifacts, kept between runs.
    pub artifacts: &'a ArtifactCache,
    /// Where workers find the artifacts of this run.
    pub folder: &'a Path,
    /// What one compile may use up.
    pub limits: CompileLimits,
    /// Compiles done (not served from the store).
    pub compiles: AtomicU64,
    /// Numbers for files that are being written.
    pub parts: AtomicU64,
}

/// A compiled candidate.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What a worker loads.
    pub arm: ArmJob,
    /// Time that compiling took, in nanoseconds; 0 when it was in the store.
    pub compile_ns: u64,
}

/// Which candidate.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The simplest correct version.
    Baseline,
    /// The tuned entry with a config.
    Config(&'a Config),
}

impl Workshop<'_> {
    /// Generates and compiles a candidate for a problem.
    ///
    /// # Errors
    /// The outcome to store for it.
    pub fn make(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
        build: BuildKind,
    ) -> Result<Compiled, Outcome> {
        let spec = &kernel.spec;
        let (entry, config, baseline) = match which {
            Which::Baseline => (&spec.baseline.entry, &spec.baseline.config, true),
            Which::Config(config) => (&spec.entry, config, false),
        };
        let plan = if baseline {
            spec.baseline_plan(problem, None)
        } else {
            spec.plan(config, problem, None)
        };
        let plan = plan.map_err(|error| Outcome::Rejected {
            constraint: one_line(&error.to_string()),
        })?;
        let internal = |text: String| Outcome::Internal {
            message: one_line(&text),
        };
        let target = target_of(self.backend);
        let unit = TranslationUnit::new(
            &kernel.source,
            &kernel.scan,
            spec,
            entry,
            config,
            problem,
            target,
        )
        .map_err(|error| internal(error.to_string()))?;
        let start = Instant::now();
        let (artifact, hash, fresh) = self.compile(&unit, build)?;
        let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let arm = ArmJob {
            artifact,
            artifact_hash: hash,
            target: self.compiler.target_arch().to_owned(),
            check: build != BuildKind::Release,
            release: unit.release.to_string(),
            receipt: unit.receipt.to_string(),
            symbol_hash: unit.symbol_hash,
            config_hash: unit.config_hash,
            config: config.clone(),
            baseline,
            plan,
            launches: 0,
            launch_ns: 0,
        };
        Ok(Compiled {
            arm,
            compile_ns: if fresh { elapsed } else { 0 },
        })
    }

    /// The artifact of a unit: from the cache, or compiled now.
    fn compile(
        &self,
        unit: &TranslationUnit,
        build: BuildKind,
    ) -> Result<(PathBuf, Hash, bool), Outcome> {
        let internal = |error: std::io::Error| Outcome::Internal {
            message: one_line(&error.to_string()),
        };
        let mut request =
            CompileRequest::new(unit.release.as_str(), unit.text.as_str()).with_build(build);
        request.limits = self.limits;
        request.scratch = Some(self.folder.to_owned());
        let key = compile_key(self.compiler, self.backend, &request);
        if let Some(artifact) = self.artifacts.get(key) {
            let (path, hash) = self.place(&artifact).map_err(internal)?;
            return Ok((path, hash, false));
        }
        self.compiles.fetch_add(1, Ordering::Relaxed);
        let artifact = self
            .compiler
            .compile(&request)
            .map_err(|error| of_compile_error(&error))?;
        // A cache that cannot be written costs the next run a compile, nothing else.
        let _ = self.artifacts.put(key, &artifact);
        let (path, hash) = self.place(&artifact).map_err(internal)?;
        Ok((path, hash, true))
    }

    /// Puts an image where workers of this run find it.
    fn place(&self, artifact: &Artifact) -> std::io::Result<(PathBuf, Hash)> {
        let hash = artifact.hash;
        let path = self.folder.join(hash.to_string());
        if !path.exists() {
            let part = self.folder.join(format!(
                "{hash}.{}",
                self.parts.fetch_add(1, Ordering::Relaxed)
            ));
            std::fs::write(&part, &artifact.image)?;
            std::fs::rename(&part, &path)?;
        }
        Ok((path, hash))
    }
}

/// What code is generated for.
pub fn target_of(backend: Backend) -> Target {
    match backend {
        Backend::Cpu | Backend::Fake => Target::Cpu,
        Backend::Cuda => Target::Cuda,
        Backend::Hip => Target::Hip,
    }
}
