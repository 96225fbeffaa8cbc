//! Code that both compilers for AMD GPUs, clang and `libhiprtc`, share: options, the check for unsupported builds, and
//! the check of the output.

use kiln_spec::Backend;

use crate::compiler::{Artifact, BuildKind, CompileError, CompileRequest, Compiler};
use crate::image::{self, Wanted};

/// Options of every compile. Every ROCm since 5.6 can load version 5 of code objects, while clang 22 produces version
/// 6 by default. The compile's identifier (`cuid`) is off because it would make images depend on the folder in which
/// they are compiled.
const OPTIONS: [&str; 7] = [
    "-mcode-object-version=5",
    "-fuse-cuid=none",
    "-O3",
    "-std=c++17",
    "-fdeclspec",
    "-Wno-pass-failed",
    "-Rpass-analysis=kernel-resource-usage",
];

/// The options for an architecture. `own` are the compiler's own options, which come first.
pub(super) fn flags(own: &[&str], arch: &str) -> Vec<String> {
    let options = own.iter().chain(&OPTIONS).map(ToString::to_string);
    options.chain([format!("--offload-arch={arch}")]).collect()
}

/// Returns an error for builds other than release builds, because GPUs have no check builds.
pub(super) fn check_build(request: &CompileRequest, arch: &str) -> Result<(), CompileError> {
    if request.build == BuildKind::Release {
        return Ok(());
    }
    Err(CompileError::Unsupported {
        what: format!("a checked build for {arch}"),
        help: "check on the cpu device".into(),
    })
}

/// Checks that an image is for the requested target, and returns it as an artifact. `named` is the name of the compiler
/// in messages.
pub(super) fn artifact(
    compiler: &dyn Compiler,
    named: &str,
    request: &CompileRequest,
    image: Vec<u8>,
    log: String,
) -> Result<Artifact, CompileError> {
    let arch = compiler.target_arch();
    let checked = image::check_bytes(&image, &Wanted::of_target(Backend::Hip, arch));
    checked.map_err(|text| CompileError::Failed {
        name: request.name.clone(),
        options: compiler.flags(request.build),
        log: format!("error: {named} made no code object for {arch}: {text}\n{log}"),
    })?;
    Ok(Artifact::new(Backend::Hip, arch, request.build, image, log))
}
