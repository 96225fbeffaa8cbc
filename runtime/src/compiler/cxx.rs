//! Finds the C++ compilers of this machine and identifies them by their version output.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::CompilerIdentity;

/// The family of a C++ compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// clang++, which is preferred because it vectorises more code.
    Clang,
    /// g++.
    Gcc,
}

/// Programs in the folders of `PATH` that have the name of a C++ compiler.
pub(crate) fn candidates() -> Vec<PathBuf> {
    candidates_on(&std::env::var_os("PATH").unwrap_or_default())
}

/// Like [`candidates`], for a specified path. A folder that the path contains under two names (`/bin` is `/usr/bin`
/// on many systems) is searched once, because every program that is found is run to learn its version.
fn candidates_on(path: &OsStr) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for folder in std::env::split_paths(path) {
        if !fs::canonicalize(&folder).is_ok_and(|real| seen.insert(real)) {
            continue;
        }
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        let mut named: Vec<PathBuf> = names
            .filter(|name| is_compiler_name(name))
            .map(|name| folder.join(name))
            .collect();
        named.sort();
        named.retain(|program| compiler_behind(program).is_none_or(|file| seen.insert(file)));
        found.append(&mut named);
    }
    found
}

/// The file behind a program name, if that file is a compiler too. `clang++` and `clang++-19` are often links to the
/// same program, which is then run only once. `None` if a link leads to another program, such as ccache, because that
/// program identifies the compiler by the name of the link.
fn compiler_behind(program: &Path) -> Option<PathBuf> {
    let file = fs::canonicalize(program).ok()?;
    let name = file.file_name()?.to_str()?;
    (name.contains("clang") || name.contains("g++")).then_some(file)
}

/// Whether a file name is `clang++` or `g++`, optionally followed by a version.
fn is_compiler_name(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    ["clang++", "g++"].into_iter().any(|stem| {
        name.strip_prefix(stem).is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('-')
                    .is_some_and(|n| n.parse::<u32>().is_ok())
        })
    })
}

/// The family and identity of a compiler, from its output for `--version`. `None` if it is not clang or g++.
pub(crate) fn identify(text: &str) -> Option<(Family, CompilerIdentity)> {
    let line = text.lines().next()?.trim();
    let (family, name, version) = if let Some((_, rest)) = line.split_once("clang version ") {
        (Family::Clang, "clang++", rest.split_whitespace().next()?)
    } else if text.contains("Free Software Foundation") && names_gcc(line) {
        // The version follows the name of the package, which is in parentheses and may contain a date.
        let rest = line.split_once(')').map_or(line, |(_, rest)| rest);
        let version = rest
            .split(' ')
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        (Family::Gcc, "g++", version)
    } else {
        return None;
    };
    let digits = version
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(version.len());
    let identity = CompilerIdentity {
        name: name.into(),
        version: version[..digits].into(),
        build: line.into(),
    };
    Some((family, identity))
}

/// Whether a version line begins with a program name of GCC. The copyright notice alone does not identify GCC, because
/// the Free Software Foundation publishes other programs too.
fn names_gcc(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    ["g++", "c++", "gcc"]
        .into_iter()
        .any(|name| word.contains(name))
}

/// The first number of a version; 0 if the version does not begin with a number.
pub(crate) fn major(version: &str) -> u32 {
    version
        .split('.')
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_are_told_from_their_version_lines() {
        let clang = "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64-pc-linux-gnu\n";
        let (family, identity) = identify(clang).unwrap();
        assert_eq!((family, &*identity.version), (Family::Clang, "19.1.7"));
        assert_eq!(identity.build, "Debian clang version 19.1.7 (3~deb12u1)");
        let gcc = "g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n";
        let (family, identity) = identify(gcc).unwrap();
        assert_eq!((family, &*identity.version), (Family::Gcc, "12.2.0"));
        let snapshot = "clang version 20.1.0git\n";
        assert_eq!(identify(snapshot).unwrap().1.version, "20.1.0");
        let red_hat = "g++ (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)\nCopyright (C) 2024 Free Software Foundation, Inc.\n";
        assert_eq!(major(&identify(red_hat).unwrap().1.version), 14);
        let ubuntu = "g++-14 (Ubuntu 14-20240412-0ubuntu1) 14.0.1 20240412 (experimental) [master r14-9935]\n\
                      Copyright (C) 2024 Free Software Foundation, Inc.\n";
        assert_eq!(identify(ubuntu).unwrap().1.version, "14.0.1");
        assert!(identify("cc 1.0").is_none());
        assert!(
            identify(
                "echo (GNU coreutils) 9.1\nCopyright (C) 2022 Free Software Foundation, Inc.\n"
            )
            .is_none()
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_folder_of_two_names_is_looked_into_once() {
        let root = tempfile::tempdir().unwrap();
        let [bin, link] = ["usr-bin", "bin"].map(|name| root.path().join(name));
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("g++-12"), "").unwrap();
        std::os::unix::fs::symlink(&bin, &link).unwrap();
        let path = std::env::join_paths([&bin, &link, &root.path().join("none")]).unwrap();
        assert_eq!(candidates_on(&path), [bin.join("g++-12")]);
    }

    #[test]
    #[cfg(unix)]
    fn a_compiler_of_two_names_is_a_candidate_once_and_a_wrapper_under_each() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for file in ["clang-19", "ccache"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        for name in ["clang++", "clang++-19"] {
            symlink(root.path().join("clang-19"), bin.join(name)).unwrap();
        }
        for name in ["g++", "g++-12", "clang++-20"] {
            symlink(root.path().join("ccache"), bin.join(name)).unwrap();
        }
        let found = candidates_on(bin.as_os_str());
        let names = ["clang++", "clang++-20", "g++", "g++-12"];
        assert_eq!(found, names.map(|name| bin.join(name)));
    }

    #[test]
    fn only_the_plain_and_numbered_names_are_candidates() {
        for name in ["clang++", "clang++-19", "g++", "g++-14"] {
            assert!(is_compiler_name(OsStr::new(name)), "{name}");
        }
        for name in [
            "clang",
            "clang++-19.real",
            "x86_64-linux-gnu-g++",
            "g++-x",
            "c++",
        ] {
            assert!(!is_compiler_name(OsStr::new(name)), "{name}");
        }
    }
}
