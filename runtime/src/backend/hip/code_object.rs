//! Common parts of the compilers for AMD GPUs: options, unsupported builds, and checks of their output.

use kiln_spec::Backend;

use crate::compiler::{Artifact, BuildKind, CompileError, CompileRequest, Compiler};
use crate::image::{self, Wanted};

/// Every ROCm since 5.6 loads version 5 of code objects, while clang 22 produces version 6 by default. An identifier
/// of the compile (`cuid`) would make images depend on the folder in which they were compiled.
const OPTIONS: [&str; 7] = [
    "-mcode-object-version=5",
    "-fuse-cuid=none",
    "-O3",
    "-std=c++17",
    "-fdeclspec",
    "-Wno-pass-failed",
    "-Rpass-analysis=kernel-resource-usage",
];

/// The options for an architecture, after the compiler's own.
pub(super) fn flags(own: &[&str], arch: &str) -> Vec<String> {
    let options = own.iter().chain(&OPTIONS).map(ToString::to_string);
    options.chain([format!("--offload-arch={arch}")]).collect()
}

/// Refuses other than release builds: GPUs have no check builds.
pub(super) fn check_build(request: &CompileRequest, arch: &str) -> Result<(), CompileError> {
    if request.build == BuildKind::Release {
        return Ok(());
    }
    Err(CompileError::Unsupported {
        what: format!("a checked build for {arch}"),
        help: "check on the cpu device".into(),
    })
}

/// The artifact of a compile, after checking that it is for the requested target; `named` is the compiler's name in
/// messages.
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
