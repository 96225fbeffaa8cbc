//! T4's reasons why a config has no time.

use std::fmt;

/// Why a config is invalid, as T4 classifies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Invalidity {
    /// The config is valid.
    #[default]
    Correct,
    /// The launch or the compiler exceeded its time limit.
    Timeout,
    /// The compiler reported an error.
    Compile,
    /// The config could not be launched, or its launch failed.
    Runtime,
    /// The outputs are wrong.
    Correctness,
    /// A constraint or a limit of the device excludes the config.
    Constraints,
}

impl Invalidity {
    /// Every variant.
    pub const ALL: [Invalidity; 6] = [
        Invalidity::Correct,
        Invalidity::Timeout,
        Invalidity::Compile,
        Invalidity::Runtime,
        Invalidity::Correctness,
        Invalidity::Constraints,
    ];

    /// The name in T4 files.
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

    /// The variant with this name in T4 files; `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Invalidity> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The name in cache files of Kernel Tuner, which distinguish three kinds of failure; `None` for a valid config.
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

    /// Maps the text that a cache file of Kernel Tuner has instead of a time.
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
