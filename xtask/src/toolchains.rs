//! Installs the wheels of every version of NVRTC into `target/toolchains`, for bar 56.

use std::process::Command;

use crate::step;

/// The versions of CUDA, each with that of the wheel of CCCL, which has versions of its own since 13.3.
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

/// Installs the wheels that are missing.
///
/// # Errors
/// If a wheel cannot be installed.
pub fn install() -> Result<(), String> {
    for (version, cccl) in VERSIONS {
        let folder = step::root().join("target/toolchains").join(version);
        if folder.join("nvidia").is_dir() {
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
    Ok(())
}
