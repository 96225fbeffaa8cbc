//! The options of `cargo xtask gpu-day`.

use std::path::PathBuf;

use crate::step;

/// The options of `cargo xtask gpu-day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The folder to build.
    pub out: PathBuf,
    /// The archive of the folder, which is carried to the machine.
    pub archive: PathBuf,
    /// The folder with the NVRTC of the machine: its headers are carried, and images are compiled with it. `None` if
    /// neither is carried.
    pub nvrtc: Option<PathBuf>,
    /// The architecture of the machine's GPU.
    pub arch: String,
    /// The number of configs of each tuned problem whose images are carried.
    pub images: u32,
    /// The results of an earlier call, which are carried back: an archive.
    pub have: Option<PathBuf>,
    /// The cargo profile with which the programs are built.
    pub profile: String,
    /// Whether the program that calls cuBLAS is left out.
    pub without_cublas: bool,
    /// The results to import: an archive, or a folder. If it is set, nothing is built.
    pub import: Option<PathBuf>,
    /// The results whose outputs are compared with those of a simulated GPU. If it is set, nothing is built.
    pub compare: Option<PathBuf>,
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
            archive: step::root().join(".day/day.tar.xz"),
            nvrtc: Some(step::root().join("target/nvrtc-13.0")).filter(|folder| folder.is_dir()),
            arch: "sm_90".to_owned(),
            images: 32,
            have: None,
            profile: "release".to_owned(),
            without_cublas: false,
            import: None,
            compare: None,
            into: None,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = |what: &str| {
                let value = words.next().copied();
                value.ok_or_else(|| format!("`{word}` needs {what}"))
            };
            let mut folder = || {
                let value = value("a path")?;
                std::path::absolute(value).map_err(|error| format!("{value}: {error}"))
            };
            match word {
                "--out" => options.out = folder()?,
                "--archive" => options.archive = folder()?,
                "--nvrtc" => options.nvrtc = Some(folder()?),
                "--without-nvrtc" => options.nvrtc = None,
                "--target" => options.arch = value("an architecture")?.to_owned(),
                "--images" => options.images = count(value("a number")?)?,
                "--have" => options.have = Some(folder()?),
                "--profile" => options.profile = value("a cargo profile")?.to_owned(),
                "--without-cublas" => options.without_cublas = true,
                "--import" => options.import = Some(folder()?),
                "--compare" => options.compare = Some(folder()?),
                "--into" => options.into = Some(folder()?),
                other => {
                    let known = "--out, --archive, --nvrtc, --without-nvrtc, --target, --images, --have, --profile, \
                                 --without-cublas, --import, --compare or --into";
                    return Err(format!(
                        "unknown option `{other}` of gpu-day; it takes {known}"
                    ));
                }
            }
        }
        if options.import.is_some() && options.compare.is_some() {
            return Err(
                "`--import` and `--compare` are two calls: import first, then compare".into(),
            );
        }
        if options.into.is_some() && options.import.is_none() {
            return Err("`--into` says where `--import` imports to, which is missing".into());
        }
        Ok(options)
    }
}

fn count(value: &str) -> Result<u32, String> {
    value
        .parse()
        .map_err(|_| format!("`--images {value}`: it is a number of configs"))
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
            (vec!["--out"], "`--out` needs a path"),
            (vec!["--images", "many"], "a number of configs"),
            (vec!["--profile"], "`--profile` needs a cargo profile"),
            (vec!["--into", "/x"], "`--import`"),
            (vec!["--import", "/x", "--compare", "/x"], "are two calls"),
        ] {
            let error = Options::parse(&words).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
