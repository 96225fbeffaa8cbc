//! Installs what the tests need and is missing, and says what it did.

use std::path::Path;
use std::process::Command;

use crate::apt::apt;
use crate::{kernel_tuner, occupancy_header, step};

/// Compilers that the tests run kernels through, with the Debian packages that bring them.
const CLANG: &[(&str, &[&str])] = &[
    ("clang++-22", &["clang-22", "lld-22", "libclang-rt-22-dev"]),
    ("clang++-19", &["clang-19", "lld-19", "libclang-rt-19-dev"]),
];

/// The wheel that brings NVRTC and the CUDA headers: NVIDIA's compiler as a library, which needs no GPU.
const NVRTC_WHEEL: &str = "nvidia-cuda-nvrtc==13.5.37";

/// Looks for each tool and installs the missing ones where that is possible.
///
/// # Errors
/// When `CI=true` and a needed tool is neither there nor to be had.
pub fn run() -> Result<(), String> {
    if !step::there("g++") && !apt(&["g++"]) {
        missing("g++", "install a C++ compiler: apt-get install g++")?;
    }
    let found = CLANG.iter().find(|(program, _)| step::there(program));
    match found {
        Some((program, packages)) => {
            eprintln!("xtask: setup: {program} is there");
            linker_of(program, packages)?;
        }
        None if CLANG.iter().rev().any(|(_, packages)| apt(packages)) => {}
        None => missing(
            "clang 19 or newer",
            "apt-get install clang-19 lld-19 libclang-rt-19-dev",
        )?,
    }
    nvrtc()?;
    kernel_tuner::install().or_else(|how| missing("Kernel Tuner", &how))?;
    for (tool, packages) in [
        ("objdump", ["binutils"]),
        ("valgrind", ["valgrind"]),
        ("git", ["git"]),
    ] {
        if !step::there(tool) && !apt(&packages) {
            missing(tool, &format!("apt-get install {}", packages[0]))?;
        }
    }
    hip_runtime();
    if let Err(how) = occupancy_header::install() {
        missing("cuda_occupancy.h", &how)?;
    }
    packages()
}

/// Downloads every package of the lock file: crates that tests make build offline, with features that nothing here
/// builds with.
fn packages() -> Result<(), String> {
    let fetched = step::cargo(&["fetch", "--locked", "--quiet"]).status();
    if fetched.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    missing(
        "a package of Cargo.lock",
        "run `cargo fetch --locked` with a network",
    )
}

/// AMD's runtime, which says here that it has no device, and its headers, which our table of functions is compiled against.
/// Where they cannot be had the tests of them are skipped, in CI too: they need no part of ROCm but these packages.
fn hip_runtime() {
    for (file, package) in [
        (
            "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
            "libamdhip64-5",
        ),
        ("/usr/include/hip/hip_runtime_api.h", "libamdhip64-dev"),
    ] {
        if !Path::new(file).exists() && !apt(&[package]) {
            eprintln!("xtask: setup: {file} is missing; tests that need it will be skipped");
            eprintln!("help: apt-get install {package}");
        }
    }
}

/// Linking for AMD GPUs takes the linker of the same version as clang.
fn linker_of(clang: &str, packages: &[&str]) -> Result<(), String> {
    let linker = clang.replace("clang++", "ld.lld");
    let lld: Vec<_> = packages
        .iter()
        .copied()
        .filter(|name| name.starts_with("lld"))
        .collect();
    if step::there(&linker) || apt(&lld) {
        return Ok(());
    }
    missing(&linker, &format!("apt-get install {}", lld.join(" ")))
}

/// Installs NVRTC's wheel into `target/nvrtc`, where programs of this workspace find it.
fn nvrtc() -> Result<(), String> {
    if let Some(given) = std::env::var_os("KILN_NVRTC").filter(|value| !value.is_empty()) {
        eprintln!(
            "xtask: setup: NVRTC is given: KILN_NVRTC={}",
            given.display()
        );
        return Ok(());
    }
    let folder = step::root().join("target/nvrtc");
    if has_nvrtc(&folder) {
        eprintln!("xtask: setup: NVRTC is there: {}", folder.display());
        return Ok(());
    }
    eprintln!(
        "xtask: setup: installing {NVRTC_WHEEL} into {}",
        folder.display()
    );
    let installed = into_environment(&folder)
        || (apt(&["python3-venv"]) && into_environment(&folder))
        || pip(
            Command::new("python3").args(["-m", "pip"]),
            &["--target".as_ref(), folder.as_os_str()],
        );
    if installed && has_nvrtc(&folder) {
        eprintln!("xtask: setup: installed {NVRTC_WHEEL} by pip");
        return Ok(());
    }
    missing(
        "NVRTC",
        &format!("pip install {NVRTC_WHEEL}, then set KILN_NVRTC to the folder it is in"),
    )
}

/// Whether a virtual environment or folder of packages has the library.
fn has_nvrtc(folder: &Path) -> bool {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut packages = vec![folder.join("nvidia")];
    packages.extend(
        entries(&folder.join("lib"))
            .into_iter()
            .map(|python| python.join("site-packages/nvidia")),
    );
    let libraries = packages
        .iter()
        .flat_map(|package| entries(package))
        .map(|part| part.join("lib"));
    libraries.flat_map(|folder| entries(&folder)).any(|file| {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.starts_with("libnvrtc.so")
    })
}

/// Makes a virtual environment and installs the wheel into it.
fn into_environment(folder: &Path) -> bool {
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(folder);
    make.output().is_ok_and(|output| output.status.success())
        && pip(&mut Command::new(folder.join("bin/pip")), &[])
}

/// Installs the wheel alone: it needs none of what it names.
fn pip(pip: &mut Command, more: &[&std::ffi::OsStr]) -> bool {
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--only-binary", ":all:", NVRTC_WHEEL])
        .args(more);
    match pip.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            eprintln!(
                "xtask: setup: pip: {}",
                said.trim().lines().last().unwrap_or_default()
            );
            false
        }
        Err(_) => false,
    }
}

/// A missing tool is an error in CI and a notice elsewhere: the tests that need it then skip, counted.
fn missing(tool: &str, how: &str) -> Result<(), String> {
    if std::env::var("CI").as_deref() == Ok("true") {
        return Err(format!(
            "{tool} is missing and could not be installed\nhelp: {how}"
        ));
    }
    eprintln!("xtask: setup: {tool} is missing; tests that need it will be skipped\nhelp: {how}");
    Ok(())
}
