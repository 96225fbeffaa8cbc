//! Turns a config into something that a worker can load: generates, compiles and stores it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kiln::artifacts::{ArtifactCache, compile_key};
use kiln::compiler::{Artifact, BuildKind, CompileLimits, CompileRequest, Compiler};
use kiln::device::DeviceInfo;
use kiln::prepare::dialect;
use kiln::recipe::Recipe;
use kiln_cache::Outcome;
use kiln_cache::record::one_line;
use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::{Backend, Config, LaunchPlan, Problem};

use crate::atomic_file;
use crate::candidate::inspect::{
    self, CannotLaunch, InspectError, Inspected, LaunchRules, Resources,
};
use crate::candidate::outcome::{internal, of_compile_error, of_io_error};
use crate::worker::ArmJob;
use kiln_project::TunedKernel;

/// Compiles the candidates of one device; shared by the threads of the compile pool.
#[derive(Debug)]
pub struct Workshop<'a> {
    /// The device's compiler.
    pub compiler: &'a dyn Compiler,
    /// The backend in whose dialect units are generated.
    pub backend: Backend,
    /// Compiled artifacts, kept between runs.
    pub artifacts: &'a ArtifactCache,
    /// The folder in which workers find the images of this run.
    pub folder: &'a Path,
    /// Limits of one compile.
    pub limits: CompileLimits,
    /// The limits of a block on the device or target.
    pub rules: LaunchRules<'a>,
    /// The number of compiles that ran, without those served from the cache.
    pub compiles: AtomicU64,
}

/// A compiled candidate.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The job with which a worker loads it.
    pub arm: ArmJob,
    /// Compile time in nanoseconds; 0 if the image was in the cache.
    pub compile_ns: u64,
    /// The resources of its release entry, if the image contains them.
    pub resources: Option<Resources>,
}

impl Compiled {
    /// How much it spills, for ordering; 0 if unknown.
    pub fn spills(&self) -> u64 {
        let spills = self.resources.and_then(|resources| resources.spills);
        spills.map_or(0, |spills| spills.weight())
    }
}

/// A candidate before it is compiled: the input of a compiler and of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The generated text.
    pub unit: TranslationUnit,
    /// The plan for the problem.
    pub plan: LaunchPlan,
    /// The config.
    pub config: Config,
    /// Whether it is the baseline.
    pub baseline: bool,
    /// The headers and flags that were saved with it; `None` for a current kernel.
    pub recipe: Option<Arc<Recipe>>,
}

/// A candidate as the compiler returned it.
#[derive(Debug)]
struct BuiltCandidate {
    draft: Draft,
    artifact: Artifact,
    compile_ns: u64,
}

/// Which candidate of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The simplest correct version.
    Baseline,
    /// The tuned entry with a config.
    Config(&'a Config),
    /// The entry that the spec names as reference. It is launched like the baseline.
    Reference(&'a String),
}

impl<'a> Workshop<'a> {
    /// A workshop for a device, or for the description of a device that this machine does not have.
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
            limits: CompileLimits::default(),
            rules: LaunchRules::of(info),
            compiles: AtomicU64::new(0),
        }
    }

    /// Generates and compiles a candidate for a problem.
    ///
    /// # Errors
    /// The outcome to store for the config if it does not compile or cannot be launched.
    pub fn make(
        &self,
        kernel: &TunedKernel,
        which: Which<'_>,
        problem: &Problem,
        build: BuildKind,
    ) -> Result<Compiled, Outcome> {
        self.make_draft(self.draft(kernel, which, problem)?, build)
    }

    /// Compiles a draft.
    ///
    /// # Errors
    /// Those of [`Self::make`].
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

    /// Generates and compiles a candidate and reads its resources. A candidate that cannot be launched is not an
    /// error here.
    ///
    /// # Errors
    /// The outcome of a candidate without a plan, or of one that does not compile.
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

    /// Generates and compiles a candidate for launches in this process.
    ///
    /// # Errors
    /// The outcome of a candidate without a plan, of one that does not compile, or that cannot be launched.
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

    /// Generates a candidate for a problem.
    ///
    /// # Errors
    /// The outcome of a candidate without a plan or a text.
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

    /// The resources of an entry; only GPU images tell them.
    fn resources(&self, built: &BuiltCandidate, symbol: &str) -> Result<Resources, InspectError> {
        let Artifact { image, log, .. } = &built.artifact;
        inspect::resources(self.backend, image, log, symbol)
    }

    /// Why a candidate cannot be launched: because of its release entry, or of the receipt entry that proves that it
    /// ran. Resources that cannot be read exclude nothing: the device decides.
    fn cannot_launch(&self, built: &BuiltCandidate) -> Option<CannotLaunch> {
        let unit = &built.draft.unit;
        let entries = [&unit.release, &unit.receipt];
        entries.into_iter().find_map(|entry| {
            let resources = self.resources(built, entry.as_str()).ok()?;
            self.rules.check(&resources, &built.draft.plan).err()
        })
    }

    /// The artifact of a draft: from the cache, or compiled now. The flag says whether it was compiled.
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
        let artifact = self
            .compiler
            .compile(&request)
            .map_err(|error| of_compile_error(&error))?;
        // If the cache cannot be written, the next run compiles again; nothing else is lost.
        let _ = self.artifacts.put(key, &artifact);
        Ok((artifact, true))
    }

    /// Writes an image to the folder in which the workers of this run look for it.
    fn place(&self, artifact: &Artifact) -> std::io::Result<PathBuf> {
        let path = self.folder.join(artifact.hash.to_string());
        if !path.exists() {
            atomic_file::write_for_run(&path, &artifact.image)?;
        }
        Ok(path)
    }
}
