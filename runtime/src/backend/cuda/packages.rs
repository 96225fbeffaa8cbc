//! The packages that bring the CUDA headers, and the command that installs one of them.

use std::path::{Path, PathBuf};

use kiln_spec::source::is_for_hosts;

use crate::compiler::log::{MissingHeader, Unopened};

use super::headers::folders;

/// A package of CUDA headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Package {
    /// `cuda_fp16.h`, `cooperative_groups.h`, `mma.h` and the types of the language.
    Runtime,
    /// `crt/mma.h` and other parts of the compiler that the headers of [`Package::Runtime`] include.
    Crt,
    /// CUB, Thrust, libcu++ and `nv/target`.
    Cccl,
    /// `curand_kernel.h`.
    Curand,
}

/// The packages that hold the headers of a toolkit.
const OF_A_TOOLKIT: [Package; 3] = [Package::Runtime, Package::Crt, Package::Cccl];

/// Starts of header names, with the package that brings such headers.
const PACKAGES: &[(&str, Package)] = &[
    ("crt/", Package::Crt),
    ("cub/", Package::Cccl),
    ("cuda/", Package::Cccl),
    ("nv/", Package::Cccl),
    ("thrust/", Package::Cccl),
    ("curand", Package::Curand),
    ("cooperative_groups", Package::Runtime),
    ("cuComplex", Package::Runtime),
    ("cuda_", Package::Runtime),
    ("cuda.h", Package::Runtime),
    ("device_", Package::Runtime),
    ("mma.h", Package::Runtime),
    ("sm_", Package::Runtime),
    ("vector_", Package::Runtime),
    ("math_constants.h", Package::Runtime),
];

impl Package {
    fn of(header: &str) -> Option<Package> {
        let row = PACKAGES.iter().find(|(start, _)| header.starts_with(start));
        row.map(|(_, package)| *package)
    }

    /// The wheel for NVRTC of a version, as an argument of pip.
    fn wheel(self, (major, minor): (u32, u32)) -> String {
        let name = match (self, major) {
            (Package::Runtime, _) => "cuda-runtime",
            // The wheel of nvcc holds the headers in CUDA 12.
            (Package::Crt, 12) => "cuda-nvcc",
            (Package::Crt, _) => "cuda-crt",
            (Package::Cccl, _) => "cuda-cccl",
            (Package::Curand, _) => "curand",
        };
        let suffix = if major == 12 { "-cu12" } else { "" };
        let version = match (self, major, minor) {
            // Curand has versions of its own.
            (Package::Curand, _, _) => String::new(),
            // The wheel of 12.1 lacks `cuda/std` and `nv/target`, and CUB of 12.4 includes `<iostream>`. NVRTC 12.1 compiles
            // newer versions.
            (Package::Cccl, 12, 0..FIRST_OF_CUB) => "==12.9.*".into(),
            // Since 13.3, the version of the wheel is 13 and the version of CCCL, such as 3.4.3.1.
            (Package::Cccl, 13, 3..) => format!("==13.3.{minor}.*"),
            _ => format!("=={major}.{minor}.*"),
        };
        format!("'nvidia-{name}{suffix}{version}'")
    }

    /// The package of NVIDIA's repositories for apt and dnf.
    fn of_toolkit(self, (major, minor): (u32, u32)) -> String {
        let name = match self {
            Package::Runtime => "cuda-cudart-dev",
            Package::Crt => "cuda-crt",
            Package::Cccl => "cuda-cccl",
            Package::Curand => "libcurand-dev",
        };
        format!("{name}-{major}-{minor}")
    }

    /// The package of Debian and Ubuntu.
    fn of_debian(self) -> &'static str {
        match self {
            Package::Cccl => "libcu++-dev libcub-dev libthrust-dev",
            Package::Runtime | Package::Crt | Package::Curand => "nvidia-cuda-dev",
        }
    }

    /// The package of conda-forge.
    fn of_conda(self) -> &'static str {
        match self {
            Package::Runtime => "cuda-cudart-dev",
            Package::Crt => "cuda-crt",
            Package::Cccl => "cuda-cccl",
            Package::Curand => "libcurand-dev",
        }
    }
}

/// The first minor version of CUDA 12 whose CUB NVRTC compiles as it is.
const FIRST_OF_CUB: u32 = 6;

/// What is missing if the NVRTC at a path, of a version, could not open a header. `None` if no package of CUDA is to
/// blame.
pub(super) fn missing(
    unopened: &Unopened,
    library: &Path,
    version: (u32, u32),
) -> Option<MissingHeader> {
    let Unopened {
        header,
        included_by,
    } = unopened;
    if !is_for_hosts(header) {
        return Some(MissingHeader {
            what: format!("`{header}` is not installed"),
            help: install(&[Package::of(header)?], library, version),
        });
    }
    let name = folders(library).iter().find_map(|folder| {
        Path::new(included_by)
            .strip_prefix(folder)
            .ok()
            .map(Path::to_owned)
    })?;
    let package = Package::of(name.to_str()?)?;
    let help = match folder_of_wheels(library) {
        Some(_) => install(&[package], library, version),
        None => format!("set KILN_NVRTC to a toolkit of CUDA 12.{FIRST_OF_CUB} or newer"),
    };
    Some(MissingHeader {
        what: format!(
            "`{}` of this version includes a header for host code",
            name.display()
        ),
        help,
    })
}

/// The command that installs all packages of headers for the NVRTC at a path, of a version.
pub(super) fn install_all(library: &Path, version: (u32, u32)) -> String {
    install(&OF_A_TOOLKIT, library, version)
}

/// The command that installs packages for the NVRTC at a path, of a version.
fn install(packages: &[Package], library: &Path, version: (u32, u32)) -> String {
    let (major, minor) = version;
    let list = |name: &dyn Fn(Package) -> String| {
        let mut names: Vec<String> = packages.iter().map(|one| name(*one)).collect();
        names.dedup();
        names.join(" ")
    };
    let wheels = |packages: &[Package]| {
        let wheels = packages.iter().map(|one| one.wheel(version));
        wheels.collect::<Vec<_>>().join(" ")
    };
    if let Some(site) = folder_of_wheels(library) {
        let suffix = if major == 12 { "-cu12" } else { "" };
        return match environment(&site) {
            Some(python) => format!(
                "`{} -m pip install --no-deps {}`",
                python.display(),
                wheels(packages)
            ),
            // pip replaces what is in a folder that is not an environment's, so all wheels are installed together.
            None => format!(
                "`python3 -m pip install --no-deps --upgrade --target {} 'nvidia-cuda-nvrtc{suffix}=={major}.{minor}.*' {}`",
                site.display(),
                wheels(&OF_A_TOOLKIT)
            ),
        };
    }
    let root = library.ancestors().nth(2).unwrap_or(library);
    let conda = library
        .ancestors()
        .find(|folder| folder.join("conda-meta").is_dir());
    if let Some(prefix) = conda {
        let names = list(&|package| package.of_conda().into());
        format!(
            "`conda install -p {} -c conda-forge {names} cuda-version={major}.{minor}`",
            prefix.display()
        )
    } else if root == Path::new("/usr/lib") || root == Path::new("/usr") {
        format!(
            "`apt install {}`",
            list(&|package| package.of_debian().into())
        )
    } else {
        let names = list(&|package| package.of_toolkit(version));
        format!("`apt install {names}` (or `dnf install {names}`)")
    }
}

/// The folder that holds `nvidia/`, if a library is in a wheel.
fn folder_of_wheels(library: &Path) -> Option<PathBuf> {
    let packages = library.ancestors().nth(3)?;
    let is_nvidia = packages.file_name().is_some_and(|name| name == "nvidia");
    is_nvidia
        .then(|| packages.parent().map(Path::to_owned))
        .flatten()
}

/// The interpreter of the virtual environment whose packages are in a folder.
fn environment(site: &Path) -> Option<PathBuf> {
    let root = site.ancestors().nth(3)?;
    let python = root.join("bin/python");
    (site.ends_with("site-packages") && python.exists()).then_some(python)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is told if a library, relative to a folder with a virtual environment and one of conda, cannot open a header.
    fn told(header: &str, library: &str, version: (u32, u32)) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for file in [
            library,
            "venv/bin/python",
            "conda/conda-meta/history",
            "tk/include/cub/cub.cuh",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let unopened = Unopened {
            header: header.into(),
            included_by: root
                .path()
                .join("tk/include/cub/util_type.cuh")
                .display()
                .to_string(),
        };
        let missing = missing(&unopened, &root.path().join(library), version)?;
        let text = format!("{}; {}", missing.what, missing.help);
        Some(text.replace(root.path().to_str().unwrap(), "ROOT"))
    }

    #[test]
    fn a_missing_header_is_told_with_the_command_for_its_layout() {
        let in_venv = "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
        let pip = "ROOT/venv/bin/python -m pip install --no-deps";
        let cases = [
            (
                "crt/mma.h",
                in_venv,
                (13, 0),
                format!("`{pip} 'nvidia-cuda-crt==13.0.*'`"),
            ),
            (
                "cub/cub.cuh",
                in_venv,
                (13, 4),
                format!("`{pip} 'nvidia-cuda-cccl==13.3.4.*'`"),
            ),
            (
                "cuda_fp16.h",
                "conda/lib/libnvrtc.so.12",
                (12, 6),
                "`conda install -p ROOT/conda -c conda-forge cuda-cudart-dev cuda-version=12.6`"
                    .into(),
            ),
            (
                "nv/target",
                "tk/lib64/libnvrtc.so.13",
                (13, 1),
                "`apt install cuda-cccl-13-1` (or `dnf install cuda-cccl-13-1`)".into(),
            ),
        ];
        for (header, library, version, command) in cases {
            let expected = format!("`{header}` is not installed; {command}");
            assert_eq!(told(header, library, version).unwrap(), expected);
        }
        assert_eq!(told("mylib.h", in_venv, (13, 0)), None);
    }

    #[test]
    fn all_wheels_are_installed_together_into_a_folder_that_is_not_an_environments() {
        let told = told(
            "crt/mma.h",
            "w/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            (12, 1),
        )
        .unwrap();
        let start = "--upgrade --target ROOT/w 'nvidia-cuda-nvrtc-cu12==12.1.*'";
        assert!(told.contains(start), "{told}");
        let rest = "'nvidia-cuda-nvcc-cu12==12.1.*' 'nvidia-cuda-cccl-cu12==12.9.*'";
        assert!(told.contains(rest), "{told}");
    }

    #[test]
    fn a_version_of_cub_that_nvrtc_cannot_compile_is_told() {
        assert_eq!(
            told("iostream", "tk/lib64/libnvrtc.so.12", (12, 4)).unwrap(),
            "`cub/util_type.cuh` of this version includes a header for host code; set KILN_NVRTC to a toolkit of CUDA 12.6 \
             or newer"
        );
        assert_eq!(
            told("iostream", "other/lib64/libnvrtc.so.12", (12, 4)),
            None
        );
    }

    #[test]
    fn debian_has_packages_of_its_own() {
        let library = Path::new("/usr/lib/x86_64-linux-gnu/libnvrtc.so.12");
        assert_eq!(
            install(&[Package::Crt], library, (12, 2)),
            "`apt install nvidia-cuda-dev`"
        );
        assert_eq!(
            install_all(library, (12, 2)),
            "`apt install nvidia-cuda-dev libcu++-dev libcub-dev libthrust-dev`"
        );
    }
}
