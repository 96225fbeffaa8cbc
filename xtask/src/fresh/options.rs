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
    /// Debian's newest clang, without g++.
    Clang,
}

/// The options of `cargo xtask fresh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The only command to run; `None` for both commands.
    pub only: Option<Only>,
    /// The C++ compiler that the machine has.
    pub compiler: Compiler,
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
                other => {
                    let known = "--only, --compiler, --keep or --dir";
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_are_named() {
        let read = Options::parse(&["--only", "test", "--compiler", "clang", "--dir", "/x"]);
        let want = Options {
            only: Some(Only::Test),
            compiler: Compiler::Clang,
            keep: false,
            folder: "/x".into(),
        };
        assert_eq!(read, Ok(want));
        for (words, part) in [
            (vec!["--onyl"], "unknown option `--onyl`"),
            (vec!["--only"], "`--only` needs a value"),
            (vec!["--only", "all"], "`tune` or `test`"),
            (vec!["--compiler", "msvc"], "`g++` or `clang`"),
        ] {
            let error = Options::parse(&words).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
