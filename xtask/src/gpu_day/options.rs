//! The options of `cargo xtask gpu-day`.

use std::path::PathBuf;

use crate::step;

/// The options of `cargo xtask gpu-day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The folder to build.
    pub out: PathBuf,
    /// The cargo profile with which the programs are built.
    pub profile: String,
    /// Whether the program that calls cuBLAS is left out.
    pub without_cublas: bool,
    /// The folder of the results to import. If it is set, nothing is built.
    pub import: Option<PathBuf>,
    /// The folder into which results are imported; `None` for this repository.
    pub into: Option<PathBuf>,
}

impl Options {
    /// Parses the words after `gpu-day`.
    ///
    /// # Errors
    /// If a word is not valid. The message lists the valid words.
    pub fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options {
            out: step::root().join("target/gpu-day"),
            profile: "release".to_owned(),
            without_cublas: false,
            import: None,
            into: None,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = |what: &str| {
                let value = words.next().copied();
                value.ok_or_else(|| format!("`{word}` needs {what}"))
            };
            let mut folder = || {
                let value = value("a folder")?;
                std::path::absolute(value).map_err(|error| format!("{value}: {error}"))
            };
            match word {
                "--out" => options.out = folder()?,
                "--profile" => options.profile = value("a cargo profile")?.to_owned(),
                "--without-cublas" => options.without_cublas = true,
                "--import" => options.import = Some(folder()?),
                "--into" => options.into = Some(folder()?),
                other => {
                    let known = "--out, --profile, --without-cublas, --import or --into";
                    return Err(format!(
                        "unknown option `{other}` of gpu-day; it takes {known}"
                    ));
                }
            }
        }
        if options.into.is_some() && options.import.is_none() {
            return Err("`--into` says where `--import` imports to, which is missing".into());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_mistakes_are_named() {
        let read = Options::parse(&["--import", "/r", "--into", "/x"]);
        let read = read.expect("they should be right");
        assert_eq!(read.import, Some("/r".into()));
        assert_eq!(read.into, Some("/x".into()));
        for (words, part) in [
            (vec!["--device"], "unknown option `--device`"),
            (vec!["--out"], "`--out` needs a folder"),
            (vec!["--profile"], "`--profile` needs a cargo profile"),
            (vec!["--into", "/x"], "`--import`"),
        ] {
            let error = Options::parse(&words).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
