//! Makes what the GPU machine would otherwise have to compile or to miss: headers, images of kernels, and the cubins with
//! which its driver is tried.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::Options;
use super::files::{copy, make};
use crate::step;

/// The number of cores of the machine. `tune run` tries configs in batches, whose size depends on it.
const CORES: &str = "16";

/// A kernel and a problem.
type Tuned = (String, String);

/// Fills the folder with headers, images and cubins. Without an NVRTC, there is nothing to do.
///
/// # Errors
/// If something cannot be compiled or copied.
pub(super) fn carry(out: &Path, options: &Options) -> Result<(), String> {
    let Some(nvrtc) = options.nvrtc.as_deref() else {
        eprintln!("xtask: gpu-day: without NVRTC, neither headers nor images are carried");
        return Ok(());
    };
    headers(nvrtc, &out.join("headers/include"))?;
    cubins(nvrtc, out, &options.arch)?;
    if options.images > 0 {
        for (kernel, problem) in tuned(out)? {
            images((&kernel, &problem), nvrtc, out, options)?;
        }
    }
    Ok(())
}

/// Copies the headers that are in separate wheels, which PyTorch does not install. Since CUDA 13, those of CCCL have a
/// folder of their own.
fn headers(nvrtc: &Path, to: &Path) -> Result<(), String> {
    let include = nvrtc.join("nvidia/cu13/include");
    for (from, to) in [("crt", to.join("crt")), ("cccl", to.to_owned())] {
        if include.join(from).is_dir() {
            copy(&include.join(from), &to)?;
        }
    }
    Ok(())
}

/// Compiles the kernel with which the driver is tried, by the NVRTC of the machine and by the newest one.
fn cubins(nvrtc: &Path, out: &Path, arch: &str) -> Result<(), String> {
    let probe = out.join("probe");
    make(&probe)?;
    let newest = step::root().join("target/nvrtc");
    for folder in [nvrtc, &newest] {
        let Some(library) = library(folder) else {
            continue;
        };
        let version = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut compile = Command::new("python3");
        compile.arg(out.join("day/nvrtc.py")).arg(library);
        compile.arg(out.join("day/probe.cu")).arg(real(arch));
        compile.arg(probe.join(format!("{version}.cubin")));
        step::run("gpu-day: a cubin to try the driver", &mut compile)?;
    }
    Ok(())
}

/// The architecture whose code has every instruction of the GPU.
fn real(arch: &str) -> String {
    match arch {
        "sm_90" => "sm_90a".to_owned(),
        other => other.to_owned(),
    }
}

/// The library of an NVRTC that was unpacked from wheels.
fn library(folder: &Path) -> Option<PathBuf> {
    let folder = folder.join("nvidia/cu13/lib");
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libnvrtc.so")
    })
}

/// The problems that the day tunes on a GPU, as the list of its steps has them.
fn tuned(out: &Path) -> Result<Vec<Tuned>, String> {
    let print = "import json, steps; print(json.dumps(steps.GPU_TUNED))";
    let mut ask = Command::new("python3");
    ask.args(["-c", print]).env("PYTHONPATH", out.join("day"));
    ask.env("PYTHONDONTWRITEBYTECODE", "1");
    let said = ask.output();
    let said = said.map_err(|error| format!("gpu-day: cannot start python3: {error}"))?;
    let unreadable = |error| format!("gpu-day: steps.py lists no problems: {error}");
    let list: Value = serde_json::from_slice(&said.stdout).map_err(unreadable)?;
    serde_json::from_value(list).map_err(unreadable)
}

/// Compiles the configs that `tune run` tries first for a problem. They go into the cache that is carried.
fn images(
    (kernel, problem): (&str, &str),
    nvrtc: &Path,
    out: &Path,
    options: &Options,
) -> Result<(), String> {
    let mut inspect = Command::new(out.join("bin/tune"));
    inspect.args(["inspect", "-p", "kiln-kernels", "--kernel", kernel]);
    inspect.args(["--problem", problem, "--target", &options.arch]);
    inspect.args(["--baseline", "--first", &options.images.to_string()]);
    inspect.args(["--jobs", CORES]);
    inspect.current_dir(step::root());
    inspect.env("KILN_NVRTC", nvrtc);
    inspect.env("KILN_CACHE", out.join("cache"));
    step::run(&format!("gpu-day: images of {kernel}"), &mut inspect)
}
