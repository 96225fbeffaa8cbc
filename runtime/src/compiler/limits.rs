//! The limits of one compile.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The environment variable that sets the time limit of a compile, in seconds.
const LIMIT_VARIABLE: &str = "KILN_COMPILE_LIMIT_S";

/// The time limit of a compile, unless the variable is set.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);

/// The longest time limit that the variable may set.
const MAX_SECONDS: u64 = 86_400;

/// The limits of one compile. If the compiler is a child process, it is killed with all its children at the deadline. A
/// compiler that runs inside this process (see [`Compiler::library`](crate::compiler::Compiler::library)) cannot be
/// killed; NVRTC 12.9 and later can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Maximum wall time of a child process, which [`Patience`](crate::supervise::Patience) extends on a busy machine;
    /// maximum CPU time of NVRTC inside this process.
    pub deadline: Duration,
    /// Maximum address space of each process, in bytes.
    pub memory_bytes: u64,
    /// The time at which the compile ends even on a busy machine; `None` for no such limit.
    pub until: Option<Instant>,
}

impl Default for CompileLimits {
    fn default() -> Self {
        CompileLimits {
            deadline: DEFAULT_DEADLINE,
            memory_bytes: 4 << 30,
            until: None,
        }
    }
}

impl CompileLimits {
    /// The limits with the deadline that the user has set with `KILN_COMPILE_LIMIT_S`.
    pub fn of_user() -> CompileLimits {
        static DEADLINE: OnceLock<Duration> = OnceLock::new();
        let deadline = *DEADLINE.get_or_init(|| {
            deadline_of_user().unwrap_or_else(|error| {
                // An invalid value does not make a launch fail. It makes `tune` fail.
                log::warn!(target: "kiln", "{error}");
                DEFAULT_DEADLINE
            })
        });
        CompileLimits {
            deadline,
            ..CompileLimits::default()
        }
    }
}

/// The time limit of a compile that the user has set.
///
/// # Errors
/// A message, if `KILN_COMPILE_LIMIT_S` is not a number of seconds.
pub fn deadline_of_user() -> Result<Duration, String> {
    match std::env::var_os(LIMIT_VARIABLE) {
        None => Ok(DEFAULT_DEADLINE),
        Some(text) => deadline_of(&text.to_string_lossy()),
    }
}

fn deadline_of(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(seconds @ 1..=MAX_SECONDS) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!(
            "{LIMIT_VARIABLE} is {text:?}, which is not a number of seconds from 1 to {MAX_SECONDS}\n\
             help: set it to a whole number such as 120, or unset it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_limit_is_a_whole_number_of_seconds_and_anything_else_an_error_that_shows_it() {
        assert_eq!(deadline_of("120"), Ok(120 * SECOND));
        for text in ["", "0", "2m", "-1", "86401"] {
            let error = deadline_of(text).unwrap_err();
            let start =
                format!("KILN_COMPILE_LIMIT_S is {text:?}, which is not a number of seconds");
            assert!(error.starts_with(&start), "{error}");
        }
    }
}
