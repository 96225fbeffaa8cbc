//! Compiles the kernel library with the NVRTC of earlier toolkits, which match most drivers.

use kiln_tests::capability::{Need, OLDER_NVRTC, have, in_full, older_nvrtc};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::Value;

/// The kernels whose headers need the most compiler features: tiles, copies in flight, and warps.
const DEMANDING: [&str; 2] = ["-k", "gemm_f16,flash_attention,conv3x3,softmax"];

/// Compiles kernels, at the extremes of their search spaces, for the oldest GPU that Kiln supports. In full
/// measurements, it compiles every kernel for every GPU.
fn compiles_with(version: &str, more: &[&str]) {
    if !have(
        &format!("the library with NVRTC {version}"),
        &[Need::OlderNvrtc],
    ) {
        return;
    }
    let targets: &[&str] = if in_full() {
        &["sm_86", "sm_89", "sm_90"]
    } else {
        &["sm_86"]
    };
    let more = if in_full() { &[] } else { more };
    for target in targets {
        compiles_for(target, version, more);
    }
}

/// On Hopper, the shared memory that an image reports must equal the compiler's figure, for every toolkit.
#[test]
fn kernels_with_shared_memory_compile_for_hopper_with_the_oldest_nvrtc() {
    let test = "kernels_with_shared_memory_compile_for_hopper_with_the_oldest_nvrtc";
    if have(test, &[Need::OlderNvrtc]) {
        compiles_for("sm_90", OLDER_NVRTC[0], &["-k", "transpose,softmax"]);
    }
}

fn compiles_for(target: &str, version: &str, more: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mut command = tune(&workspace(), &folder.path().join("cache"));
    command.args(["inspect", "-p", "kiln-kernels", "--target", target]);
    command.args(["--all-corners", "--json"]).args(more);
    command.env("KILN_NVRTC", older_nvrtc(version));
    let output = expect_code(&mut command, 0);
    let found: Vec<Value> = serde_json::from_str(&stdout(&output)).expect("it should be JSON");
    let least = if more.is_empty() { 60 } else { 4 };
    assert!(found.len() >= least, "only {} configs", found.len());
    let failed = found.iter().filter(|one| !one["error"].is_null());
    let failed: Vec<String> = failed
        .map(|one| format!("{} {}: {}", one["kernel"], one["config"], one["error"]))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    println!("NVRTC {version}, {target}: {} corners compile", found.len());
}

#[test]
fn the_library_compiles_with_the_oldest_nvrtc_that_is_supported() {
    compiles_with(OLDER_NVRTC[0], &[]);
}

#[test]
fn the_library_compiles_with_the_newest_nvrtc_of_cuda_12() {
    compiles_with(OLDER_NVRTC[1], &DEMANDING);
}

#[test]
fn the_library_compiles_with_the_oldest_nvrtc_of_cuda_13() {
    compiles_with(OLDER_NVRTC[2], &DEMANDING);
}
