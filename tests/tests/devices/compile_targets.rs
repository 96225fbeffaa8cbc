//! Compiles every kernel of the library for GPUs that this machine does not have. Configs that the search space admits
//! must compile and be launchable. Configs that the space rejects for a compiler's reason must be rejected by the
//! compiler. The two sources of resource figures, log and image, must agree.

use std::collections::BTreeMap;
use std::time::Instant;

use kiln::artifacts::{ArtifactCache, DEFAULT_MAX_BYTES};
use kiln_cache::Outcome;
use kiln_lab::candidate::Which;
use kiln_lab::candidate::inspect::{Inspected, corners};
use kiln_project::{PackageSelection, Project, TunedKernel};
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::{KnownTarget, Multiprocessor, TARGETS};
use kiln_spec::{Backend, Config, Problem};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{shared_artifacts, workspace};
use kiln_tuner::compile_only::CompileTarget;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Constraints that no compiler enforces, because they only state which configs are worth trying or for which sizes a
/// config is meant.
const OF_THE_SPEC_ALONE: &[&str] = &[
    "device.warp_size",
    "device.lockstep_threads",
    "HEAD_DIM == dim",
];

/// The number of random configs for each kernel and target: valid configs, and configs that the space rejects.
fn draws() -> (usize, usize) {
    if in_full() { (80, 40) } else { (1, 1) }
}

/// A config to compile.
struct Subject<'a> {
    kernel: &'a TunedKernel,
    problem: Problem,
    /// The config, or `None` for the baseline.
    config: Option<Config>,
    /// Why the space rejects the config, or `None` if it is valid.
    rejected: Option<String>,
}

/// The totals over all targets.
#[derive(Default)]
struct Found {
    compiled: usize,
    refused: usize,
    agree: usize,
    /// Number of configs that are valid and compile, but cannot be launched. A search skips them after compiling.
    excluded: usize,
    spilling: usize,
    own: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

#[test]
fn what_the_space_admits_compiles_and_what_it_rejects_the_compiler_refuses() {
    let start = Instant::now();
    let project = kernels();
    let mut found = Found::default();
    let mut in_all = 0;
    for (turn, known) in gpus().into_iter().enumerate() {
        let target = CompileTarget::open(known.arch).expect("the compiler was found just now");
        // Except in full measurements, every third kernel is compiled. The next targets get the others.
        let kernels = project.kernels.iter().enumerate();
        let subjects: Vec<_> = kernels
            .filter(|(number, _)| in_full() || (number + turn).is_multiple_of(3))
            .flat_map(|(_, kernel)| subjects(kernel, known))
            .collect();
        compile(&target, &subjects, &mut found);
        println!("{}: {} configs", target.title(), subjects.len());
        in_all += subjects.len();
    }
    println!(
        "compile targets: {in_all} configs in {:.0} s: {} compile as the space says, {} are refused as it says, sources of \
         figures agree on {} of {}, {} spill, {} cannot be launched; rejected by the spec alone: {:?}",
        start.elapsed().as_secs_f64(),
        found.compiled,
        found.refused,
        found.agree,
        found.compiled,
        found.spilling,
        found.excluded,
        found.own
    );
    assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
    assert_eq!(found.agree, found.compiled);
    let all_here = gpus().len() == TARGETS.len() - 1;
    let least = if in_full() { 1000 } else { 100 };
    assert!(!all_here || in_all >= least, "only {in_all} configs");
}

/// The GPU targets whose compilers are installed.
fn gpus() -> Vec<&'static KnownTarget> {
    let gpus = TARGETS
        .iter()
        .filter(|known| known.multiprocessor != Multiprocessor::Host);
    let need = |known: &KnownTarget| {
        if known.backend == Backend::Cuda {
            Need::Nvrtc
        } else {
            Need::AmdClang
        }
    };
    gpus.filter(|known| have(&format!("compile_targets ({})", known.arch), &[need(known)]))
        .collect()
}

fn kernels() -> Project {
    let args = PackageSelection {
        manifest_path: Some(workspace().join("kernels/Cargo.toml")),
        package: Some("kiln-kernels".into()),
        ..PackageSelection::default()
    };
    Project::read(&args).expect("the library's kernels should be read")
}

/// The baseline, the configs of baked rows, the corners of the space (only one, except in full measurements), random
/// valid configs, and random configs that the space rejects.
fn subjects<'a>(kernel: &'a TunedKernel, known: &KnownTarget) -> Vec<Subject<'a>> {
    let spec = &kernel.spec;
    let problem = &spec.problems[0];
    let space = SearchSpace::build(spec, problem, &known.limits);
    let space = space.unwrap_or_else(|error| panic!("{}: {error}", spec.name));
    let subject = |config, rejected| Subject {
        kernel,
        problem: problem.clone(),
        config,
        rejected,
    };
    let mut subjects = vec![subject(None, None)];
    subjects.extend(baked(kernel, known));
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(known.limits.multiprocessors));
    let mut corners = corners(&space);
    if !in_full() {
        // Selects one of the corners. It differs between targets.
        let first = rng.random_range(0..corners.len());
        corners.rotate_left(first);
        corners.truncate(1);
    }
    subjects.extend(
        corners
            .into_iter()
            .map(|config| subject(Some(config), None)),
    );
    let (valid, invalid) = draws();
    for _ in 0..valid {
        subjects.push(subject(
            Some(space.config(rng.random_range(0..space.len()))),
            None,
        ));
    }
    for _ in 0..invalid * 50 {
        if subjects
            .iter()
            .filter(|subject| subject.rejected.is_some())
            .count()
            == invalid
        {
            break;
        }
        let values = spec.params.iter().map(|param| {
            (
                param.name.clone(),
                param.values[rng.random_range(0..param.values.len())].clone(),
            )
        });
        let config = Config::new(values);
        if let Some(why) = space.why_invalid(&config) {
            subjects.push(subject(Some(config), Some(why)));
        }
    }
    subjects
}

/// The configs of the kernel's baked rows for any device, if this target may launch them.
fn baked<'a>(kernel: &'a TunedKernel, known: &KnownTarget) -> Vec<Subject<'a>> {
    let rows = kernel.committed_rows();
    let rows = rows.expect("the library's tables should be read");
    let subject = |row: &kiln_spec::baked::Row| {
        let problem = kernel.spec.parse_problem(&row.problem).ok()?;
        let config = kernel.spec.parse_config(&row.config).ok()?;
        let config = (!row.is_baseline()).then_some(config);
        let checked = match &config {
            Some(config) => kernel
                .spec
                .check_config(config, &problem, Some(&known.limits)),
            None => Ok(()),
        };
        let rejected = checked.err().map(|why| why.to_string());
        Some(Subject {
            kernel,
            problem,
            config,
            rejected,
        })
    };
    rows.iter().filter_map(subject).collect()
}

/// Compiles all subjects, and adds the results to the totals.
fn compile(target: &CompileTarget, subjects: &[Subject<'_>], found: &mut Found) {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let artifacts = ArtifactCache::at(shared_artifacts(), DEFAULT_MAX_BYTES);
    let workshop = target.workshop(&artifacts, folder.path());
    let inspect = |subject: &Subject<'_>| {
        let which = subject
            .config
            .as_ref()
            .map_or(Which::Baseline, Which::Config);
        workshop.inspect(subject.kernel, which, &subject.problem)
    };
    let outcomes: Vec<_> = subjects.par_iter().map(inspect).collect();
    for (subject, outcome) in subjects.iter().zip(&outcomes) {
        found.count(target, subject, outcome);
    }
}

impl Found {
    fn count(
        &mut self,
        target: &CompileTarget,
        subject: &Subject<'_>,
        outcome: &Result<Inspected, Outcome>,
    ) {
        let arch = target.known.arch;
        let config = subject
            .config
            .as_ref()
            .map_or("baseline".into(), ToString::to_string);
        let name = format!("{arch}: {} {config}", subject.kernel.spec.name);
        let launchable = match outcome {
            Ok(inspected) => {
                self.compared(&name, inspected);
                let limits = &target.known.limits;
                let excluded = inspected.cannot.is_some();
                self.excluded += usize::from(excluded && subject.rejected.is_none());
                !excluded && inspected.plan.check(limits).is_ok()
            }
            Err(_) => false,
        };
        match (&subject.rejected, launchable) {
            (None, true) => {}
            (None, false) if outcome.is_ok() => {}
            (None, false) => self
                .wrong
                .push(format!("{name}: admitted, but {outcome:?}")),
            (Some(_), false) => self.refused += 1,
            (Some(why), true) => match OF_THE_SPEC_ALONE.iter().find(|part| why.contains(**part)) {
                Some(part) => *self.own.entry((*part).to_owned()).or_default() += 1,
                None => self
                    .wrong
                    .push(format!("{name}: rejected by {why}, but it compiles")),
            },
        }
    }

    /// Checks that the two sources of resource figures agree.
    fn compared(&mut self, name: &str, inspected: &Inspected) {
        self.compiled += 1;
        match &inspected.resources {
            Ok(resources) if inspected.in_log => {
                self.agree += 1;
                self.spilling +=
                    usize::from(resources.spills.is_some_and(|spills| spills.weight() > 0));
            }
            Ok(_) => self.wrong.push(format!("{name}: the log says nothing")),
            Err(error) => self.wrong.push(format!("{name}: {error}")),
        }
    }
}
