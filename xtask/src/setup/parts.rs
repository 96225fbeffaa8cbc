//! Lists the tools that the tests need, how to detect each, and from where to install it.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::apt::offered;
use super::environment::{Environment, KERNEL_TUNER, SCHEMAS};
use crate::step;

/// A tool that tests need.
pub(super) struct Part {
    /// The name of the tool in messages.
    pub name: String,
    /// How to detect the tool.
    found: Found,
    /// From where to install the tool.
    pub source: Source,
    /// Whether CI succeeds without the tool.
    pub is_optional: bool,
}

/// How to detect a tool.
enum Found {
    /// A program with this name answers `--version`.
    Program(String),
    /// A file with this path exists.
    File(&'static str),
    /// The folder into which the tool is installed contains the tool, or this environment variable names another
    /// folder.
    InFolder { variable: Option<&'static str> },
}

/// From where to install a tool.
pub(super) enum Source {
    /// From the Debian packages with these names.
    Debian(Vec<String>),
    /// From Python wheels, which are unpacked into a folder below the root. Only the files in the wheels are used.
    Wheels {
        folder: &'static str,
        wheels: &'static [&'static str],
        holds: fn(&Path) -> bool,
    },
    /// Python packages in a virtual environment below the root.
    Environment(Environment),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Debian(packages) => write!(f, "{} by apt-get", packages.join(", ")),
            Source::Wheels { folder, wheels, .. } => {
                write!(f, "{} by pip, into {folder}", wheels.join(", "))
            }
            Source::Environment(environment) => {
                let (packages, folder) = (environment.packages.join(", "), environment.folder);
                write!(f, "{packages} by pip, into {folder}")
            }
        }
    }
}

impl Part {
    /// Whether the tool is installed.
    pub fn is_there(&self) -> bool {
        match &self.found {
            Found::Program(program) => step::there(program),
            Found::File(file) => Path::new(file).exists(),
            Found::InFolder { variable } => {
                variable.and_then(given).is_some() || self.source.is_installed()
            }
        }
    }

    /// The Debian packages that contain the tool. Empty for other sources.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        let packages = match &self.source {
            Source::Debian(packages) => packages.as_slice(),
            _ => &[],
        };
        packages.iter().map(String::as_str)
    }

    fn program(program: &str, packages: &[String]) -> Part {
        Part {
            name: program.to_owned(),
            found: Found::Program(program.to_owned()),
            source: Source::Debian(packages.to_vec()),
            is_optional: false,
        }
    }

    /// A tool that is a file from Debian packages and that is optional: without it, the tests that need it are skipped,
    /// even in CI.
    fn optional(file: &'static str, packages: &[&str]) -> Part {
        let packages = packages.iter().map(|&package| package.to_owned());
        Part {
            name: file.to_owned(),
            found: Found::File(file),
            source: Source::Debian(packages.collect()),
            is_optional: true,
        }
    }

    /// A library or a header of AMD's HIP runtime. On a machine without an AMD GPU, the runtime reports that there is
    /// no device. Tests need no other packages of ROCm.
    fn of_rocm(file: &'static str, package: &str) -> Part {
        Part::optional(file, &[package])
    }

    /// A daemon of Slurm. Only Debian's builds are known to run several nodes on one machine.
    fn of_slurm(file: &'static str, package: &str) -> Part {
        Part::optional(file, &[package, "slurm-client"])
    }

    fn wheels(
        name: &str,
        variable: Option<&'static str>,
        folder: &'static str,
        wheels: &'static [&'static str],
        holds: fn(&Path) -> bool,
    ) -> Part {
        Part {
            name: name.to_owned(),
            found: Found::InFolder { variable },
            source: Source::Wheels {
                folder,
                wheels,
                holds,
            },
            is_optional: false,
        }
    }

    fn environment(name: &str, variable: Option<&'static str>, environment: Environment) -> Part {
        Part {
            name: name.to_owned(),
            found: Found::InFolder { variable },
            source: Source::Environment(environment),
            is_optional: false,
        }
    }
}

impl Source {
    /// Whether the folder of the source contains the tool. `false` for Debian packages, which are not installed into a
    /// folder.
    fn is_installed(&self) -> bool {
        match self {
            Source::Debian(_) => false,
            Source::Wheels { folder, holds, .. } => holds(&step::root().join(folder)),
            Source::Environment(environment) => environment.is_there(),
        }
    }
}

/// The value of an environment variable; `None` if it is unset or empty.
fn given(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|value| !value.is_empty())
}

/// The programs that tests use, each with the Debian packages that contain it.
const TOOLS: [(&str, &[&str]); 4] = [
    ("g++", &["g++"]),
    ("python3", &["python3", "python3-venv"]),
    ("objdump", &["binutils"]),
    ("git", &["git"]),
];

/// The versions of clang that can compile kernels for the tests, newest first. One of them is enough.
const CLANG: [u32; 2] = [22, 19];

/// The programs that belong to a version of clang: the compiler with sanitizers, the linker for AMD GPUs, and the
/// program that adds line numbers to the reports of sanitizers.
fn tools_of_clang(version: u32) -> [(String, Vec<String>); 3] {
    [
        (
            format!("clang++-{version}"),
            vec![
                format!("clang-{version}"),
                format!("libclang-rt-{version}-dev"),
            ],
        ),
        (format!("ld.lld-{version}"), vec![format!("lld-{version}")]),
        (
            format!("llvm-symbolizer-{version}"),
            vec![format!("llvm-{version}")],
        ),
    ]
}

/// All tools that tests need. They include one version of clang: the newest version in [`CLANG`] that is installed. If
/// none is installed, it is the oldest version for which this Debian has a package.
pub(super) fn parts() -> Vec<Part> {
    let here = CLANG
        .iter()
        .find(|version| step::there(&format!("clang++-{version}")));
    let oldest_first = CLANG.iter().rev().copied();
    let clang = here.copied();
    let clang = clang
        .or_else(|| offered("clang", oldest_first))
        .unwrap_or(19);
    let owned = |packages: &[&str]| -> Vec<String> {
        packages.iter().map(|&package| package.to_owned()).collect()
    };
    let tools = TOOLS
        .iter()
        .map(|(program, packages)| Part::program(program, &owned(packages)));
    let clang = tools_of_clang(clang);
    let clang = clang
        .iter()
        .map(|(program, packages)| Part::program(program, packages));
    tools
        .chain(clang)
        .chain(of_nvidia())
        .chain(others())
        .collect()
}

/// The folders below the root into which tools are installed.
pub(super) fn folders() -> Vec<&'static str> {
    let folders = of_nvidia()
        .into_iter()
        .chain(others())
        .filter_map(|part| match part.source {
            Source::Debian(_) => None,
            Source::Wheels { folder, .. } => Some(folder),
            Source::Environment(environment) => Some(environment.folder),
        });
    folders.collect()
}

/// NVIDIA's compilers with their headers, and tools with which tests examine images.
fn of_nvidia() -> [Part; 6] {
    [
        // NVIDIA's compiler as a library, which needs no GPU. It includes the CUDA headers.
        Part::wheels(
            "NVRTC",
            Some("KILN_NVRTC"),
            "target/nvrtc",
            &["nvidia-cuda-nvrtc==13.5.37"],
            has_nvrtc,
        ),
        // Earlier toolkits, which match the drivers of most GPUs. These versions of the compiler do not contain the
        // headers, so each is installed together with its headers. `tests/src/capability.rs` looks for the same
        // folders.
        Part::wheels(
            "NVRTC 12.1",
            None,
            "target/nvrtc-12.1",
            &[
                "nvidia-cuda-nvrtc-cu12==12.1.105",
                "nvidia-cuda-runtime-cu12==12.1.105",
            ],
            has_nvrtc,
        ),
        Part::wheels(
            "NVRTC 12.9",
            None,
            "target/nvrtc-12.9",
            &[
                "nvidia-cuda-nvrtc-cu12==12.9.86",
                "nvidia-cuda-runtime-cu12==12.9.79",
            ],
            has_nvrtc,
        ),
        Part::wheels(
            "NVRTC 13.0",
            None,
            "target/nvrtc-13.0",
            // The versions that PyTorch 2.11 pins, and NVIDIA's headers of them for tensor cores and for C++.
            &[
                "nvidia-cuda-nvrtc==13.0.88",
                "nvidia-cuda-runtime==13.0.96",
                "nvidia-cuda-crt==13.0.88",
                "nvidia-cuda-cccl==13.0.85",
            ],
            has_nvrtc_and_headers,
        ),
        // NVIDIA's disassembler, with which tests read the machine code of kernels.
        Part::wheels(
            "nvdisasm",
            None,
            "target/nvdisasm",
            &["nvidia-cuda-nvdisasm==13.5.37"],
            |folder| folder.join("nvidia/cu13/bin/nvdisasm").is_file(),
        ),
        // NVIDIA's occupancy calculator. Tests compare its results with the occupancy that Kiln computes.
        Part::wheels(
            "cuda_occupancy.h",
            Some("KILN_CUDA_OCCUPANCY"),
            "target/cuda-occupancy",
            &["nvidia-cuda-runtime==13.5.37"],
            |folder| {
                folder
                    .join("nvidia/cu13/include/cuda_occupancy.h")
                    .is_file()
            },
        ),
    ]
}

/// The other tools: Python tools with which tests exchange files, and optional tools from Debian.
fn others() -> [Part; 9] {
    [
        Part::environment("Kernel Tuner", Some("KILN_KERNEL_TUNER"), KERNEL_TUNER),
        Part::environment("schemas of Kubernetes and GitHub", None, SCHEMAS),
        Part::of_rocm(
            "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
            "libamdhip64-5",
        ),
        Part::of_rocm("/usr/include/hip/hip_runtime_api.h", "libamdhip64-dev"),
        Part::optional("/usr/bin/ssh-keygen", &["openssh-client"]),
        // A Slurm cluster of eight nodes on the loopback network, on which tests run plans.
        Part::of_slurm("/usr/sbin/slurmctld", "slurmctld"),
        Part::of_slurm("/usr/sbin/slurmd", "slurmd"),
        Part::optional("/usr/bin/parallel", &["parallel"]),
        // Gives a node a wrong clock.
        Part::optional("/usr/bin/faketime", &["faketime"]),
    ]
}

/// Whether a folder contains NVRTC 13 with the headers that are in wheels of their own.
fn has_nvrtc_and_headers(folder: &Path) -> bool {
    let headers = folder.join("nvidia/cu13/include");
    has_nvrtc(folder) && headers.join("crt").is_dir() && headers.join("cccl").is_dir()
}

/// Whether a virtual environment or a folder of packages contains NVRTC.
fn has_nvrtc(folder: &Path) -> bool {
    let mut packages = vec![folder.join("nvidia")];
    let environments = entries(&folder.join("lib")).into_iter();
    packages.extend(environments.map(|python| python.join("site-packages/nvidia")));
    let libraries = packages
        .iter()
        .flat_map(|package| entries(package))
        .map(|part| part.join("lib"));
    libraries.flat_map(|folder| entries(&folder)).any(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc.so")
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_says_where_it_comes_from() {
        for part in parts() {
            let said = part.source.to_string();
            assert!(said.contains(" by "), "{}: {said}", part.name);
            assert!(!part.name.is_empty());
        }
    }

    #[test]
    fn a_library_is_found_in_a_folder_and_in_an_environment() {
        for inside in [
            "nvidia/cu13/lib",
            "lib/python3.11/site-packages/nvidia/x/lib",
        ] {
            let folder = tempfile::tempdir().expect("a folder should be had");
            assert!(!has_nvrtc(folder.path()));
            let libraries = folder.path().join(inside);
            std::fs::create_dir_all(&libraries).expect("it should be made");
            std::fs::write(libraries.join("libnvrtc.so.13"), "").expect("it should be written");
            assert!(has_nvrtc(folder.path()), "{inside}");
        }
    }
}
