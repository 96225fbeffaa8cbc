//! Bar 56: compiles with every version of NVRTC, installed in every way. The wheels for it are installed into
//! `target/toolchains`.

use std::process::Command;

use crate::step::{self, cargo};

/// The versions: of NVRTC and the runtime, of CCCL, and of the headers of the compiler. Wheels of CCCL have versions of
/// their own since 13.3.
const VERSIONS: [(&str, &str); 11] = [
    ("12.1", "12.1.*"),
    ("12.4", "12.4.*"),
    ("12.6", "12.6.*"),
    ("12.8", "12.8.*"),
    ("12.9", "12.9.*"),
    ("13.0", "13.0.*"),
    ("13.1", "13.1.*"),
    ("13.2", "13.2.*"),
    ("13.3", "13.3.3.*"),
    ("13.4", "13.3.4.*"),
    ("13.5", "13.3.5.*"),
];

/// Installs the wheels that are missing, and runs the tests.
///
/// # Errors
/// If a wheel cannot be installed, or if a test fails.
pub fn run() -> Result<(), String> {
    for (version, cccl) in VERSIONS {
        let folder = step::root().join("target/toolchains").join(version);
        if folder.is_dir() {
            continue;
        }
        let (suffix, crt) = if version.starts_with("12") {
            ("-cu12", "nvcc")
        } else {
            ("", "crt")
        };
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
            .arg(&folder);
        for part in ["nvrtc", "runtime", crt] {
            pip.arg(format!("nvidia-cuda-{part}{suffix}=={version}.*"));
        }
        pip.arg(format!("nvidia-cuda-cccl{suffix}=={cccl}"));
        step::run(&format!("wheels of CUDA {version}"), &mut pip)?;
    }
    for filter in ["toolchains::", "same_bytes::"] {
        let mut tests = cargo(&[
            "test",
            "--release",
            "--package",
            "kiln-tests",
            "--test",
            "devices",
            "--",
        ]);
        tests
            .args(["--nocapture", "--test-threads=1", filter])
            .env("KILN_BARS", "1");
        step::run("every toolchain", &mut tests)?;
    }
    Ok(())
}
