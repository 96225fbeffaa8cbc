//! How a compiler's process ended. It can accept or reject the source, or end without a verdict on the source.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use crate::compiler::error::is_of_a_crash;

/// Messages of a compiler whose subprocess (`cc1plus` of g++, the linker of clang) was killed from outside.
const PART_ENDED: [&str; 6] = [
    "Killed signal terminated program",
    "Terminated signal terminated program",
    "Hangup signal terminated program",
    "Interrupt signal terminated program",
    "unable to execute command: Killed",
    "unable to execute command: Terminated",
];

/// Messages of a compiler that failed because the machine lacks a resource.
const MACHINE_SHORT: [&str; 6] = [
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Input/output error",
    "Too many open files",
    "Resource temporarily unavailable",
];

/// The end of a compiler's process without a verdict on the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoVerdict {
    /// How the process ended, for messages.
    pub how: String,
    /// Whether the compiler itself crashed; otherwise, something outside ended it.
    pub crashed: bool,
}

impl NoVerdict {
    /// Classifies the end of a failed process. Returns `None` if the compiler rejected the source.
    pub fn of(status: ExitStatus, log: &str) -> Option<NoVerdict> {
        if let Some(signal) = status.signal() {
            return Some(NoVerdict {
                how: format!("it ended by {status}"),
                crashed: is_of_a_crash(signal),
            });
        }
        let line = log.lines().find(|line| tells_of_the_machine(line))?;
        Some(NoVerdict {
            how: line.trim().to_owned(),
            crashed: false,
        })
    }
}

/// Whether a line contains one of the messages above. Lines that quote the source (` 12 | text`) are ignored.
fn tells_of_the_machine(line: &str) -> bool {
    let number = |c: char| c == ' ' || c.is_ascii_digit();
    let quotes = line.trim_start_matches(number).starts_with('|');
    let mut words = PART_ENDED.iter().chain(&MACHINE_SHORT);
    !quotes && words.any(|text| line.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn a_signal_from_outside_is_no_verdict_and_no_crash() {
        let killed = NoVerdict::of(ExitStatus::from_raw(9), "").unwrap();
        assert!(
            !killed.crashed && killed.how.contains("SIGKILL"),
            "{killed:?}"
        );
    }

    #[test]
    fn a_crash_is_told_from_a_kill() {
        let crashed = NoVerdict::of(ExitStatus::from_raw(11), "").unwrap();
        assert!(
            crashed.crashed && crashed.how.contains("SIGSEGV"),
            "{crashed:?}"
        );
    }

    #[test]
    fn a_killed_part_and_a_full_disk_are_no_verdict_whatever_the_exit_code() {
        for log in [
            "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
            "clang++: error: unable to execute command: Killed\n",
            "k.cu:3:1: fatal error: error writing to k.o: No space left on device\n",
            "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
        ] {
            let lost = NoVerdict::of(exited(1), log).expect(log);
            assert!(!lost.crashed && log.contains(&lost.how), "{lost:?}");
        }
    }

    #[test]
    fn a_rejected_source_is_a_verdict_also_where_it_quotes_such_words() {
        let log =
            "k.cu:2:5: error: unknown type name 'x'\n    2 | x(\"No space left on device\");\n";
        assert_eq!(NoVerdict::of(exited(1), log), None);
    }
}
