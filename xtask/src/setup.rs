//! Installs what the tests need and is missing. It says what it will install before it does.

use std::path::Path;
use std::process::Command;

use crate::apt::apt;
use crate::{kernel_tuner, occupancy_header, older_nvrtc, step};

/// A program that tests use, and the Debian packages that bring it.
struct Tool {
    program: &'static str,
    packages: &'static [&'static str],
}

const TOOLS: &[Tool] = &[
    Tool {
        program: "g++",
        packages: &["g++"],
    },
    Tool {
        program: "python3",
        packages: &["python3", "python3-venv"],
    },
    Tool {
        program: "objdump",
        packages: &["binutils"],
    },
    Tool {
        program: "git",
        packages: &["git"],
    },
];

/// The versions of clang that kernels are compiled with here, from the newest. One of them is enough.
const CLANG: &[u32] = &[22, 19];

/// What belongs to a version of clang: the linker for AMD GPUs, the sanitizers, and the program that gives their
/// reports lines.
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

/// The wheel that brings NVRTC and the CUDA headers: NVIDIA's compiler as a library, which needs no GPU.
const NVRTC_WHEEL: &str = "nvidia-cuda-nvrtc==13.5.37";

/// Looks for each tool and installs the missing ones if that is possible.
///
/// # Errors
/// When `CI=true` and a needed tool is neither there nor to be had.
pub fn run() -> Result<(), String> {
    let tools = wanted();
    let absent = || tools.iter().filter(|(program, _)| !step::there(program));
    let packages: Vec<&str> = absent()
        .flat_map(|(_, packages)| packages.iter().map(String::as_str))
        .collect();
    if !packages.is_empty() {
        // One by one if not all can be had: some are better than none.
        if !apt(&packages) {
            for (_, packages) in absent() {
                apt(&packages.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }
    for (program, packages) in &tools {
        if step::there(program) {
            eprintln!("xtask: setup: {program} is there");
        } else {
            missing(program, &format!("apt-get install {}", packages.join(" ")))?;
        }
    }
    nvrtc()?;
    kernel_tuner::install().or_else(|how| missing("Kernel Tuner", &how))?;
    hip_runtime();
    if let Err(how) = occupancy_header::install() {
        missing("cuda_occupancy.h", &how)?;
    }
    if let Err(how) = older_nvrtc::install() {
        missing("an earlier NVRTC", &how)?;
    }
    packages_of_lock_file()
}

/// All programs that tests use, and their packages. Of the versions of clang it is the newest that is here, or the
/// oldest, which Debian has.
fn wanted() -> Vec<(String, Vec<String>)> {
    let owned = |tool: &Tool| {
        let packages = tool.packages.iter().map(|&package| package.to_owned());
        (tool.program.to_owned(), packages.collect())
    };
    let here = CLANG
        .iter()
        .find(|version| step::there(&format!("clang++-{version}")));
    let version = here.or(CLANG.last()).copied().unwrap_or(19);
    let tools = TOOLS.iter().map(owned);
    tools.chain(tools_of_clang(version)).collect()
}

/// Downloads every package of the lock file: crates that tests make build offline, with features that nothing here
/// builds with.
fn packages_of_lock_file() -> Result<(), String> {
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
        if Path::new(file).exists() {
            continue;
        }
        if !apt(&[package]) {
            eprintln!("xtask: setup: {file} is missing; tests that need it will be skipped");
            eprintln!("help: apt-get install {package}");
        }
    }
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
        "xtask: setup: will install {NVRTC_WHEEL} into {}",
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
pub fn has_nvrtc(folder: &Path) -> bool {
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
