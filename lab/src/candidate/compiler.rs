//! Compiles a config: generates its source text, compiles the text, and stores the image where workers can load it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kiln::artifacts::{ArtifactCache, compile_key};
use kiln::compiler::{Artifact, BuildKind, CompileError, CompileLimits, CompileRequest, Compiler};
use kiln::device::DeviceInfo;
use kiln::prepare::dialect;
use kiln::recipe::Recipe;
use kiln_cache::Outcome;
use kiln_cache::record::one_line;
use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::{Backend, Config, LaunchPlan, Problem};

use crate::candidate::inspect::{
    self, CannotLaunch, InspectError, Inspected, LaunchRules, Resources,
};
use crate::candidate::outcome::{internal, of_compile_error, of_io_error};
use crate::worker::ArmJob;
use kiln_project::TunedKernel;
use kiln_project::atomic_file;

/// Compiles the candidates of one device. The threads of the compile pool share one workshop.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// The device's compiler.
    pub compiler: &'a dyn Compiler,
    /// The backend in whose dialect source text is generated.
    pub backend: Backend,
    /// The cache of compiled artifacts, which outlives the run.
    pub artifacts: &'a ArtifactCache,
    /// The folder in which workers find the images of this run.
    pub folder: &'a Path,
    /// Limits of one compile.
    pub limits: CompileLimits,
    /// The limits that the device or target sets for a block.
    pub rules: LaunchRules<'a>,
    /// The number of compiles that ran. Artifacts from the cache are not included.
    pub compiles: AtomicU64,
}

/// A compiled candidate.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The job with which a worker loads the candidate.
    pub arm: ArmJob,
    /// Compile time in nanoseconds; 0 if the image was in the cache.
    pub compile_ns: u64,
    /// The resources of the candidate's release entry; `None` if they cannot be read from the image.
    pub resources: Option<Resources>,
}

impl Compiled {
    /// The weight of the candidate's spills (see `Spills::weight`); 0 if it is unknown. In a batch, candidates are
    /// tried in the order of this weight, lightest first.
    pub fn spills(&self) -> u64 {
        let spills = self.resources.and_then(|resources| resources.spills);
        spills.map_or(0, |spills| spills.weight())
    }
}

/// A candidate before compilation: its source text and its launch plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The generated source text.
    pub unit: TranslationUnit,
    /// The launch plan for the problem.
    pub plan: LaunchPlan,
    /// The candidate's config.
    pub config: Config,
    /// Whether the candidate is launched with the baseline's geometry, because it is the baseline or the reference
    /// entry.
    pub baseline: bool,
    /// The headers and flags that were saved with a saved kernel; `None` for a current kernel.
    pub recipe: Option<Arc<Recipe>>,
}

/// A compiled candidate, as the compiler returned it.
#[derive(Debug)]
struct BuiltCandidate {
    draft: Draft,
    artifact: Artifact,
    compile_ns: u64,
}

/// Selects a candidate of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The baseline: the simplest correct version.
    Baseline,
    /// The tuned entry with a config.
    Config(&'a Config),
    /// The entry that the spec specifies as the reference. It is launched like the baseline.
    Reference(&'a String),
}

impl<'a> Workshop<'a> {
    /// Creates a workshop for a device, or for the description of a device that this machine does not have.
    pub fn new(
        compiler: &'a dyn Compiler,
        info: &'a DeviceInfo,
        artifacts: &'a ArtifactCache,
        folder: &'a Path,
    ) -> Workshop<'a> {
        Workshop {
            compiler,
            backend: dialect(&info.key),
            artifacts,
            folder,
            limits: CompileLimits::of_user(),
            rules: LaunchRules::of(info),
            compiles: AtomicU64::new(0),
        }
    }

    /// Generates and compiles a candidate for a problem, and stores its image for the workers.
    ///
    /// # Errors
    /// The outcome to store for the config, if the candidate does not compile or cannot be launched.
    pub fn make(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
        build: BuildKind,
    ) -> Result<Compiled, Outcome> {
        self.make_draft(self.draft(kernel, which, problem)?, build)
    }

    /// Compiles a draft and stores its image for the workers.
    ///
    /// # Errors
    /// The errors of [`Self::make`].
    pub fn make_draft(&self, draft: Draft, build: BuildKind) -> Result<Compiled, Outcome> {
        let built = self.build(draft, build)?;
        if let Some(cannot) = self.cannot_launch(&built) {
            return Err(Outcome::Rejected {
                constraint: one_line(&cannot.to_string()),
            });
        }
        let resources = self
            .resources(&built, built.draft.unit.release.as_str())
            .ok();
        let artifact = self
            .place(&built.artifact)
            .map_err(|error| of_io_error(self.folder, &error))?;
        let Draft {
            unit,
            plan,
            config,
            baseline,
            ..
        } = built.draft;
        let arm = ArmJob {
            artifact,
            artifact_hash: built.artifact.hash,
            target: self.compiler.target_arch().to_owned(),
            check: build != BuildKind::Release,
            release: unit.release.to_string(),
            receipt: unit.receipt.to_string(),
            symbol_hash: unit.symbol_hash,
            config_hash: unit.config_hash,
            config,
            baseline,
            plan,
            launches: 0,
            launch_ns: 0,
        };
        Ok(Compiled {
            arm,
            compile_ns: built.compile_ns,
            resources,
        })
    }

    /// Generates and compiles a candidate and reads its resources. A candidate that cannot be launched is not an error
    /// here, because [`Inspected`] contains the reason.
    ///
    /// # Errors
    /// The outcome, if the candidate has no launch plan or does not compile.
    pub fn inspect(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
    ) -> Result<Inspected, Outcome> {
        let built = self.build(self.draft(kernel, which, problem)?, BuildKind::Release)?;
        let Draft { unit, plan, .. } = &built.draft;
        let symbol = unit.release.as_str();
        Ok(Inspected {
            in_log: inspect::from_log(self.backend, &built.artifact.log, symbol).is_ok(),
            symbol: symbol.to_owned(),
            plan: *plan,
            resources: self.resources(&built, symbol),
            cannot: self.cannot_launch(&built),
        })
    }

    /// Generates and compiles a candidate that this process launches itself.
    ///
    /// # Errors
    /// The outcome, if the candidate has no launch plan, does not compile, or cannot be launched.
    pub fn release(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
    ) -> Result<(Draft, Artifact), Outcome> {
        let built = self.build(self.draft(kernel, which, problem)?, BuildKind::Release)?;
        match self.cannot_launch(&built) {
            Some(cannot) => Err(Outcome::Rejected {
                constraint: one_line(&cannot.to_string()),
            }),
            None => Ok((built.draft, built.artifact)),
        }
    }

    /// Generates the source text and the launch plan of a candidate for a problem.
    ///
    /// # Errors
    /// The outcome, if the candidate has no launch plan or its text cannot be generated.
    pub fn draft(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
    ) -> Result<Draft, Outcome> {
        let spec = &kernel.spec;
        let baseline = &spec.baseline;
        let like_the_baseline = |entry| {
            let plan = spec.baseline_plan(problem, None);
            (entry, &baseline.config, plan)
        };
        let (entry, config, plan) = match which {
            Which::Baseline => like_the_baseline(&baseline.entry),
            Which::Reference(entry) => like_the_baseline(entry),
            Which::Config(config) => (&spec.entry, config, spec.plan(config, problem, None)),
        };
        let plan = plan.map_err(|error| Outcome::Rejected {
            constraint: one_line(&error.to_string()),
        })?;
        let unit = TranslationUnit::new(
            &kernel.source,
            &kernel.scan,
            spec,
            entry,
            config,
            problem,
            Target::from(self.backend),
        )
        .map_err(internal)?;
        Ok(Draft {
            unit,
            plan,
            config: config.clone(),
            baseline: !matches!(which, Which::Config(_)),
            recipe: None,
        })
    }

    fn build(&self, draft: Draft, build: BuildKind) -> Result<BuiltCandidate, Outcome> {
        let start = Instant::now();
        let (artifact, fresh) = self.compile(&draft, build)?;
        let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(BuiltCandidate {
            draft,
            artifact,
            compile_ns: if fresh { elapsed } else { 0 },
        })
    }

    /// The resources of an entry. Only GPU images contain them.
    fn resources(&self, built: &BuiltCandidate, symbol: &str) -> Result<Resources, InspectError> {
        let Artifact { image, log, .. } = &built.artifact;
        inspect::resources(self.backend, image, log, symbol)
    }

    /// Why a candidate cannot be launched; `None` if it can. Checks the release entry and the receipt entry (the
    /// instrumented version whose launch proves what ran). If the resources cannot be read, the candidate is not
    /// excluded, and the driver decides at launch.
    fn cannot_launch(&self, built: &BuiltCandidate) -> Option<CannotLaunch> {
        let unit = &built.draft.unit;
        let entries = [&unit.release, &unit.receipt];
        entries.into_iter().find_map(|entry| {
            let resources = self.resources(built, entry.as_str()).ok()?;
            self.rules.check(&resources, &built.draft.plan).err()
        })
    }

    /// The artifact of a draft, from the cache or newly compiled. The flag is `true` if it was compiled now.
    fn compile(&self, draft: &Draft, build: BuildKind) -> Result<(Artifact, bool), Outcome> {
        let unit = &draft.unit;
        let mut request =
            CompileRequest::new(unit.release.as_str(), unit.text.as_str()).with_build(build);
        request.limits = self.limits;
        request.scratch = Some(self.folder.to_owned());
        request.recipe.clone_from(&draft.recipe);
        let key = compile_key(self.compiler, self.backend, &request);
        if let Some(artifact) = self.artifacts.get(key) {
            return Ok((artifact, false));
        }
        self.compiles.fetch_add(1, Ordering::Relaxed);
        let artifact =
            self.compiler
                .compile(&request)
                .map_err(|error| match (&error, self.limits.until) {
                    // The time of the run ended before the time limit of the compile.
                    (CompileError::TimedOut { .. }, Some(until)) if Instant::now() >= until => {
                        Outcome::OutOfTime
                    }
                    _ => of_compile_error(&error),
                })?;
        // If the artifact cannot be stored, the next run only has to compile it again.
        let _ = self.artifacts.put(key, &artifact);
        Ok((artifact, true))
    }

    /// Writes an image to the folder from which the workers of this run load it.
    fn place(&self, artifact: &Artifact) -> std::io::Result<PathBuf> {
        let path = self.folder.join(artifact.hash.to_string());
        if !path.exists() {
            atomic_file::write_for_run(&path, &artifact.image)?;
        }
        Ok(path)
    }
}
