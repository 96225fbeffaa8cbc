//! Where ROCm is, for every way in which people install it.
//!
//! | installation | root | clang, below the root |
//! | --- | --- | --- |
//! | AMD's packages | `/opt/rocm`, or `/opt/rocm-<version>` without that link | `llvm/bin`, `lib/llvm/bin` |
//! | packages of Ubuntu, Debian and Fedora | `/usr`, with `/usr/lib/rocm` or `/usr/lib64/rocm` | `llvm/bin` |
//! | wheels and archives of TheRock | `_rocm_sdk_devel`, `_rocm_sdk_core`, or the archive's folder | `lib/llvm/bin` |
//! | conda | the environment | `bin`, which is on `PATH` |

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::backend::python;

/// The places of [`roots`], for messages.
pub(super) const PLACES: &str =
    "$ROCM_PATH, $HIP_PATH, $VIRTUAL_ENV, $CONDA_PREFIX, /opt/rocm, /opt/rocm-* or /usr/lib*/rocm";

/// The folders that may contain ROCm, in order of search. Not all of them exist.
pub(super) fn roots() -> Vec<PathBuf> {
    roots_of(|name| std::env::var_os(name), Path::new("/"))
}

fn roots_of(variable: impl Fn(&str) -> Option<OsString>, system: &Path) -> Vec<PathBuf> {
    let named = ["ROCM_PATH", "HIP_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"];
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let mut roots: Vec<PathBuf> = named
        .into_iter()
        .filter_map(set)
        .map(PathBuf::from)
        .collect();
    roots.push(system.join("opt/rocm"));
    roots.extend(versions(&system.join("opt")));
    roots.extend(["usr/lib/rocm", "usr/lib64/rocm"].map(|folder| system.join(folder)));
    let with_wheels = roots.into_iter().flat_map(|root| {
        let wheels = python::site_packages(&root);
        let wheels = wheels.into_iter().flat_map(|packages| {
            ["_rocm_sdk_devel", "_rocm_sdk_core"].map(|wheel| packages.join(wheel))
        });
        let wheels: Vec<PathBuf> = wheels.filter(|folder| folder.is_dir()).collect();
        std::iter::once(root).chain(wheels)
    });
    let mut different: Vec<PathBuf> = Vec::new();
    for root in with_wheels {
        if !different.contains(&root) {
            different.push(root);
        }
    }
    different
}

/// The programs `clang++` of a root.
pub(super) fn clangs(root: &Path) -> Vec<PathBuf> {
    let folders = ["llvm/bin", "lib/llvm/bin"];
    let programs = folders.map(|folder| root.join(folder).join("clang++"));
    programs
        .into_iter()
        .filter(|program| program.is_file())
        .collect()
}

/// The folders `rocm-<version>` in a folder, newest first.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let numbers = name.to_str()?.strip_prefix("rocm-")?.split('.');
            let numbers: Option<Vec<u32>> = numbers.map(|number| number.parse().ok()).collect();
            Some((numbers?, entry.path()))
        })
        .collect();
    found.sort_by_key(|(version, _)| Reverse(version.clone()));
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clang_of_every_installation_is_found_in_order() {
        let system = tempfile::tempdir().unwrap();
        let program = |file: &str| {
            let path = system.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let expected = [
            program("archive/lib/llvm/bin/clang++"),
            program("venv/lib/python3.12/site-packages/_rocm_sdk_devel/lib/llvm/bin/clang++"),
            program("venv/lib/python3.12/site-packages/_rocm_sdk_core/lib/llvm/bin/clang++"),
            program("opt/rocm-7.10.0/llvm/bin/clang++"),
            program("opt/rocm-7.2.1/llvm/bin/clang++"),
            program("opt/rocm-7.2.1/lib/llvm/bin/clang++"),
            program("usr/lib/rocm/llvm/bin/clang++"),
            program("usr/lib64/rocm/llvm/bin/clang++"),
        ];
        program("opt/rocm-old/llvm/bin/clang++");
        let variable = |name: &str| match name {
            "ROCM_PATH" => Some(system.path().join("archive").into()),
            "VIRTUAL_ENV" => Some(system.path().join("venv").into()),
            "HIP_PATH" => Some(OsString::new()),
            _ => None,
        };
        let roots = roots_of(variable, system.path());
        let found: Vec<PathBuf> = roots.iter().flat_map(|root| clangs(root)).collect();
        assert_eq!(found, expected);
    }
}
