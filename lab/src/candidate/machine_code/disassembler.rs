//! Finds and runs `nvdisasm`, NVIDIA's disassembler.
//!
//! The program is looked up in these places, in this order:
//!
//! 1. `KILN_NVDISASM`: the program, or a folder that contains it (a toolkit, a virtual environment, or the folder of a
//!    wheel). If this variable is set, no other place is searched.
//! 2. The wheel that `cargo xtask setup` installs into `target/nvdisasm`.
//! 3. The toolkits in `CUDA_PATH`, `CUDA_HOME` and `/usr/local/cuda`.
//! 4. `PATH`.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kiln::supervise::Supervised;
use thiserror::Error;

/// Time limit for a listing, which normally takes a fraction of a second.
const DEADLINE: Duration = Duration::from_secs(60);

/// `nvdisasm` is not installed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "no machine code: nvdisasm was not found ({looked})\nhelp: python3 -m venv nvdisasm && nvdisasm/bin/pip install \
     nvidia-cuda-nvdisasm, then set KILN_NVDISASM to that folder (`cargo xtask setup` does both in Kiln's own workspace)"
)]
pub struct NoDisassembler {
    /// The paths that were searched, separated by commas.
    looked: String,
}

/// Why an image could not be disassembled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DisassemblyError {
    /// The program could not be run, or its input and output files could not be written.
    #[error("cannot run {}: {error}", .program.display())]
    Io {
        /// The path of the program.
        program: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The program failed or exceeded its time limit.
    #[error("{} failed: {text}", .program.display())]
    Failed {
        /// The path of the program.
        program: PathBuf,
        /// The exit status and the standard error of the program.
        text: String,
    },
    /// The image does not contain the entry.
    #[error("the listing has no entry `{entry}`")]
    NoEntry {
        /// The entry that was looked up.
        entry: String,
    },
}

/// An installed `nvdisasm`.
#[derive(Clone, Debug)]
pub struct Disassembler {
    program: PathBuf,
    version: String,
}

impl Disassembler {
    /// Finds `nvdisasm` in the search order of the module documentation.
    ///
    /// # Errors
    /// If no program in these places prints a version when it is called with `--version`.
    pub fn find() -> Result<Disassembler, NoDisassembler> {
        let places = places();
        for program in &places {
            if let Some(version) = version(program) {
                let program = program.clone();
                return Ok(Disassembler { program, version });
            }
        }
        let looked: Vec<String> = places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        Err(NoDisassembler {
            looked: looked.join(", "),
        })
    }

    /// Returns the listing of a cubin.
    ///
    /// # Errors
    /// If the program cannot be run, fails, or takes too long.
    pub(super) fn list(&self, cubin: &[u8]) -> Result<String, DisassemblyError> {
        let io = |error| DisassemblyError::Io {
            program: self.program.clone(),
            error,
        };
        let folder = tempfile::Builder::new()
            .prefix("kiln-sass-")
            .tempdir()
            .map_err(io)?;
        let path = |name: &str| folder.path().join(name);
        fs::write(path("image.cubin"), cubin).map_err(io)?;
        let mut command = Command::new(&self.program);
        command
            .arg("--print-code")
            .arg(path("image.cubin"))
            .stdin(Stdio::null())
            // The output goes to files, because a full pipe would block the program until its deadline.
            .stdout(File::create(path("listing")).map_err(io)?)
            .stderr(File::create(path("errors")).map_err(io)?);
        let mut child = Supervised::spawn(&mut command).map_err(io)?;
        let ended = child.end_by(Instant::now() + DEADLINE).map_err(io)?;
        let text = |name: &str| read(&path(name));
        match ended.succeeded() {
            true => text("listing").map_err(io),
            false => Err(DisassemblyError::Failed {
                program: self.program.clone(),
                text: format!("{ended:?} {}", text("errors").unwrap_or_default().trim()),
            }),
        }
    }
}

impl fmt::Display for Disassembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nvdisasm {}", self.version)
    }
}

fn read(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

/// The paths to try, in the search order.
fn places() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(given) = set("KILN_NVDISASM") {
        return programs_in(given.as_ref());
    }
    let mut places = Vec::new();
    if let Some(wheel) = kiln::compiler::in_workspace("nvdisasm") {
        places.extend(programs_in(&wheel));
    }
    let toolkits = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(set);
    let toolkits = toolkits
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")]);
    places.extend(toolkits.flat_map(|toolkit| programs_in(&toolkit)));
    places.push("nvdisasm".into());
    places
}

/// The possible paths of the program for one place. A place that is not a folder is the program itself. A folder can be
/// a toolkit, a virtual environment, or a folder of packages; the last two contain wheels.
fn programs_in(place: &Path) -> Vec<PathBuf> {
    if !place.is_dir() {
        return vec![place.to_owned()];
    }
    let environments = entries(&place.join("lib"));
    let packages = environments.map(|python| python.join("site-packages"));
    let packages = packages.chain([place.to_owned()]);
    let wheels = packages.flat_map(|packages| entries(&packages.join("nvidia")));
    [place.to_owned()]
        .into_iter()
        .chain(wheels)
        .map(|folder| folder.join("bin/nvdisasm"))
        .collect()
}

/// The entries of a folder; empty if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// The version that a program prints: `nvdisasm: … Cuda compilation tools, release 13.5, V13.5.37`.
fn version(program: &Path) -> Option<String> {
    let said = Command::new(program).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout);
    let line = said.lines().find(|line| line.contains("release"))?;
    let version = line.rsplit_once('V')?.1.trim();
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_the_programs_of_its_toolkit_or_of_its_wheels() {
        let folder = tempfile::tempdir().unwrap();
        let wheel = folder
            .path()
            .join("lib/python3.11/site-packages/nvidia/cu13/bin");
        fs::create_dir_all(&wheel).unwrap();
        fs::write(wheel.join("nvdisasm"), "").unwrap();
        let found = programs_in(folder.path());
        let of_toolkit = folder.path().join("bin/nvdisasm");
        assert_eq!(found, [of_toolkit, wheel.join("nvdisasm")]);
        let program = Path::new("/opt/nvdisasm");
        assert_eq!(programs_in(program), [program]);
    }
}
