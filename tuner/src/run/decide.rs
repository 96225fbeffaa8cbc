//! Decides between the configs that raced and the baseline: play-off, check build, and confirmation on new data.

use std::time::{Duration, Instant};

use kiln_cache::record::{self, ConfirmProcess, KeptReason, RecordedBaseline, Verdict};
use kiln_cache::{Outcome, TrialId, Winner};
use kiln_spec::Hash;

use crate::progress::Stage;
use crate::run::budget::Slice;
use crate::run::clock::nanoseconds;
use crate::run::context::RunContext;
use crate::run::evaluate::{Contender, Evaluator};
use crate::run::series::Series;
use crate::run::trials::EvaluateError;
use kiln_lab::WorkerLab;
use kiln_lab::candidate::Compiled;
use kiln_lab::check::Checked;
use kiln_measure::confirm::{ClaimTest, ProcessRecord, TestStatistics};
use kiln_measure::span::Resolution;
use kiln_measure::tournament::Finalist;
use kiln_measure::{ArmId, Claim, ConfirmSettings, Decision, Doubt, Lab as _, Opening};

/// Maximum number of finalists (best configs of a race) that may fail before the baseline is kept.
const MAX_FINALISTS: usize = 40;

/// Number of launches in the soak test, which launches a finalist many times in one process because some faults appear
/// late. There are fewer launches if they would take longer than [`SOAK_TIME`].
const SOAK_LAUNCHES: u64 = 2_000;

/// Maximum time of the soak test.
const SOAK_TIME: Duration = Duration::from_secs(2);

/// The soak test may take at most the time that remains for confirming, divided by this number.
const SOAK_SHARE: u32 = 6;

/// Number of samples in an ABBA or BAAB block.
const BLOCK: usize = 4;

/// The decision for a task, and whether it is final.
#[derive(Clone, Debug)]
pub struct TaskRuling {
    /// The decision in the form in which the cache stores it: a proven config, or the kept baseline.
    pub winner: Winner,
    /// Whether the decision is final. It is not final if the time ended first.
    pub settled: bool,
}

/// Decides between the best config and the baseline.
///
/// # Errors
/// If the baseline fails, the device is lost or a record cannot be stored.
pub fn decide(
    evaluator: &mut Evaluator<'_>,
    baseline: &Compiled,
    slice: Slice,
) -> Result<TaskRuling, EvaluateError> {
    for _ in 0..MAX_FINALISTS {
        let Some((finalist, contender)) = finalist(evaluator, slice)? else {
            break;
        };
        // The earlier proof is read after the checks of the finalists, because a config that fails a check loses its
        // proof.
        let standing = standing(evaluator)?;
        if let Some(winner) = &standing {
            let is_finalist = winner.config == contender.config.to_string();
            // Although the finalist is faster than the baseline, it may be slower than the proven winner if it did not
            // race against that winner.
            if is_finalist || !evaluator.has_raced(&winner.config) {
                return Ok(TaskRuling {
                    winner: winner.clone(),
                    settled: is_finalist,
                });
            }
        }
        match confirm(evaluator, baseline, &finalist, &contender, slice)? {
            Ok(ruling) => return Ok(ruling.or_standing(standing)),
            Err(outcome) => evaluator.disown(&contender, outcome)?,
        }
    }
    let raced = evaluator.tournament.raced();
    let reason = if raced.iter().any(|raced| raced.arm != ArmId(0)) {
        KeptReason::NothingFaster
    } else {
        KeptReason::NothingValid
    };
    let kept = kept(evaluator, baseline, reason, None);
    Ok(TaskRuling {
        winner: standing(evaluator)?.unwrap_or(kept),
        settled: true,
    })
}

impl TaskRuling {
    /// Keeps an earlier proof if a later config could not be proven.
    fn or_standing(self, standing: Option<Winner>) -> TaskRuling {
        match (&self.winner.verdict, standing) {
            (Verdict::BaselineKept { .. }, Some(winner)) => TaskRuling { winner, ..self },
            _ => self,
        }
    }
}

/// The best config that also passes the checks of a finalist; `None` if no config does.
fn finalist(
    evaluator: &mut Evaluator<'_>,
    slice: Slice,
) -> Result<Option<(Finalist, Contender)>, EvaluateError> {
    for _ in 0..MAX_FINALISTS {
        let budget_ns = slice
            .confirm_left()
            .map_or(u64::MAX, |left| nanoseconds(left / 3));
        let found =
            evaluator
                .tournament
                .play_off(&mut evaluator.lab, budget_ns, &mut evaluator.rng)?;
        evaluator.disown_faulted(&[])?;
        let Some(finalist) = found else {
            return Ok(None);
        };
        let Some(contender) = evaluator.contender(finalist.arm).cloned() else {
            return Ok(None);
        };
        let found = evaluator.verify_finalist(&contender);
        let found = found.or_else(|| check(evaluator, &contender));
        let found = match found {
            None => soak(evaluator, &contender, slice)?,
            failed => failed,
        };
        match found {
            None => return Ok(Some((finalist, contender))),
            Some(outcome) => evaluator.disown(&contender, outcome)?,
        }
    }
    Ok(None)
}

/// Runs the check build of a finalist on the cpu device. The check build finds races that depend on the order of the
/// threads, accesses outside buffers, divergent barriers, and shared memory that is read before it is written. Returns
/// the outcome if the finalist fails.
fn check(evaluator: &mut Evaluator<'_>, contender: &Contender) -> Option<Outcome> {
    match evaluator.check(contender) {
        Checked::Passed { remark } => {
            evaluator.remark = evaluator.remark.take().or(remark);
            None
        }
        Checked::Failed(failed) => Some(failed.outcome),
        Checked::NotChecked(why) => {
            evaluator.unchecked = Some(why);
            None
        }
    }
}

/// Launches a finalist many times in one process, because some faults appear late. Returns the outcome if the finalist
/// fails.
fn soak(
    evaluator: &mut Evaluator<'_>,
    contender: &Contender,
    slice: Slice,
) -> Result<Option<Outcome>, EvaluateError> {
    let arm = contender.arm;
    let affordable = slice.confirm_left().map(|left| left / SOAK_SHARE);
    let longest = affordable.map_or(SOAK_TIME, |time| time.min(SOAK_TIME));
    let opening = Opening {
        load: vec![arm],
        allocate: vec![arm],
    };
    let soak = |lab: &mut WorkerLab| {
        let mut session = lab.open(&opening)?;
        // The limit is wall time, because a launch on the fake device takes longer than it reports.
        let start = Instant::now();
        let mut launches = 0;
        while launches < SOAK_LAUNCHES && start.elapsed() < longest {
            let samples = session.run(&[arm])?;
            launches += samples
                .iter()
                .map(|sample| u64::from(sample.launches))
                .sum::<u64>()
                .max(1);
        }
        session.finish()
    };
    let rechecks = evaluator.cases.only_final().is_empty();
    evaluator.lab.set_rechecks(true);
    let soaked = soak(&mut evaluator.lab);
    evaluator.lab.set_rechecks(rechecks);
    match soaked {
        Ok(()) => Ok(None),
        Err(fault) if fault.arm == Some(arm) => Ok(Some(fault.outcome)),
        Err(fault) => Err(fault.into()),
    }
}

/// The winner that was proven earlier, in this run or in an earlier run. Returns `None` if its config has failed since,
/// or if its outputs were verified with weaker evidence than this run has, or with another reference. A proof rests on measurements of its own,
/// not on the race, so it stays valid if the config later loses a race or if there is no time for a race.
pub(super) fn standing(evaluator: &Evaluator<'_>) -> Result<Option<Winner>, EvaluateError> {
    let (key, cache) = (evaluator.task.key.hash(), evaluator.context.cache);
    let Some(winner) = cache.winner(key)? else {
        return Ok(None);
    };
    let id = TrialId {
        key,
        config: winner.config.clone(),
    };
    let sound = cache.trial(&id)?;
    let (grade, reference) = (evaluator.trials.grade, evaluator.trials.reference);
    let sound = sound.is_some_and(|trial| {
        trial.outcome.summary().is_some() && trial.stands_for(grade, reference)
    });
    let proven = matches!(winner.verdict, Verdict::Proven { .. });
    let verified = winner.grade.is_as_strong_as(grade);
    Ok((proven && sound && verified).then_some(winner))
}

/// Confirms a finalist on new data. The inner error is the outcome of a finalist that fails during confirmation.
fn confirm(
    evaluator: &mut Evaluator<'_>,
    baseline: &Compiled,
    finalist: &Finalist,
    contender: &Contender,
    slice: Slice,
) -> Result<Result<TaskRuling, Outcome>, EvaluateError> {
    let context = evaluator.context;
    let id = TrialId {
        key: evaluator.task.key.hash(),
        config: contender.config.to_string(),
    };
    let claim = Claim {
        defender: ArmId(0),
        challenger: finalist.arm,
    };
    let settings = settings(context, finalist, slice);
    let (series, mut test) = Series::begin(context, &id, |seed| {
        let settings = ConfirmSettings { seed, ..settings };
        ClaimTest::new(claim, finalist.expected, settings)
    })?;
    context
        .reporter
        .stage(Stage::Confirm, u64::from(settings.most_processes));
    run_processes(evaluator, &mut test, &series, |process, record| {
        process_record(
            &id,
            series.number,
            process,
            series.seed,
            claim,
            contender,
            record,
        )
    })?;
    let verdict = test.verdict();
    let confirm = recorded(&verdict.evidence);
    let reason = match &verdict.decision {
        Decision::Faster => {
            context.claims.proved();
            return Ok(Ok(proven(
                evaluator, contender, baseline, &verdict, confirm,
            )));
        }
        Decision::NotProven => KeptReason::NotProven,
        Decision::Inconclusive(Doubt::Faulted(fault)) if fault.arm == Some(finalist.arm) => {
            return Ok(Err(fault.outcome.clone()));
        }
        Decision::Inconclusive(Doubt::Faulted(fault)) => {
            if fault.ends_the_run() {
                return Err(fault.clone().into());
            }
            context.reporter.notice(&format!(
                "{}: the baseline failed while `{}` was confirmed: {}",
                evaluator.task.name(),
                contender.config,
                fault.outcome
            ));
            KeptReason::Inconclusive
        }
        Decision::Inconclusive(_) => KeptReason::Inconclusive,
    };
    let settled = reason == KeptReason::NotProven;
    Ok(Ok(TaskRuling {
        winner: kept(evaluator, baseline, reason, confirm),
        settled,
    }))
}

/// The settings for confirming a finalist in the time that remains.
fn settings(context: &RunContext<'_>, finalist: &Finalist, slice: Slice) -> ConfirmSettings {
    let resolution = Resolution {
        tick_ns: context.info.timer_tick_ns,
    };
    let mut settings = ConfirmSettings::new(resolution, context.options.seed);
    settings.claims = context.claims.next();
    let left = slice.confirm_left_of(1.0 / finalist.expected.ratio.max(1e-9));
    settings.budget_ns = left.map_or(u64::MAX, nanoseconds);
    settings
}

/// Runs the processes of a confirmation that are still missing from its series, and stores each one.
fn run_processes(
    evaluator: &mut Evaluator<'_>,
    test: &mut ClaimTest,
    series: &Series,
    entry: impl Fn(u32, &ProcessRecord) -> ConfirmProcess,
) -> Result<(), EvaluateError> {
    let context = evaluator.context;
    let mut stored = Ok(());
    let mut process = series.processes;
    let mut clocks_told = Vec::new();
    kiln_measure::drive(&mut evaluator.lab, test, &mut |record| {
        context.reporter.step();
        let entry = entry(process, record);
        process += 1;
        clocks_told.extend(entry.clock_khz.into_iter().flatten());
        if stored.is_ok() {
            stored = context.cache.confirm_process(entry);
        }
    });
    stored?;
    say_clocks(evaluator, clocks_told);
    Ok(())
}

/// Converts the evidence of a confirmation to the form in which it is stored; `None` if no ratio was measured.
fn recorded(evidence: &TestStatistics) -> Option<record::Confirm> {
    let ratio = evidence.median_ratio?;
    let (low, high) = evidence
        .interval
        .map_or((ratio, ratio), |interval| (interval.low, interval.high));
    Some(record::Confirm {
        processes: evidence.processes,
        wins: evidence.wins,
        median_log_ratio_ppm: log_ppm(ratio),
        low_log_ratio_ppm: log_ppm(low),
        high_log_ratio_ppm: log_ppm(high),
    })
}

/// Prints a notice if the device ran at different clock frequencies during the confirmation. The ratios remain valid,
/// because the samples of both sides alternate, but the printed times may be from either frequency.
fn say_clocks(evaluator: &Evaluator<'_>, told_khz: Vec<u32>) {
    let ends = told_khz.iter().min().zip(told_khz.iter().max());
    let Some((&slowest, &fastest)) =
        ends.filter(|(slowest, fastest)| **fastest > **slowest / 100 * 105)
    else {
        return;
    };
    evaluator.context.reporter.notice(&format!(
        "{}: the device's clock was {} to {} MHz while the finalist was confirmed: its times may be from either \
         clock, but the ratios remain valid",
        evaluator.task.name(),
        slowest / 1000,
        fastest / 1000
    ));
}

fn proven(
    evaluator: &Evaluator<'_>,
    contender: &Contender,
    baseline: &Compiled,
    verdict: &kiln_measure::ClaimResult,
    confirm: Option<record::Confirm>,
) -> TaskRuling {
    // The ratio is the config's time divided by the baseline's time. The speed-up is the inverse, so the ends of the
    // interval are swapped.
    let ppm = |ratio: f64| (1e6 / ratio.max(1e-9)).round() as u64;
    let ratio = verdict.evidence.median_ratio.unwrap_or(1.0);
    let (low, high) = verdict
        .evidence
        .interval
        .map_or((ratio, ratio), |interval| (interval.low, interval.high));
    let arm = &contender.compiled.arm;
    let winner = Winner {
        config: contender.config.to_string(),
        verdict: Verdict::Proven {
            speedup_ppm: ppm(ratio),
            low_ppm: ppm(high),
            high_ppm: ppm(low),
        },
        confirm,
        receipt: contender.receipt,
        plan: arm.plan,
        symbol: arm.release.clone(),
        ..kept(evaluator, baseline, KeptReason::NotProven, confirm)
    };
    TaskRuling {
        winner,
        settled: true,
    }
}

/// The decision that keeps the baseline.
fn kept(
    evaluator: &Evaluator<'_>,
    baseline: &Compiled,
    reason: KeptReason,
    confirm: Option<record::Confirm>,
) -> Winner {
    let (task, spec) = (evaluator.task, &evaluator.task.kernel.spec);
    Winner {
        kernel: spec.name.clone(),
        problem: task.problem.to_string(),
        device: evaluator.context.info.key.clone(),
        key: task.key.hash(),
        config: baseline.arm.config.to_string(),
        baseline: if spec.baseline_is_another_entry() {
            RecordedBaseline::Entry {
                entry: spec.baseline.entry.clone(),
            }
        } else {
            RecordedBaseline::Config {
                config: baseline.arm.config.to_string(),
            }
        },
        verdict: Verdict::BaselineKept { reason },
        confirm,
        receipt: Hash::of("receipts", b"baseline"),
        plan: baseline.arm.plan,
        symbol: baseline.arm.release.clone(),
        grade: evaluator.trials.grade,
    }
}

fn process_record(
    id: &TrialId,
    series: u64,
    process: u32,
    seed: u64,
    claim: Claim,
    contender: &Contender,
    record: &ProcessRecord,
) -> ConfirmProcess {
    let blocks = record
        .asked
        .plan
        .chunks(BLOCK)
        .zip(record.samples.chunks(BLOCK));
    let block = |(arms, samples): (&[ArmId], &[kiln_measure::Sample])| {
        let mean = |side: ArmId| {
            let logs = arms
                .iter()
                .zip(samples)
                .filter(|(arm, _)| **arm == side)
                .map(|(_, sample)| sample.log_ns());
            let (sum, count) = logs.fold((0.0, 0.0), |(sum, count), log| (sum + log, count + 1.0));
            sum / f64::max(count, 1.0)
        };
        ((mean(claim.challenger) - mean(claim.defender)) * 1e6).round() as i64
    };
    ConfirmProcess {
        key: id.key,
        config: id.config.clone(),
        series,
        process,
        seed,
        block_log_ratio_ppm: blocks.map(block).collect(),
        discarded_blocks: 0,
        receipt: contender.receipt,
        clock_khz: clocks(record),
    }
}

/// The slowest and the fastest clock, in kHz, that the device reported during a process; `None` if it reported none.
fn clocks(record: &ProcessRecord) -> Option<[u32; 2]> {
    let clocks = || record.samples.iter().filter_map(|sample| sample.clock_khz);
    Some([clocks().min()?, clocks().max()?])
}

/// The logarithm of a ratio, in millionths.
fn log_ppm(ratio: f64) -> i64 {
    (ratio.ln() * 1e6).round() as i64
}
