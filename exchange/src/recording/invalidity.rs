//! Why a config has no time, in the words of T4.

use std::fmt;

/// Why a config is invalid: the words that T4 has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invalidity {
    /// It is valid.
    #[default]
    Correct,
    /// It did not end in time: the launch, or the compiler.
    Timeout,
    /// The compiler refused it.
    Compile,
    /// It could not be launched, or ended with an error.
    Runtime,
    /// It computed something else.
    Correctness,
    /// A constraint or a limit of the device excludes it.
    Constraints,
}

impl Invalidity {
    /// Every word.
    pub const ALL: [Invalidity; 6] = [
        Invalidity::Correct,
        Invalidity::Timeout,
        Invalidity::Compile,
        Invalidity::Runtime,
        Invalidity::Correctness,
        Invalidity::Constraints,
    ];

    /// Its word in T4.
    pub fn name(self) -> &'static str {
        match self {
            Invalidity::Correct => "correct",
            Invalidity::Timeout => "timeout",
            Invalidity::Compile => "compile",
            Invalidity::Runtime => "runtime",
            Invalidity::Correctness => "correctness",
            Invalidity::Constraints => "constraints",
        }
    }

    /// The meaning of a word of T4.
    pub fn from_name(name: &str) -> Option<Invalidity> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Its name in a cache file of Kernel Tuner, which has three kinds of failure; `None` for a valid config.
    pub fn in_cache_files(self) -> Option<&'static str> {
        match self {
            Invalidity::Correct => None,
            Invalidity::Compile => Some("CompilationFailedConfig"),
            Invalidity::Constraints => Some("InvalidConfig"),
            Invalidity::Runtime | Invalidity::Timeout | Invalidity::Correctness => {
                Some("RuntimeFailedConfig")
            }
        }
    }

    /// The meaning of a text in place of a time, in a cache file of Kernel Tuner.
    pub fn of_cache_files(text: &str) -> Invalidity {
        match text {
            "CompilationFailedConfig" => Invalidity::Compile,
            "InvalidConfig" => Invalidity::Constraints,
            _ => Invalidity::Runtime,
        }
    }
}

impl fmt::Display for Invalidity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
