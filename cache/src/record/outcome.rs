//! What became of a config: a failed config is a value, not an error.

use std::fmt;

use kiln_spec::Hash;
use kiln_spec::time::Nanoseconds;
use serde::{Deserialize, Serialize};

use super::real::Real;

/// The figures of one measured config. Raw samples are not kept: only a confirmed pair is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Samples taken before the race ended or dropped the config.
    pub samples: u32,
    /// Median time of one launch, in nanoseconds.
    pub median_ns: u64,
    /// Shortest time of one launch, in nanoseconds.
    pub min_ns: u64,
    /// Median of the paired ratios to the baseline, in millionths (1 000 000 is "as fast as the
    /// baseline", less is faster); none where the baseline could not be measured.
    pub ratio_ppm: Option<u64>,
}

/// Attempts after which a compiler that crashes or does not end is taken for the config's fault.
pub const ATTEMPTS: u32 = 2;

/// Where an output differs most from the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaxError {
    /// Name of the output argument.
    pub output: String,
    /// Index of the element.
    pub index: u64,
    /// The config's value.
    pub got: Real,
    /// The reference's value.
    pub want: Real,
    /// The error, in the measure of the tolerance.
    pub error: Real,
    /// The error that the tolerance allows.
    pub bound: Real,
}

/// What became of one config on one problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// Right, and timed: the only valid outcome.
    Measured(Summary),
    /// A constraint or a limit of the device excludes the config.
    Rejected {
        /// The constraint, as written.
        constraint: String,
    },
    /// The compiler refused it.
    CompileFailed {
        /// First line of the compiler's message.
        first_line: String,
        /// Hash of the whole log.
        log: Hash,
    },
    /// The compiler was cut off.
    CompileTimedOut {
        /// The limit, in nanoseconds.
        limit_ns: u64,
    },
    /// The compiler came to no verdict.
    CompilerLost {
        /// How it ended.
        how: String,
        /// Whether it crashed by itself; else something outside ended it.
        crashed: bool,
    },
    /// The device refused the launch.
    LaunchRefused {
        /// The driver's reason.
        reason: String,
    },
    /// The device had too little memory.
    OutOfMemory {
        /// Bytes asked for, where known.
        needed_bytes: Option<u64>,
    },
    /// An output is beyond the tolerance.
    Incorrect(MaxError),
    /// An output holds a NaN or an infinity that the reference does not.
    NotANumber {
        /// Name of the output argument.
        output: String,
        /// Index of the first such element.
        index: u64,
    },
    /// The kernel wrote outside an output.
    GuardHit {
        /// Name of the output argument.
        output: String,
    },
    /// The kernel changed an input.
    InputChanged {
        /// Name of the input argument.
        arg: String,
    },
    /// The receipt differs from the launch that was asked for.
    WrongLaunch {
        /// The field that differs, for example `block`.
        field: String,
        /// The value asked for.
        want: String,
        /// The value the device wrote.
        got: String,
    },
    /// The launch did not end within its deadline.
    TimedOut {
        /// The deadline, in nanoseconds.
        limit_ns: u64,
    },
    /// The worker process died.
    WorkerLost {
        /// The signal that ended it, where one did.
        signal: Option<i32>,
    },
    /// Faster than the device can be: an error of the measurement, not a record.
    TooFast {
        /// The quantity over its roofline, for example `GB/s`.
        what: String,
        /// The figure measured.
        measured: Real,
        /// The device's peak.
        peak: Real,
    },
    /// Not launched any more: it took a worker or the machine down before.
    Quarantined {
        /// How often.
        strikes: u32,
    },
    /// Kiln itself failed.
    Internal {
        /// What failed.
        message: String,
    },
}

impl Outcome {
    /// Whether the config was verified and timed, and so may become a winner.
    pub fn is_valid(&self) -> bool {
        matches!(self, Outcome::Measured(_))
    }

    /// Whether the launch cost a worker, so that it counts towards the quarantine.
    pub fn is_strike(&self) -> bool {
        matches!(
            self,
            Outcome::OutOfMemory { .. }
                | Outcome::TimedOut { .. }
                | Outcome::WorkerLost { .. }
                | Outcome::Quarantined { .. }
        )
    }

    /// Whether it stands as what is known of a config. Where the compiler came to no verdict the next run tries again: what
    /// may be the config's own fault (a crash, a compile beyond its time) [`ATTEMPTS`] times, what came from outside
    /// always.
    pub fn stands(&self, attempt: u32) -> bool {
        match self {
            Outcome::CompilerLost { crashed: false, .. } => false,
            Outcome::CompilerLost { .. }
            | Outcome::CompileTimedOut { .. }
            | Outcome::Internal { .. } => attempt >= ATTEMPTS,
            _ => true,
        }
    }

    /// The summary of a measured config.
    pub fn summary(&self) -> Option<&Summary> {
        match self {
            Outcome::Measured(summary) => Some(summary),
            _ => None,
        }
    }

    /// A short name for tables and counts.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Measured(_) => "measured",
            Outcome::Rejected { .. } => "rejected",
            Outcome::CompileFailed { .. } => "compile failed",
            Outcome::CompileTimedOut { .. } => "compile timed out",
            Outcome::CompilerLost { .. } => "compiler lost",
            Outcome::LaunchRefused { .. } => "launch refused",
            Outcome::OutOfMemory { .. } => "out of memory",
            Outcome::Incorrect(_) => "incorrect",
            Outcome::NotANumber { .. } => "not a number",
            Outcome::GuardHit { .. } => "guard hit",
            Outcome::InputChanged { .. } => "input changed",
            Outcome::WrongLaunch { .. } => "wrong launch",
            Outcome::TimedOut { .. } => "timed out",
            Outcome::WorkerLost { .. } => "worker lost",
            Outcome::TooFast { .. } => "too fast",
            Outcome::Quarantined { .. } => "quarantined",
            Outcome::Internal { .. } => "internal error",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Outcome::Measured(s) => {
                write!(f, ": median {} ns, {} samples", s.median_ns, s.samples)
            }
            Outcome::Rejected { constraint } => write!(f, " by `{constraint}`"),
            Outcome::CompileFailed { first_line, .. } => write!(f, ": {first_line}"),
            Outcome::CompileTimedOut { limit_ns } | Outcome::TimedOut { limit_ns } => {
                write!(f, " after {}", Nanoseconds(*limit_ns))
            }
            Outcome::CompilerLost { how, .. } => write!(f, ": {how}"),
            Outcome::LaunchRefused { reason } => write!(f, ": {reason}"),
            Outcome::OutOfMemory { needed_bytes: None } => Ok(()),
            Outcome::OutOfMemory {
                needed_bytes: Some(bytes),
            } => write!(f, ": {bytes} bytes needed"),
            Outcome::Incorrect(e) => write!(
                f,
                ": {}[{}] is {}, the reference says {} (error {}, bound {})",
                e.output, e.index, e.got, e.want, e.error, e.bound
            ),
            Outcome::NotANumber { output, index } => write!(f, ": {output}[{index}]"),
            Outcome::GuardHit { output } => write!(f, ": wrote outside `{output}`"),
            Outcome::InputChanged { arg } => write!(f, ": `{arg}`"),
            Outcome::WrongLaunch { field, want, got } => {
                write!(f, ": {field} should be {want}, the device saw {got}")
            }
            Outcome::WorkerLost { signal: None } => Ok(()),
            Outcome::WorkerLost {
                signal: Some(signal),
            } => write!(f, ": signal {signal}"),
            Outcome::TooFast {
                what,
                measured,
                peak,
            } => write!(f, ": {measured} {what}, the device's peak is {peak}"),
            Outcome::Quarantined { strikes } => write!(f, " after {strikes} strikes"),
            Outcome::Internal { message } => write!(f, ": {message}"),
        }
    }
}

/// The first line of a message, without control characters, at most 300 characters long: what an
/// [`Outcome`] keeps of a compiler's or a driver's text.
pub fn one_line(text: &str) -> String {
    let line = text
        .lines()
        .map(str::trim)
        .find(|l| !l.is_empty())
        .unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_measured_config_is_valid() {
        let summary = Summary {
            samples: 8,
            median_ns: 10,
            min_ns: 9,
            ratio_ppm: None,
        };
        assert!(Outcome::Measured(summary).is_valid());
        assert!(!Outcome::WorkerLost { signal: Some(11) }.is_valid());
        assert!(!Outcome::Quarantined { strikes: 2 }.is_valid());
    }

    #[test]
    fn what_no_compiler_judged_does_not_stand_and_a_crash_stands_after_two_attempts() {
        let lost = |crashed| Outcome::CompilerLost {
            how: "it ended by signal: 9 (SIGKILL)".into(),
            crashed,
        };
        assert!(!lost(false).stands(1) && !lost(false).stands(100));
        assert!(!lost(true).stands(1) && lost(true).stands(2));
        let slow = Outcome::CompileTimedOut { limit_ns: 1 };
        assert!(!slow.stands(1) && slow.stands(2));
        assert!(Outcome::WorkerLost { signal: None }.stands(1));
        assert!(lost(false).to_string().contains("SIGKILL"));
    }

    #[test]
    fn a_limit_is_shown_in_its_own_unit_and_stored_in_nanoseconds() {
        let hung = Outcome::TimedOut {
            limit_ns: 2_500_000_000,
        };
        assert_eq!(hung.to_string(), "timed out after 2.5 s");
        let stored = serde_json::to_string(&hung).unwrap();
        assert_eq!(stored, r#"{"timed_out":{"limit_ns":2500000000}}"#);
        let slow = Outcome::CompileTimedOut {
            limit_ns: 60_000_000_000,
        };
        assert_eq!(slow.to_string(), "compile timed out after 60 s");
    }

    #[test]
    fn a_message_is_cut_to_one_clean_line() {
        assert_eq!(one_line("\n  error: x\u{1b}[0m y\nmore"), "error: x[0m y");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), 300);
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn an_incorrect_outcome_names_both_values() {
        let text = Outcome::Incorrect(MaxError {
            output: "c".into(),
            index: 7,
            got: Real(f64::INFINITY),
            want: Real(1.5),
            error: Real(f64::INFINITY),
            bound: Real(1e-5),
        })
        .to_string();
        assert_eq!(
            text,
            "incorrect: c[7] is inf, the reference says 1.5 (error inf, bound 1e-5)"
        );
    }
}
