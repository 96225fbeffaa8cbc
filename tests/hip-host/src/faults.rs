//! Scripted faults, for example `KILN_HIP_HOST_FAULTS=hipMalloc@2=2,kernel@3=700`.
//!
//! Each entry specifies a function, the number of a call, and the error that this call returns. In the example, the
//! second `hipMalloc` returns 2 (out of memory). `kernel` stands for a kernel that has started: the next
//! synchronisation returns its error. Errors that end the use of a GPU by a process are permanent, so every later call
//! returns them, too.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The scripted errors, and the number of calls of each function so far.
#[derive(Debug, Default)]
pub struct Faults {
    script: BTreeMap<(String, u64), i32>,
    calls: Mutex<BTreeMap<String, u64>>,
}

impl Faults {
    /// Parses a script.
    ///
    /// # Panics
    /// If the script is invalid, because the test would then prove nothing.
    pub fn parse(text: &str) -> Faults {
        let entries = text.split(',').filter(|entry| !entry.is_empty());
        let script = entries.map(|entry| {
            let parsed = entry.split_once('@').and_then(|(name, rest)| {
                let (number, code) = rest.split_once('=')?;
                Some(((name.to_owned(), number.parse().ok()?), code.parse().ok()?))
            });
            parsed.unwrap_or_else(|| {
                panic!("KILN_HIP_HOST_FAULTS: `{entry}` is not name@number=code")
            })
        });
        Faults {
            script: script.collect(),
            calls: Mutex::default(),
        }
    }

    /// Counts a call, and returns its scripted error, if any.
    pub fn next(&self, name: &str) -> Option<i32> {
        if self.script.is_empty() {
            return None;
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let number = calls.entry(name.to_owned()).or_default();
        *number += 1;
        self.script.get(&(name.to_owned(), *number)).copied()
    }
}

/// Whether an error is permanent for a process that uses a GPU.
pub fn is_sticky(code: i32) -> bool {
    matches!(code, 700 | 702 | 709 | 710 | 719 | 999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_that_was_named_fails_and_no_other() {
        let faults = Faults::parse("hipMalloc@2=2,kernel@1=700");
        assert_eq!(faults.next("hipMalloc"), None);
        assert_eq!(faults.next("hipMalloc"), Some(2));
        assert_eq!(faults.next("hipMalloc"), None);
        assert_eq!(faults.next("kernel"), Some(700));
        assert!(is_sticky(700) && !is_sticky(2));
    }

    #[test]
    #[should_panic(expected = "`hipMalloc=2` is not name@number=code")]
    fn a_script_of_another_form_is_no_script() {
        Faults::parse("hipMalloc=2");
    }
}
