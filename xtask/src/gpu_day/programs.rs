//! Builds the programs for the folder, finds them in cargo's output, and removes their debug information.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::FileHeader as _;
use serde_json::Value;

use super::Options;
use super::checked::read;
use crate::step::{self, cargo};

/// The test programs to build. `conformance`, `library` and `device_prelude` run without cargo. `program` is a test of
/// the package of `tune`, so cargo also builds `tune`.
const PROGRAMS: [&str; 4] = ["conformance", "library", "device_prelude", "program"];

/// The programs that are copied into the folder.
const CARRIED: [&str; 4] = ["tune", "conformance", "library", "device_prelude"];

/// The minor version of glibc 2 that borrowed machines have at least: that of Ubuntu 22.04.
const GLIBC: u32 = 35;

/// The program that calls cuBLAS, which is in a separate workspace.
const CUBLAS: &str = "kiln-cublas-peer";

/// Builds the programs and copies them into a folder.
///
/// # Errors
/// If a program other than the cuBLAS peer does not build or cannot be copied.
pub(super) fn carry(to: &Path, options: &Options) -> Result<(), String> {
    carry_built(tests(&PROGRAMS, &options.profile), &CARRIED, to)?;
    if options.without_cublas {
        return Ok(());
    }
    let manifest = "benches/peers/cublas/Cargo.toml";
    let mut peer = cargo(&["build", "--release", "--manifest-path", manifest]);
    peer.arg("--target-dir")
        .arg(step::root().join("target/cublas-peer"));
    if let Err(why) = carry_built(peer, &[CUBLAS], to) {
        eprintln!("xtask: gpu-day: the cuBLAS peer stays at home: {why}");
    }
    Ok(())
}

/// Builds `tune`, and gives the path of the program.
///
/// # Errors
/// If it does not build.
pub(super) fn tune(profile: &str) -> Result<PathBuf, String> {
    let mut built = build(tests(&["program"], profile), &["tune"])?;
    Ok(built.remove(0))
}

/// The cargo command that builds tests of the workspace, and the programs of their packages. It builds for the whole
/// workspace, as the suite does, so that the features are the same and nothing is built twice.
fn tests(names: &[&str], profile: &str) -> Command {
    let mut build = cargo(&["test", "--no-run", "--workspace", "--profile", profile]);
    for name in names {
        build.args(["--test", name]);
    }
    build
}

/// Runs a cargo command that builds programs, and gives the paths of the executables with these names.
fn build(mut build: Command, names: &[&str]) -> Result<Vec<PathBuf>, String> {
    build.args(["--message-format", "json-render-diagnostics"]);
    eprintln!("xtask: gpu-day: building {}", names.join(", "));
    let output = build.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("gpu-day: cannot start cargo: {error}"))?;
    if !output.status.success() {
        let names = names.join(", ");
        return Err(format!("gpu-day: {names} did not build: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let built: Vec<(String, PathBuf)> = said.lines().filter_map(executable).collect();
    let path = |name: &&str| {
        let found = built.iter().find(|(target, _)| target == name);
        let (_, path) = found.ok_or_else(|| format!("gpu-day: cargo built no {name}"))?;
        Ok(path.clone())
    };
    names.iter().map(path).collect()
}

/// Builds programs with a cargo command, and copies the executables with these names.
fn carry_built(command: Command, names: &[&str], to: &Path) -> Result<(), String> {
    for (name, path) in names.iter().zip(build(command, names)?) {
        let program = to.join(name);
        strip(&path, &program)?;
        if let Some(needed) = newest_glibc(&read(&program)?).filter(|needed| *needed > GLIBC) {
            eprintln!(
                "xtask: gpu-day: {name} needs glibc 2.{needed}; a machine with Ubuntu 22.04 has 2.{GLIBC}\n\
                 help: build in an older system, for example Debian 12"
            );
        }
    }
    Ok(())
}

/// The newest minor version of glibc 2 whose symbols a program needs; `None` if it needs none, or if it is not an ELF
/// file.
fn newest_glibc(program: &[u8]) -> Option<u32> {
    let header = FileHeader64::<Endianness>::parse(program).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, program).ok()?;
    let (mut libraries, link) = sections.gnu_verneed(endian, program).ok()??;
    let strings = sections.strings(endian, program, link).ok()?;
    let mut newest = None;
    while let Ok(Some((_, mut versions))) = libraries.next() {
        while let Ok(Some(version)) = versions.next() {
            let name = version.name(endian, strings).ok()?;
            newest = newest.max(minor_of_glibc(&String::from_utf8_lossy(name)));
        }
    }
    newest
}

/// The minor version in the name of a version of glibc 2, such as `GLIBC_2.34` or `GLIBC_2.2.5`.
fn minor_of_glibc(name: &str) -> Option<u32> {
    let minor = name.strip_prefix("GLIBC_2.")?.split('.').next()?;
    minor.parse().ok()
}

/// The target name and the path of an executable in a message of cargo; `None` for other messages.
fn executable(line: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = message["executable"].as_str()?;
    let target = message["target"]["name"].as_str()?;
    Some((target.to_owned(), path.into()))
}

/// Copies a program without its debug information. If `strip` is missing, the copy is unchanged.
fn strip(from: &Path, to: &Path) -> Result<(), String> {
    let mut strip = Command::new("strip");
    if strip
        .arg("-o")
        .arg(to)
        .arg(from)
        .status()
        .is_ok_and(|status| status.success())
    {
        return Ok(());
    }
    let copied = fs::copy(from, to);
    copied.map_err(|error| format!("gpu-day: {}: {error}", to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_that_a_program_needs_is_found() {
        assert_eq!(minor_of_glibc("GLIBC_2.34"), Some(34));
        assert_eq!(minor_of_glibc("GLIBC_2.2.5"), Some(2));
        assert_eq!(minor_of_glibc("GLIBC_PRIVATE"), None);
        let own = std::env::current_exe().expect("this program has a path");
        let own = read(&own).expect("it should be read");
        // Rust's own programs need more than the first version for their processor.
        let needed = newest_glibc(&own).expect("it needs glibc");
        assert!((3..100).contains(&needed), "{needed}");
        assert_eq!(newest_glibc(b"not a program"), None);
    }
}
