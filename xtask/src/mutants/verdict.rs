//! The verdict on a mutation: whether its test catches it.

use std::fmt;

use super::list::Test;
use super::trial::Tried;

/// The verdict on a mutation.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The test failed with the mutation, as it must.
    Caught {
        /// The test that failed.
        test: Test,
        /// How long the test ran, in seconds.
        seconds: f64,
    },
    /// The test passed or was skipped with the mutation.
    Survived(Test),
    /// The text to replace does not occur exactly once, or the replacement is invalid.
    DoesNotApply(String),
    /// The mutation does not build. Contains the errors of the compiler.
    DoesNotBuild(String),
    /// The test is inconclusive. It does not pass without the mutation, or it neither passes nor fails with it.
    SaysNothing(String),
}

impl Verdict {
    /// The verdict after the test ran without the mutation; `None` if it passed.
    pub fn without(tried: Tried) -> Option<Verdict> {
        let why = match tried {
            Tried::Passed => return None,
            Tried::Failed { .. } => "the test fails without it".to_owned(),
            Tried::NotThere => "there is no such test".to_owned(),
            Tried::Skipped(reason) => format!("the test skips itself here: {reason}"),
            Tried::Endless => "the test does not end without it".to_owned(),
        };
        Some(Verdict::SaysNothing(why))
    }

    /// The verdict after the test ran with the mutation.
    pub fn with(tried: Tried, test: &Test) -> Verdict {
        let test = test.clone();
        match tried {
            Tried::Failed { seconds } => Verdict::Caught { test, seconds },
            Tried::Passed | Tried::Skipped(_) => Verdict::Survived(test),
            Tried::NotThere => Verdict::SaysNothing("the test is gone with it".into()),
            Tried::Endless => Verdict::SaysNothing("the test does not end with it".into()),
        }
    }

    /// Whether the test caught the mutation.
    pub fn is_caught(&self) -> bool {
        matches!(self, Verdict::Caught { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Caught { test, seconds } => write!(f, "caught by {test} in {seconds:.1} s"),
            Verdict::Survived(test) => write!(f, "SURVIVED: {test} passes"),
            Verdict::DoesNotApply(why) => write!(f, "does not apply: {why}"),
            Verdict::DoesNotBuild(error) => write!(f, "does not build: {}", error.trim_end()),
            Verdict::SaysNothing(why) => f.write_str(why),
        }
    }
}
