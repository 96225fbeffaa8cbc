//! Converts the errors of compilers and worker processes to the [`Outcome`] that is stored. The worker itself decides
//! the outcome of a launch, in `worker/bench/failure.rs`.

use std::fmt::Display;
use std::io;
use std::path::Path;

use kiln::compiler::CompileError;
use kiln_cache::Outcome;
use kiln_cache::record::{all_lines, one_line};
use kiln_spec::Hash;

use crate::worker::WorkerError;
use kiln_project::atomic_file::without_path;

/// Messages of compilers and shells when a disk is full.
const NO_SPACE: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// The outcome of a config that does not compile.
pub fn of_compile_error(error: &CompileError) -> Outcome {
    let text = error.to_string();
    match error {
        CompileError::TimedOut { deadline, .. } => Outcome::CompileTimedOut {
            limit_ns: u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX),
        },
        // The source is not to blame for a full disk.
        CompileError::Failed { log, .. } if is_disk_full(log) => Outcome::DiskFull {
            text: all_lines(&text),
        },
        _ if is_disk_full(&text) => Outcome::DiskFull {
            text: all_lines(&text),
        },
        CompileError::Failed { log, .. } | CompileError::OutOfMemory { log, .. } => {
            Outcome::CompileFailed {
                // The advice that may follow the compiler's first error is kept.
                first_line: one_line(&text.replacen("\nhelp: ", "; ", 1)),
                log: Hash::of("compile log", log.as_bytes()),
            }
        }
        CompileError::Lost { how, crashed, .. } => Outcome::CompilerLost {
            how: one_line(how),
            crashed: *crashed,
        },
        CompileError::NotFound { .. } | CompileError::MissingHeader { .. } => {
            Outcome::NotInstalled {
                text: all_lines(&text),
            }
        }
        CompileError::Io { .. } => Outcome::CompilerLost {
            how: one_line(&text),
            crashed: false,
        },
        other => internal(other),
    }
}

/// The outcome of a candidate whose worker failed.
pub fn of_worker_error(error: &WorkerError) -> Outcome {
    match error {
        WorkerError::Failed { outcome, .. } => outcome.clone(),
        WorkerError::TimedOut(limit) => Outcome::TimedOut {
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        },
        WorkerError::Lost {
            how,
            signal,
            stderr,
        } => Outcome::WorkerLost {
            signal: *signal,
            detail: match signal {
                Some(_) => stderr.clone(),
                None if stderr.is_empty() => how.clone(),
                None => format!("{how}: {stderr}"),
            },
        },
        WorkerError::OutOfTime => Outcome::OutOfTime,
        WorkerError::Unkillable { .. } => Outcome::DeviceLost {
            text: error.to_string(),
        },
        WorkerError::Spawn(_) => internal(error),
    }
}

/// The outcome of a candidate if one of Kiln's own files could not be read or written.
pub fn of_io_error(path: &Path, error: &io::Error) -> Outcome {
    let text = format!("{}: {}", path.display(), without_path(error));
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Outcome::DiskFull { text },
        _ => internal(text),
    }
}

/// The outcome of a failure that is Kiln's or the machine's fault, not the candidate's.
pub fn internal(error: impl Display) -> Outcome {
    Outcome::Internal {
        message: all_lines(&error.to_string()),
    }
}

fn is_disk_full(text: &str) -> bool {
    NO_SPACE.iter().any(|said| text.contains(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_blamed_whoever_meets_it() {
        let path = Path::new("/cache/scratch/x");
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let outcome = of_io_error(path, &full);
        assert!(matches!(outcome, Outcome::DiskFull { .. }), "{outcome}");
        assert!(outcome.to_string().contains("/cache/scratch/x"));
        let other = of_io_error(path, &io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(other.name(), "internal error");
        let compiling = of_compile_error(&CompileError::io(
            "writing a unit",
            io::Error::from_raw_os_error(28),
        ));
        assert!(matches!(compiling, Outcome::DiskFull { .. }), "{compiling}");
        assert!(!compiling.stands(100));
    }

    #[test]
    fn the_advice_about_a_compilers_error_is_kept() {
        let outcome = of_compile_error(&CompileError::Failed {
            name: "k".into(),
            options: Vec::new(),
            log: "k.cu:1:10: fatal error: 'cuda/barrier' file not found\n 1 | #include\n".into(),
        });
        let said = outcome.to_string();
        let start = "compile failed: `k` does not compile: k.cu:1:10: fatal error: 'cuda/barrier' file not found; \
                     `<cuda/barrier>` is an NVIDIA header";
        assert!(said.starts_with(start), "{said}");
    }

    #[test]
    fn a_lost_worker_tells_its_signal_or_its_exit_code() {
        let lost = |signal: Option<i32>, stderr: &str| {
            of_worker_error(&WorkerError::Lost {
                how: "exit code 3".into(),
                signal,
                stderr: stderr.into(),
            })
            .to_string()
        };
        assert_eq!(lost(None, ""), "worker lost: exit code 3");
        assert_eq!(lost(None, "gone"), "worker lost: exit code 3: gone");
        assert_eq!(
            lost(Some(11), "gone"),
            "worker lost: signal 11 (invalid memory access): gone"
        );
    }
}
