//! Bakes replayed rows: the best config that a search of a recorded space found becomes a row for the recorded device.

use std::fmt::Write;
use std::path::PathBuf;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::BuildKind;
use kiln_cache::location;
use kiln_spec::baked::{Evidence, Row};
use kiln_spec::{Backend, Config, DeviceKey, Problem};

use super::error::{ParamDifference, ReplayError};
use crate::compile_only::CompileTarget;
use crate::error::Failure;
use crate::tables::bake;
use kiln_exchange::curves::SearchRun;
use kiln_exchange::recording::Recording;
use kiln_lab::LabError;
use kiln_lab::candidate::{Which, Workshop};
use kiln_lab::scratch::temporary_folder;
use kiln_project::TunedKernel;
use kiln_search::SpaceView;

/// Maximum number of configs that are compiled per problem, best first.
const COMPILED: usize = 8;

/// The result of baking one problem.
#[derive(Clone, Debug)]
pub enum ReplayedProblem {
    /// A config was chosen.
    Picked {
        /// The chosen config.
        config: String,
        /// The recorded time of the chosen config, in milliseconds.
        recorded_ms: f64,
        /// Number of faster configs that the search found but that are not valid for the kernel or do not compile.
        passed_over: usize,
    },
    /// The device already has a proven row for the problem, which is kept.
    Kept,
}

/// The rows that were baked from a recording.
#[derive(Clone, Debug)]
pub struct ReplayBakeReport {
    device: String,
    recording: String,
    problems: Vec<(String, ReplayedProblem)>,
    table: Option<PathBuf>,
}

impl ReplayBakeReport {
    /// The report as text.
    pub fn to_text(&self, kernel: &str) -> String {
        let mut text = format!("{kernel} for {}, from {}\n", self.device, self.recording);
        for (problem, replayed) in &self.problems {
            let _ = match replayed {
                ReplayedProblem::Kept => {
                    writeln!(text, "  ({problem}): kept the row that was measured")
                }
                ReplayedProblem::Picked {
                    config,
                    recorded_ms,
                    passed_over,
                } => {
                    let passed = match passed_over {
                        0 => String::new(),
                        count => format!(
                            "; {count} faster recorded configs are not configs of this kernel"
                        ),
                    };
                    writeln!(
                        text,
                        "  ({problem}): {config}, replayed, never measured with this kernel \
                         (recorded: {recorded_ms} ms{passed})"
                    )
                }
            };
        }
        if let Some(table) = &self.table {
            let _ = writeln!(
                text,
                "  wrote {}; used only if the kernel's spec says `evidence(replayed)`",
                table.display()
            );
        }
        text
    }
}

/// The kernel and the target for which the best recorded config is baked.
pub struct ToBake {
    /// The kernel.
    pub kernel: TunedKernel,
    /// The problems for which a row is baked.
    pub problems: Vec<Problem>,
    /// The target with the architecture of the recorded device.
    pub target: CompileTarget,
}

impl ToBake {
    /// Creates the selection from a kernel and an architecture, for `problem`, or for all problems that the kernel
    /// declares for the target's backend.
    ///
    /// # Errors
    /// If the target is unknown, its compiler is not installed, or `problem` is not a problem of the kernel.
    pub fn new(kernel: TunedKernel, problem: Option<&str>, arch: &str) -> Result<ToBake, Failure> {
        let target = CompileTarget::isolated(arch)?;
        let problems = match problem {
            None => kernel
                .spec
                .problems_on(target.info.key.backend)
                .cloned()
                .collect(),
            Some(text) => vec![kernel.problem(Some(text))?],
        };
        Ok(ToBake {
            kernel,
            problems,
            target,
        })
    }
}

/// Checks that the recording has the kernel's parameters, and that the recorded device is not from another vendor than
/// the target.
///
/// # Errors
/// If the parameters or the vendors differ. The error contains the first difference.
pub fn check(to_bake: &ToBake, recording: &Recording) -> Result<(), ReplayError> {
    device(recording, &to_bake.target)?;
    same_params(&to_bake.kernel, recording)
}

/// Bakes the best config that the runs found, for each problem without a proven row for the device.
///
/// # Errors
/// If the recording has other parameters than the kernel or is from another vendor's device, if no config that was
/// found is a config of the kernel, or if a table cannot be read or written.
pub fn bake(
    to_bake: &ToBake,
    recording: &Recording,
    runs: &[SearchRun],
) -> Result<ReplayBakeReport, Failure> {
    let ToBake {
        kernel,
        problems,
        target,
    } = to_bake;
    let device = device(recording, target)?;
    same_params(kernel, recording)?;
    let found = found(recording, runs);
    let folder = temporary_folder("replay")?;
    let artifacts =
        ArtifactCache::in_cache(&location::from_environment()?).map_err(LabError::Device)?;
    let workshop = target.workshop(&artifacts, folder.path());
    let mut rows = kernel.rows_of(&device)?;
    let mut report = ReplayBakeReport {
        device: device.to_string(),
        recording: recording.name.clone(),
        problems: Vec::new(),
        table: None,
    };
    for problem in problems {
        let text = problem.to_string();
        let of_problem = |row: &Row| row.problem == text;
        if rows
            .iter()
            .any(|row| of_problem(row) && row.evidence == Evidence::Proven)
        {
            report.problems.push((text, ReplayedProblem::Kept));
            continue;
        }
        let (row, replayed) = pick(
            kernel, problem, recording, &found, target, &device, &workshop,
        )?;
        rows.retain(|row| !of_problem(row));
        rows.push(row);
        report.problems.push((text, replayed));
    }
    if report
        .problems
        .iter()
        .any(|one| matches!(one.1, ReplayedProblem::Picked { .. }))
    {
        report.table = Some(bake::replace_rows(kernel, &device, rows)?);
    }
    Ok(report)
}

/// The key of the recorded device, with the target's architecture. If the recording does not name its device, the key
/// contains the target's product name. A device of another vendor is an error.
fn device(recording: &Recording, target: &CompileTarget) -> Result<DeviceKey, ReplayError> {
    let known = target.known;
    let name = recording.device.as_deref().unwrap_or(known.product);
    let vendor = match known.backend {
        Backend::Cuda => ["AMD", "Radeon"],
        _ => ["NVIDIA", "GeForce"],
    };
    if vendor.iter().any(|other| name.contains(other)) {
        return Err(ReplayError::OtherDevice {
            name: name.to_owned(),
            arch: known.arch,
        });
    }
    Ok(DeviceKey {
        backend: known.backend,
        arch: known.arch.into(),
        name: name.into(),
    })
}

/// Checks that the kernel and the recording have the same parameters. Parameters with a single value are ignored.
fn same_params(kernel: &TunedKernel, recording: &Recording) -> Result<(), ReplayError> {
    let (recorded, own) = (recording.space.params(), &kernel.spec.params);
    let unknown = own.iter().find(|param| {
        param.values.len() > 1 && recorded.iter().all(|other| other.name != *param.name)
    });
    let foreign = recorded
        .iter()
        .find(|param| param.texts.len() > 1 && own.iter().all(|other| *other.name != param.name));
    let difference = match (unknown, foreign) {
        (Some(param), _) => ParamDifference::NotRecorded(param.name.to_string()),
        (None, Some(param)) => ParamDifference::Unknown(param.name.clone()),
        (None, None) => return Ok(()),
    };
    Err(ReplayError::OtherParams {
        kernel: kernel.spec.name.clone(),
        recording: recording.name.clone(),
        difference,
        recorded: recorded.iter().map(|param| param.name.clone()).collect(),
    })
}

/// The valid configs that any run tried, as pairs of time in milliseconds and index, fastest first.
fn found(recording: &Recording, runs: &[SearchRun]) -> Vec<(f64, usize)> {
    let mut tried: Vec<usize> = runs
        .iter()
        .flat_map(|run| run.tried.iter().copied())
        .collect();
    tried.sort_unstable();
    tried.dedup();
    let timed = |index: usize| Some((recording.entries[index].time_ms?, index));
    let mut found: Vec<(f64, usize)> = tried.into_iter().filter_map(timed).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found
}

/// The row of the fastest config that is a config of the kernel, fits the target and compiles for it.
fn pick(
    kernel: &TunedKernel,
    problem: &Problem,
    recording: &Recording,
    found: &[(f64, usize)],
    target: &CompileTarget,
    device: &DeviceKey,
    workshop: &Workshop<'_>,
) -> Result<(Row, ReplayedProblem), ReplayError> {
    let spec = &kernel.spec;
    let mut compiled = 0;
    for (passed_over, (recorded_ms, index)) in found.iter().enumerate() {
        let limits = Some(&target.info.limits);
        let fits = |config: &Config| spec.check_config(config, problem, limits).is_ok();
        let Some(config) = config(kernel, recording, *index).filter(fits) else {
            continue;
        };
        if compiled == COMPILED {
            break;
        }
        compiled += 1;
        let which = Which::Config(&config);
        let Ok(made) = workshop.make(kernel, which, problem, BuildKind::Release) else {
            continue;
        };
        let row = Row {
            device: device.clone(),
            problem: problem.to_string(),
            entry: spec.entry.clone(),
            config: made.arm.config.to_string(),
            evidence: Evidence::Replayed,
            speedup: None,
            baseline: spec.baseline_text(),
            symbol: made.arm.release,
            plan: made.arm.plan,
            hashes: kernel.hashes(device.backend),
            image: None,
        };
        let replayed = ReplayedProblem::Picked {
            config: row.config.clone(),
            recorded_ms: *recorded_ms,
            passed_over,
        };
        return Ok((row, replayed));
    }
    Err(ReplayError::NothingFits {
        found: found.len(),
        recording: recording.name.clone(),
        kernel: spec.name.clone(),
        problem: problem.to_string(),
        arch: target.known.arch,
    })
}

/// Converts a recorded config to the kernel's config; `None` if the kernel does not have such a config.
fn config(kernel: &TunedKernel, recording: &Recording, index: usize) -> Option<Config> {
    let positions = recording.space.positions(index);
    let recorded = recording.space.params();
    let mut values = Vec::new();
    for param in &kernel.spec.params {
        let place = recorded.iter().position(|other| other.name == *param.name);
        let value = match place {
            Some(place) => {
                let text = &recorded[place].texts[positions[place] as usize];
                // The comparison ignores case, because Python writes booleans as `True` and `False`.
                let same =
                    |value: &&kiln_spec::ParamValue| value.to_string().eq_ignore_ascii_case(text);
                param.values.iter().find(same)?
            }
            None => param.values.first()?,
        };
        values.push((param.name.clone(), value.clone()));
    }
    Some(Config::new(values))
}
