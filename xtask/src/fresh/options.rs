//! The options of `cargo xtask fresh`.

use std::path::PathBuf;

use crate::step;

/// A single command of the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// `cargo tune`.
    Tune,
    /// `cargo xtask test`.
    Test,
}

/// The C++ compiler that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// Debian's `g++`.
    Gcc,
    /// The newest clang of the release, without g++.
    Clang,
}

/// A release of Debian, from the oldest g++ to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Debian 12: g++ 12, clang 19, Python 3.11.
    Bookworm,
    /// Debian 13: g++ 14, clang 19, Python 3.13.
    Trixie,
    /// Debian 14, in testing when this was written: g++ 16, clang 22, Python 3.14.
    Forky,
}

impl Release {
    /// The name under which mirrors have the release.
    pub fn name(self) -> &'static str {
        match self {
            Release::Bookworm => "bookworm",
            Release::Trixie => "trixie",
            Release::Forky => "forky",
        }
    }

    /// The version of the newest clang in the release.
    pub fn clang(self) -> u32 {
        match self {
            Release::Bookworm | Release::Trixie => 19,
            Release::Forky => 22,
        }
    }

    /// The version of the newest g++ in the release, whose standard library clang uses.
    pub fn gcc(self) -> u32 {
        match self {
            Release::Bookworm => 12,
            Release::Trixie => 14,
            Release::Forky => 16,
        }
    }
}

/// The options of `cargo xtask fresh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The only command to run; `None` for both commands.
    pub only: Option<Only>,
    /// The C++ compiler that the machine has.
    pub compiler: Compiler,
    /// The release of Debian that the machine has.
    pub debian: Release,
    /// Whether the machine is kept after the run.
    pub keep: bool,
    /// The folder in which the machine and the log are created.
    pub folder: PathBuf,
}

impl Options {
    /// Parses the words after `fresh`.
    ///
    /// # Errors
    /// If a word is not valid. The message lists the valid words.
    pub fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options {
            only: None,
            compiler: Compiler::Gcc,
            debian: Release::Bookworm,
            keep: false,
            folder: step::root().join("target/fresh"),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || {
                let value = words.next().copied();
                value.ok_or_else(|| format!("`{word}` needs a value"))
            };
            match word {
                "--keep" => options.keep = true,
                "--dir" => options.folder = value()?.into(),
                "--only" => options.only = Some(only(value()?)?),
                "--compiler" => options.compiler = compiler(value()?)?,
                "--debian" => options.debian = release(value()?)?,
                other => {
                    let known = "--only, --compiler, --debian, --keep or --dir";
                    return Err(format!(
                        "unknown option `{other}` of fresh; it takes {known}"
                    ));
                }
            }
        }
        options.folder = std::path::absolute(&options.folder)
            .map_err(|error| format!("{}: {error}", options.folder.display()))?;
        Ok(options)
    }
}

fn only(value: &str) -> Result<Only, String> {
    match value {
        "tune" => Ok(Only::Tune),
        "test" => Ok(Only::Test),
        other => Err(format!("`--only {other}`: it is `tune` or `test`")),
    }
}

fn compiler(value: &str) -> Result<Compiler, String> {
    match value {
        "g++" => Ok(Compiler::Gcc),
        "clang" => Ok(Compiler::Clang),
        other => Err(format!("`--compiler {other}`: it is `g++` or `clang`")),
    }
}

fn release(value: &str) -> Result<Release, String> {
    let mut releases = [Release::Bookworm, Release::Trixie, Release::Forky].into_iter();
    releases
        .find(|release| release.name() == value)
        .ok_or_else(|| format!("`--debian {value}`: it is `bookworm`, `trixie` or `forky`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_are_named() {
        let words = "--only test --compiler clang --debian forky --dir /x";
        let words: Vec<&str> = words.split(' ').collect();
        let read = Options::parse(&words);
        let want = Options {
            only: Some(Only::Test),
            compiler: Compiler::Clang,
            debian: Release::Forky,
            keep: false,
            folder: "/x".into(),
        };
        assert_eq!(read, Ok(want));
        for (words, part) in [
            (vec!["--onyl"], "unknown option `--onyl`"),
            (vec!["--only"], "`--only` needs a value"),
            (vec!["--only", "all"], "`tune` or `test`"),
            (vec!["--compiler", "msvc"], "`g++` or `clang`"),
            (vec!["--debian", "sid"], "`bookworm`, `trixie` or `forky`"),
        ] {
            let error = Options::parse(&words).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
