//! Converts the trials of a kernel to results.

use std::collections::BTreeMap;

use kiln_cache::record::FaultKind;
use kiln_cache::{Outcome, Trial, TuningKey};
use kiln_spec::{Config, KernelSpec, ParamValue, Problem, ProblemValue};
use serde_json::{Value, json};
use thiserror::Error;

use super::{ResultRow, Results};
use crate::recording::Invalidity;

/// Why a trial has no row in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[non_exhaustive]
pub enum LeftOut {
    /// The outcome of the trial says nothing about its config.
    #[error("{outcome}")]
    NoVerdict {
        /// Name of the outcome.
        outcome: &'static str,
    },
    /// The kernel does not have the config any more.
    #[error("its config is not a config of the current kernel")]
    UnknownConfig,
    /// The config has no value for a parameter.
    #[error("its config lacks a parameter")]
    MissingParam,
}

/// Results, and the number of trials that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exported {
    /// The results.
    pub results: Results,
    /// Number of trials that were left out, by reason.
    pub left_out: BTreeMap<LeftOut, usize>,
}

/// Converts the trials under a tuning key to results. A trial whose outcome says nothing about its config is left out
/// and counted.
pub fn of_trials(
    spec: &KernelSpec,
    problem: &Problem,
    key: &TuningKey,
    trials: &[Trial],
) -> Exported {
    let values = |param: &kiln_spec::TunableParam| param.values.iter().map(value).collect();
    let sizes = problem
        .iter()
        .map(|(name, value)| (name.to_string(), size(value)));
    let mut exported = Exported {
        results: Results {
            kernel: spec.entry.clone(),
            device: key.field("device.name").to_owned(),
            problem: sizes.collect(),
            params: spec
                .params
                .iter()
                .map(|param| (param.name.to_string(), values(param)))
                .collect(),
            environment: key
                .fields()
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            rows: Vec::new(),
        },
        left_out: BTreeMap::new(),
    };
    for trial in trials {
        match row(spec, trial) {
            Ok(row) => exported.results.rows.push(row),
            Err(why) => *exported.left_out.entry(why).or_default() += 1,
        }
    }
    let baseline = baseline(spec, trials);
    exported.results.rows.extend(baseline);
    exported
}

/// The row of the baseline. Every trial times a config together with the baseline, so the baseline normally has no
/// trial of its own. Its time is estimated from each trial by dividing the config's time by the config's ratio to the
/// baseline. The row contains the median of these estimates. `None` if the baseline is not a config of the space, if it
/// has a trial of its own, or if no trial has a ratio.
fn baseline(spec: &KernelSpec, trials: &[Trial]) -> Option<ResultRow> {
    let config = &spec.baseline.config;
    let text = config.to_string();
    if spec.baseline_is_another_entry() || trials.iter().any(|trial| trial.config == text) {
        return None;
    }
    let mut times: Vec<f64> = trials
        .iter()
        .filter_map(|trial| {
            let summary = trial.outcome.summary()?;
            let ratio = summary.ratio_ppm.filter(|ratio| *ratio > 0)?;
            Some(milliseconds(summary.median_ns) * 1e6 / ratio as f64)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let values = spec
        .params
        .iter()
        .map(|param| config.get(&param.name).map(value));
    let grade = trials.iter().find(|trial| trial.outcome.is_valid())?.grade;
    Some(ResultRow {
        values: values.collect::<Option<_>>()?,
        reason: Some("the baseline: times of the others over their ratios to it".into()),
        verified_against: Some(grade.to_string()),
        time_ms: Some(*times.get(times.len() / 2)?),
        ..ResultRow::default()
    })
}

fn value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Bool(x) => json!(x),
        ParamValue::Int(x) => json!(x),
        ParamValue::Choice(x) => json!(&**x),
    }
}

fn size(value: ProblemValue) -> Value {
    match value {
        ProblemValue::Size(x) => json!(x),
        ProblemValue::Type(x) => json!(x.name()),
    }
}

/// The row of a trial, or why the trial is left out.
fn row(spec: &KernelSpec, trial: &Trial) -> Result<ResultRow, LeftOut> {
    let config: Config = spec
        .parse_config(&trial.config)
        .map_err(|_| LeftOut::UnknownConfig)?;
    let values = spec
        .params
        .iter()
        .map(|param| config.get(&param.name).map(value));
    let values: Option<Vec<Value>> = values.collect();
    let invalidity = invalidity(&trial.outcome)
        .filter(|_| trial.stands())
        .ok_or(LeftOut::NoVerdict {
            outcome: trial.outcome.name(),
        })?;
    let summary = trial.outcome.summary();
    Ok(ResultRow {
        values: values.ok_or(LeftOut::MissingParam)?,
        invalidity,
        reason: summary.is_none().then(|| trial.outcome.to_string()),
        verified_against: summary.map(|_| trial.grade.to_string()),
        time_ms: summary.map(|summary| milliseconds(summary.median_ns)),
        shortest: summary.map(|summary| (summary.samples, milliseconds(summary.min_ns))),
        compile_ms: milliseconds(trial.compile_ns),
        verify_ms: milliseconds(trial.verify_ns),
        measure_ms: milliseconds(trial.measure_ns),
    })
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// The invalidity that T4 assigns to an outcome; `None` for an outcome that says nothing about the config.
fn invalidity(outcome: &Outcome) -> Option<Invalidity> {
    Some(match outcome {
        Outcome::Measured(_) => Invalidity::Correct,
        Outcome::Rejected { .. } => Invalidity::Constraints,
        Outcome::CompileFailed { .. } | Outcome::CompilerLost { .. } => Invalidity::Compile,
        Outcome::CompileTimedOut { .. } | Outcome::TimedOut { .. } => Invalidity::Timeout,
        Outcome::LaunchRefused { .. }
        | Outcome::OutOfMemory { .. }
        | Outcome::WrongLaunch { .. }
        | Outcome::WorkerLost { .. }
        | Outcome::Quarantined { .. } => Invalidity::Runtime,
        // A config with a race or an access out of bounds is wrong even if its outputs happen to be right. The other
        // faults stopped the launch.
        Outcome::KernelFault { text } => match FaultKind::of(text) {
            FaultKind::Race | FaultKind::OutOfBounds => Invalidity::Correctness,
            FaultKind::DivergentBarrier | FaultKind::Other => Invalidity::Runtime,
        },
        Outcome::Incorrect(_)
        | Outcome::Unwritten { .. }
        | Outcome::ReadsOutput { .. }
        | Outcome::NotANumber { .. }
        | Outcome::GuardHit { .. }
        | Outcome::InputChanged { .. } => Invalidity::Correctness,
        // The remaining outcomes say nothing about the config: an impossible time, a lost device, a full disk, or a
        // failure of Kiln.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Outcome {
        Outcome::KernelFault { text: text.into() }
    }

    fn assert_words<const N: usize>(cases: [(Outcome, Option<&str>); N]) {
        for (outcome, word) in cases {
            assert_eq!(
                invalidity(&outcome).map(Invalidity::name),
                word,
                "{outcome}"
            );
        }
    }

    #[test]
    fn outcomes_of_wrong_results_have_the_word_correctness() {
        assert_words([
            (fault("race: two writes"), Some("correctness")),
            (fault("out of bounds: y[7]"), Some("correctness")),
            (
                Outcome::Unwritten {
                    output: "y".into(),
                    index: 0,
                    count: 1,
                    len: 2,
                    inputs: None,
                },
                Some("correctness"),
            ),
            (
                Outcome::ReadsOutput {
                    output: "y".into(),
                    index: 0,
                },
                Some("correctness"),
            ),
            (
                Outcome::GuardHit { output: "y".into() },
                Some("correctness"),
            ),
            (
                Outcome::InputChanged { arg: "x".into() },
                Some("correctness"),
            ),
            (
                Outcome::NotANumber {
                    output: "y".into(),
                    index: 0,
                    inputs: None,
                },
                Some("correctness"),
            ),
        ]);
    }

    #[test]
    fn the_other_outcomes_have_the_word_of_t4_that_fits_them() {
        assert_words([
            (
                Outcome::Rejected {
                    constraint: "x".into(),
                },
                Some("constraints"),
            ),
            (Outcome::CompileTimedOut { limit_ns: 1 }, Some("timeout")),
            (Outcome::TimedOut { limit_ns: 1 }, Some("timeout")),
            (
                Outcome::LaunchRefused { reason: "x".into() },
                Some("runtime"),
            ),
            (Outcome::OutOfMemory { needed_bytes: None }, Some("runtime")),
            (
                Outcome::WorkerLost {
                    signal: Some(11),
                    detail: String::new(),
                },
                Some("runtime"),
            ),
            (fault("divergent barrier: line 3"), Some("runtime")),
            (fault("trap"), Some("runtime")),
            (Outcome::DiskFull { text: "x".into() }, None),
            (Outcome::NotInstalled { text: "x".into() }, None),
            (Outcome::DeviceLost { text: "x".into() }, None),
            (Outcome::Quarantined { strikes: 2 }, Some("runtime")),
            (
                Outcome::Internal {
                    message: "x".into(),
                },
                None,
            ),
        ]);
    }
}
