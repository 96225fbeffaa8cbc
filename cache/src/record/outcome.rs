//! Outcomes of configs: a failed config is a value, not an error.

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
    /// baseline", less is faster); `None` if the baseline could not be measured.
    pub ratio_ppm: Option<u64>,
}

/// Attempts after which a compiler that crashes or does not end is taken for the config's fault.
pub const ATTEMPTS: u32 = 2;

/// The element at which an output differs most from the reference.
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
    /// The source of the expected value.
    #[serde(default, skip_serializing_if = "Against::is_reference")]
    pub against: Against,
}

/// The source of expected outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// A plain-Rust reference. Records of earlier programs do not say; they mean this.
    #[default]
    Reference,
    /// A launch of the entry that the spec names as reference.
    ReferenceEntry,
    /// A launch of the baseline, because there is no reference for the problem.
    Baseline,
}

impl Against {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
    fn is_reference(&self) -> bool {
        *self == Against::Reference
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Against::Reference => "reference",
            Against::ReferenceEntry => "reference entry",
            Against::Baseline => "baseline",
        })
    }
}

/// The kinds of fault that a kernel itself is found to have while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Two threads touch the same memory and nothing orders them.
    Race,
    /// A read or write outside an argument or shared array.
    OutOfBounds,
    /// A barrier that some threads of the block never reach.
    DivergentBarrier,
    /// Anything else: a trap, a failed assertion, an overrun stack.
    Other,
}

impl FaultKind {
    /// The kind of a fault, by its text: `race: …`, or `block (0,0,0) thread (1,0,0): race: …`. The device's text is
    /// stored as it is, so that nothing of it is lost; this is the only place that reads it.
    pub fn of(text: &str) -> FaultKind {
        let kinds = [
            FaultKind::Race,
            FaultKind::OutOfBounds,
            FaultKind::DivergentBarrier,
        ];
        let line = text.lines().next().unwrap_or_default();
        if line.contains("has not waited for its copy_async") {
            return FaultKind::Race;
        }
        let named = |kind: &FaultKind| {
            let begins = line.strip_prefix(kind.name());
            begins.is_some_and(|rest| rest.starts_with(':'))
                || line.contains(&format!("): {}: ", kind.name()))
        };
        kinds.into_iter().find(named).unwrap_or(FaultKind::Other)
    }

    /// A short name for tables and counts.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Race => "race",
            FaultKind::OutOfBounds => "out of bounds",
            FaultKind::DivergentBarrier => "divergent barrier",
            FaultKind::Other => "kernel fault",
        }
    }
}

/// The outcome of one config on one problem.
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
        /// Whether it crashed; otherwise an external cause ended it.
        crashed: bool,
    },
    /// The device refused the launch.
    LaunchRefused {
        /// The driver's reason.
        reason: String,
    },
    /// The device had too little memory.
    OutOfMemory {
        /// Bytes asked for, if known.
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
    /// The kernel left an element of an output as it was before the launch.
    Unwritten {
        /// Name of the output argument.
        output: String,
        /// Index of the first such element.
        index: u64,
        /// How many there are.
        count: u64,
        /// How many elements the output has.
        len: u64,
    },
    /// The kernel was stopped for a fault of its own: see [`FaultKind`].
    KernelFault {
        /// The device's whole text.
        text: String,
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
        /// The signal that ended it, if any.
        signal: Option<i32>,
        /// Its last message, or the device's; empty in records of earlier programs.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
    },
    /// The device answers no more: nothing can be said about the config.
    DeviceLost {
        /// The failure.
        text: String,
    },
    /// There was no room left on a disk: nothing can be said about the config.
    DiskFull {
        /// The file that could not be written, and the system's message.
        text: String,
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
        /// The failure.
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
                | Outcome::DeviceLost { .. }
                | Outcome::Quarantined { .. }
        )
    }

    /// Whether it is final for its config. If the compiler or Kiln failed, the next run tries the config again: up to
    /// [`ATTEMPTS`] times if the config may be at fault (a crash, a compile beyond its time), and always if the cause
    /// is external.
    pub fn stands(&self, attempt: u32) -> bool {
        match self {
            Outcome::CompilerLost { crashed: false, .. }
            | Outcome::DeviceLost { .. }
            | Outcome::DiskFull { .. } => false,
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
            Outcome::Unwritten { .. } => "never written",
            Outcome::KernelFault { text } => FaultKind::of(text).name(),
            Outcome::GuardHit { .. } => "guard hit",
            Outcome::InputChanged { .. } => "input changed",
            Outcome::WrongLaunch { .. } => "wrong launch",
            Outcome::TimedOut { .. } => "timed out",
            Outcome::WorkerLost { .. } => "worker lost",
            Outcome::DeviceLost { .. } => "device lost",
            Outcome::DiskFull { .. } => "disk full",
            Outcome::TooFast { .. } => "too fast",
            Outcome::Quarantined { .. } => "quarantined",
            Outcome::Internal { .. } => "internal error",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of such a fault has its name.
        if let Outcome::KernelFault { text } = self
            && FaultKind::of(text) != FaultKind::Other
        {
            return f.write_str(text);
        }
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
                ": {}[{}] is {}, the {} says {} (error {}, bound {})",
                e.output, e.index, e.got, e.against, e.want, e.error, e.bound
            ),
            Outcome::NotANumber { output, index } => write!(f, ": {output}[{index}]"),
            Outcome::Unwritten {
                output,
                index,
                count,
                len,
            } => write!(
                f,
                ": {output}[{index}] ({count} of the {len} elements of `{output}`)"
            ),
            Outcome::KernelFault { text } => write!(f, ": {text}"),
            Outcome::GuardHit { output } => write!(f, ": wrote outside `{output}`"),
            Outcome::InputChanged { arg } => write!(f, ": `{arg}`"),
            Outcome::WrongLaunch { field, want, got } => {
                write!(f, ": {field} should be {want}, the device saw {got}")
            }
            Outcome::WorkerLost { signal, detail } => {
                if let Some(signal) = signal {
                    write!(f, ": signal {signal}{}", signal_name(*signal))?;
                }
                if detail.is_empty() {
                    return Ok(());
                }
                write!(f, ": {detail}")
            }
            Outcome::DeviceLost { text } | Outcome::DiskFull { text } => write!(f, ": {text}"),
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

/// The meaning of a signal that ends a process, in brackets; empty for one that says nothing about the cause.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic fault)",
        9 => " (killed)",
        11 => " (invalid memory access)",
        24 => " (processor time limit)",
        _ => "",
    }
}

/// A message with all its lines, without other control characters and blank lines, at most 4,000 characters long. An
/// [`Outcome`] keeps this much of a text whose later lines give the place and the reason.
pub fn all_lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("\n");
    text.chars().take(4_000).collect()
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

    fn lost_by(signal: Option<i32>) -> Outcome {
        Outcome::WorkerLost {
            signal,
            detail: String::new(),
        }
    }

    #[test]
    fn only_a_measured_config_is_valid() {
        let summary = Summary {
            samples: 8,
            median_ns: 10,
            min_ns: 9,
            ratio_ppm: None,
        };
        assert!(Outcome::Measured(summary).is_valid());
        assert!(!lost_by(Some(11)).is_valid());
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
        assert!(lost_by(None).stands(1));
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
        let worst = MaxError {
            output: "c".into(),
            index: 7,
            got: Real(f64::INFINITY),
            want: Real(1.5),
            error: Real(f64::INFINITY),
            bound: Real(1e-5),
            against: Against::Reference,
        };
        let text = |against| {
            Outcome::Incorrect(MaxError {
                against,
                ..worst.clone()
            })
            .to_string()
        };
        assert_eq!(
            text(Against::Reference),
            "incorrect: c[7] is inf, the reference says 1.5 (error inf, bound 1e-5)"
        );
        assert_eq!(
            text(Against::Baseline),
            "incorrect: c[7] is inf, the baseline says 1.5 (error inf, bound 1e-5)"
        );
    }

    #[test]
    fn a_fault_of_a_kernel_is_named_by_its_kind_and_shown_with_every_line() {
        let fault = |text: &str| Outcome::KernelFault { text: text.into() };
        let barrier = "divergent barrier: it waits at a.cu:3\nhelp: all threads must reach it";
        assert_eq!(fault(barrier).name(), "divergent barrier");
        assert_eq!(fault(barrier).to_string(), barrier);
        assert_eq!(fault("race: two writes").name(), "race");
        let race = "block (0,0,0) thread (1,0,0): race: it writes `out`[0] at a.cu:3";
        assert_eq!(fault(race).name(), "race");
        assert_eq!(fault(race).to_string(), race);
        let copy = "block (0,0,0) thread (1,0,0): it reads `x`, but thread (0,0,0) has not waited for its copy_async";
        assert_eq!(fault(copy).name(), "race");
        assert_eq!(fault("out of bounds: y[7]").name(), "out of bounds");
        assert_eq!(fault("trap").to_string(), "kernel fault: trap");
    }

    #[test]
    fn a_lost_worker_keeps_its_signal_and_its_last_words() {
        let lost = Outcome::WorkerLost {
            signal: Some(11),
            detail: "kiln: y".into(),
        };
        assert_eq!(
            lost.to_string(),
            "worker lost: signal 11 (invalid memory access): kiln: y"
        );
        assert_eq!(lost_by(None).to_string(), "worker lost");
    }

    #[test]
    fn outcomes_of_earlier_programs_read_and_are_written_back_as_they_were() {
        let earlier = [
            r#"{"worker_lost":{"signal":11}}"#,
            r#"{"launch_refused":{"reason":"kernel `k` failed: trap"}}"#,
            r#"{"incorrect":{"output":"c","index":7,"got":"2.0","want":"1.0","error":"1.0","bound":"0.5"}}"#,
        ];
        for text in earlier {
            let outcome: Outcome = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
        }
    }

    #[test]
    fn a_message_keeps_the_lines_that_say_where() {
        assert_eq!(all_lines("a\n\n  b\u{1b}[0m \n"), "a\n  b[0m");
        assert_eq!(all_lines(&"x".repeat(10_000)).len(), 4_000);
    }
}
