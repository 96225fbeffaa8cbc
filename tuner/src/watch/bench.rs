//! Times the current kernels against their baselines, in fresh processes.

use kiln::compiler::BuildKind;
use kiln_spec::{Config, Problem};
use serde::Serialize;

use super::error::{WatchError, why};
use super::peer::{BesidePeer, Contest};
use super::replayed::{ReplayedLaunches, replayed};
use super::saved::Recorded;
use super::stage::{self, Scene, WatchSession};
use super::throughput::{Throughput, Yardsticks};
use crate::error::Failure;
use crate::tables::current::{Present, present};
use kiln_lab::candidate::{Compiled, Draft, Which};
use kiln_measure::{ArmId, Claim, Doubt, Survey, drive};
use kiln_project::TunedKernel;

/// The result of timing a kernel for a problem on a device.
#[derive(Clone, Debug, Serialize)]
pub struct Benched {
    /// The name of the package.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// The key of the device.
    pub device: String,
    /// Why a build launches this config.
    pub selection: String,
    /// The config that a build launches, and that is timed, as text.
    pub config: String,
    /// The times, or why there are none.
    pub outcome: TimingOutcome,
}

/// The times of a kernel, or why there are none.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TimingOutcome {
    /// The kernel was timed.
    Measured(Box<Measured>),
    /// The kernel was not timed, for example because the time budget ended first.
    NotMeasured {
        /// The reason, as text.
        reason: String,
    },
    /// The kernel does not work.
    Failed {
        /// The reason, as text.
        reason: String,
    },
}

impl TimingOutcome {
    /// Whether the kernel does not work, or could not be compared with a peer.
    pub fn has_failed(&self) -> bool {
        match self {
            TimingOutcome::Measured(measured) => measured.peers.iter().any(BesidePeer::has_failed),
            TimingOutcome::NotMeasured { .. } => false,
            TimingOutcome::Failed { .. } => true,
        }
    }
}

/// The times of a kernel, and the figures that are computed from them.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The release symbol that was timed.
    pub symbol: String,
    /// The receipt that the device wrote for the launch, as text.
    pub receipt: String,
    /// Time of one launch in the median process.
    pub time: Recorded,
    /// The throughput that follows from the time.
    pub throughput: Throughput,
    /// The comparison with the baseline; `None` if the launched config is the baseline.
    pub baseline: Option<BesideBaseline>,
    /// Whether the outputs on this problem were compared with a reference, and not only with the kernel's own baseline.
    pub has_reference: bool,
    /// The times of launches that are queued one by one, and of launches that are replayed from a recording. `None`
    /// unless the kernel is launch-bound and the device can record launches.
    pub replayed: Option<ReplayedLaunches>,
    /// The comparisons with peers (other programs that compute the same result).
    pub peers: Vec<BesidePeer>,
}

/// The comparison of a kernel with its baseline.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BesideBaseline {
    /// Time of one launch of the baseline in the median process, in nanoseconds.
    pub median_ns: u64,
    /// The baseline's time divided by the kernel's time. Above 1, the kernel is faster.
    pub speedup: f64,
    /// The lower end of the 95 % interval of the speed-up; `None` if too few processes ran.
    pub low: Option<f64>,
    /// The upper end of that interval.
    pub high: Option<f64>,
}

/// Times a kernel for a problem, within `budget_ns`. Returns the result, and the draft to save if the kernel works.
///
/// # Errors
/// If a table cannot be read. Faults of the kernel are in the result.
pub fn bench(
    stage: &WatchSession<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    yardsticks: Yardsticks,
    budget_ns: u64,
) -> Result<(Benched, Option<Draft>), Failure> {
    let present = present(kernel, problem, stage.info)?;
    let timing = Timing {
        stage,
        kernel,
        problem,
        yardsticks,
        budget_ns,
    };
    let (outcome, draft) = timing.outcome(&present);
    let baseline = &kernel.spec.baseline.config;
    let benched = Benched {
        package: kernel.package.clone(),
        kernel: kernel.spec.name.clone(),
        problem: problem.to_string(),
        device: stage.info.key.to_string(),
        config: present.config.as_ref().unwrap_or(baseline).to_string(),
        selection: present.why,
        outcome,
    };
    Ok((benched, draft))
}

struct Timing<'a> {
    stage: &'a WatchSession<'a>,
    kernel: &'a TunedKernel,
    problem: &'a Problem,
    yardsticks: Yardsticks,
    budget_ns: u64,
}

impl Timing<'_> {
    /// The outcome, and the draft (the generated source text with its launch plan) to save. A kernel for which no time
    /// was left is saved too.
    fn outcome(&self, present: &Present) -> (TimingOutcome, Option<Draft>) {
        let failed = |reason: String| TimingOutcome::Failed { reason };
        let drafted = self
            .stage
            .workshop
            .draft(self.kernel, present.which(), self.problem);
        let draft = match drafted {
            Ok(draft) => draft,
            Err(outcome) => return (failed(outcome.to_string()), None),
        };
        if self.budget_ns == 0 {
            let reason = "no time was left for it".into();
            return (TimingOutcome::NotMeasured { reason }, Some(draft));
        }
        match self.time(present, draft.clone()) {
            Ok(outcome) => (outcome, Some(draft)),
            Err(error) => (failed(error.to_string()), None),
        }
    }

    fn time(&self, present: &Present, draft: Draft) -> Result<TimingOutcome, WatchError> {
        let (stage, spec) = (self.stage, &self.kernel.spec);
        let config: Config = draft.config.clone();
        let made = stage.workshop.make_draft(draft, BuildKind::Release);
        let made = made.map_err(WatchError::Outcome)?;
        let scene = stage.scene(self.kernel, self.problem, &config)?;
        let proof = scene.verify(spec, &made);
        let proof = proof.map_err(WatchError::Outcome)?;
        let baseline = present
            .config
            .as_ref()
            .map(|_| self.baseline(&scene))
            .transpose()?;
        let survey = self.survey(&scene, &made, baseline.as_ref())?;
        if let Some(Doubt::Faulted(fault)) = survey.doubt() {
            return Err(fault.clone().into());
        }
        let Some(time) = survey.time(arm_of(baseline.is_some())) else {
            return Ok(TimingOutcome::NotMeasured {
                reason: why(survey.doubt()),
            });
        };
        let time = Recorded::of(&time);
        let throughput = Throughput::new(
            stage.info,
            spec,
            self.problem,
            time.median_ns,
            self.yardsticks,
        );
        let throughput = throughput?;
        let replayed = match throughput.launch_bound {
            true => replayed(&scene, &made.arm)?,
            false => None,
        };
        Ok(TimingOutcome::Measured(Box::new(Measured {
            symbol: made.arm.release.clone(),
            receipt: stage::receipt(&proof),
            time,
            throughput,
            replayed,
            baseline: beside(&survey),
            has_reference: scene.has_reference(),
            peers: self.contest(&scene, &made).beside(stage.setting.peers),
        })))
    }

    fn contest<'s>(&'s self, scene: &'s Scene<'s>, made: &'s Compiled) -> Contest<'s> {
        Contest {
            stage: self.stage,
            scene,
            spec: &self.kernel.spec,
            problem: self.problem,
            arm: &made.arm,
            seed: self.stage.seed_of(self.kernel, self.problem),
            budget_ns: self.share_ns(),
        }
    }

    /// The time in nanoseconds for each comparison. There is one comparison with the baseline, and one with each peer.
    fn share_ns(&self) -> u64 {
        self.budget_ns / (1 + self.stage.setting.peers.len() as u64)
    }

    fn baseline(&self, scene: &Scene<'_>) -> Result<Compiled, WatchError> {
        let made = self.stage.workshop.make(
            self.kernel,
            Which::Baseline,
            self.problem,
            BuildKind::Release,
        );
        let made = made.map_err(WatchError::Baseline)?;
        scene
            .verify(&self.kernel.spec, &made)
            .map_err(WatchError::Baseline)?;
        Ok(made)
    }

    fn survey(
        &self,
        scene: &Scene<'_>,
        made: &Compiled,
        baseline: Option<&Compiled>,
    ) -> Result<Survey, WatchError> {
        let (resolution, seed) = (
            self.stage.resolution(),
            self.stage.seed_of(self.kernel, self.problem),
        );
        let sides: Vec<_> = baseline
            .into_iter()
            .chain([made])
            .map(|side| &side.arm)
            .collect();
        let mut lab = scene.lab(&sides)?;
        let survey = if baseline.is_some() {
            let claim = Claim {
                defender: ArmId(0),
                challenger: ArmId(1),
            };
            let expected = stage::expected(&lab, claim.defender, claim.challenger);
            Survey::beside(claim, expected, resolution, seed)
        } else {
            Survey::of_one(ArmId(0), lab.span_ns(ArmId(0)), resolution, seed)
        };
        let mut survey = survey.within(self.share_ns());
        drive(&mut lab, &mut survey, &mut |_| {});
        Ok(survey)
    }
}

/// The arm of the kernel: the second arm if a separate baseline is timed, and otherwise the first.
fn arm_of(beside: bool) -> ArmId {
    ArmId(usize::from(beside))
}

fn beside(survey: &Survey) -> Option<BesideBaseline> {
    let evidence = survey.beside_baseline()?;
    let ratio = evidence.median_ratio?;
    Some(BesideBaseline {
        median_ns: survey.time(ArmId(0))?.median_ns.round() as u64,
        speedup: 1.0 / ratio,
        low: evidence.interval.map(|interval| 1.0 / interval.high),
        high: evidence.interval.map(|interval| 1.0 / interval.low),
    })
}
