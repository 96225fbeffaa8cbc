//! The text of an outcome, for tables and messages.

use std::fmt;

use kiln_spec::time::Nanoseconds;

use super::outcome::{FaultKind, MaxError, Outcome};

impl fmt::Display for MaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}] is {}, but the {} says {} (error {}, bound {})",
            self.output, self.index, self.got, self.against, self.want, self.error, self.bound
        )?;
        With(&self.inputs).fmt(f)
    }
}

/// The inputs that did not have their usual values, as the end of a sentence.
struct With<'o>(&'o Option<Box<str>>);

impl fmt::Display for With<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(inputs) => write!(f, ", with {inputs}"),
            None => Ok(()),
        }
    }
}

impl Outcome {
    /// Whether the text names a problem, scalars or inputs.
    pub fn names_inputs(&self) -> bool {
        match self {
            Outcome::Incorrect(worst) => worst.inputs.is_some(),
            Outcome::NotANumber { inputs, .. } | Outcome::Unwritten { inputs, .. } => {
                inputs.is_some()
            }
            _ => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The text of these faults already contains the name of the kind.
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
            Outcome::OutOfMemory { needed_bytes: None } | Outcome::OutOfTime => Ok(()),
            Outcome::OutOfMemory {
                needed_bytes: Some(bytes),
            } => write!(f, ": {bytes} bytes needed"),
            Outcome::Incorrect(worst) => write!(f, ": {worst}"),
            Outcome::NotANumber {
                output,
                index,
                inputs,
            } => write!(f, ": {output}[{index}]{}", With(inputs)),
            Outcome::Unwritten {
                output,
                index,
                count,
                len,
                inputs,
            } => write!(
                f,
                ": {output}[{index}] ({count} of the {len} elements of `{output}`){}",
                With(inputs)
            ),
            Outcome::ReadsOutput { output, index } => write!(
                f,
                ": {output}[{index}] depends on what `{output}` contained before the launch; if the kernel reads \
                 `{output}` or adds to it, declare it as `#[inout]`"
            ),
            Outcome::KernelFault { text }
            | Outcome::NotComparable { text }
            | Outcome::DeviceLost { text }
            | Outcome::DiskFull { text }
            | Outcome::NotInstalled { text } => write!(f, ": {text}"),
            Outcome::GuardHit { output } => write!(f, ": wrote outside `{output}`"),
            Outcome::InputChanged { arg } => write!(f, ": `{arg}`"),
            Outcome::WrongLaunch { field, want, got } => {
                write!(f, ": {field} should be {want}, but the device saw {got}")
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
            Outcome::TooFast {
                what,
                measured,
                peak,
            } => write!(f, ": {measured} {what}, but the device's peak is {peak}"),
            Outcome::Quarantined { strikes } => write!(f, " after {strikes} strikes"),
            Outcome::Internal { message } => write!(f, ": {message}"),
        }
    }
}

/// The meaning of a signal in parentheses; empty for a signal that says nothing about the cause.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic fault)",
        9 => " (killed by another process or by the system, for example because memory ran out)",
        11 => " (invalid memory access)",
        24 => " (processor time limit)",
        _ => "",
    }
}

/// All lines of a message without control characters and blank lines, at most 4,000 characters. An [`Outcome`] stores
/// this text of messages whose later lines contain the location and the reason.
pub fn all_lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("\n");
    text.chars().take(4_000).collect()
}

/// The first non-empty line of a message without control characters, at most 300 characters. An [`Outcome`] stores this
/// line of a compiler's or a driver's message.
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
    fn a_message_is_cut_to_one_clean_line() {
        assert_eq!(one_line("\n  error: x\u{1b}[0m y\nmore"), "error: x[0m y");
        assert_eq!(one_line(&"x".repeat(10_000)).len(), 300);
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn a_message_keeps_the_lines_that_say_where() {
        assert_eq!(all_lines("a\n\n  b\u{1b}[0m \n"), "a\n  b[0m");
        assert_eq!(all_lines(&"x".repeat(10_000)).len(), 4_000);
    }
}
