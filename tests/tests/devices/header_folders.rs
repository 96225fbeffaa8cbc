//! The folders from which compilers read headers. A damaged folder is unpacked again. If the cache cannot be written,
//! at most one temporary folder remains.

use std::fs;
use std::path::Path;

use kiln_tests::capability::{Need, have, older_nvrtc};
use kiln_tests::command::{expect_code, tune_alone};
use kiln_tests::plain_package::write_package;
use tempfile::TempDir;

const CRATE: &str = include_str!("../../fixtures/adding/src/lib.rs");
const SOURCE: &str = include_str!("../../fixtures/adding/src/add.cu");

/// A package whose kernel needs `cuda_fp16.h`.
fn package() -> TempDir {
    package_of(&SOURCE.replace("c[i] = ", "c[i] = __half2float(__float2half(1.0f)) * "))
}

/// A package with this source of its kernel.
fn package_of(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let files = [("src/lib.rs", CRATE), ("src/add.cu", source)];
    write_package(folder.path(), "halves", &files);
    folder
}

/// Compiles a config that was not compiled before, which needs the headers.
fn inspect(package: &Path, cache: &Path, temporary: &Path, threads: u32) {
    let mut command = tune_alone(package, cache);
    let config = format!("VECTOR_WIDTH=1,THREADS={threads}");
    command.args(["inspect", "--target", "sm_89", "--config", &config]);
    expect_code(command.env("TMPDIR", temporary), 0);
}

fn names_in(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder should be there");
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn headers_of_nvrtcs_that_were_damaged_are_unpacked_again() {
    let name = "headers_of_nvrtcs_that_were_damaged_are_unpacked_again";
    if !have(name, &[Need::Nvrtc]) {
        return;
    }
    let package = package();
    let (root, cache) = (package.path(), package.path().join("cache"));
    inspect(root, &cache, &std::env::temp_dir(), 64);
    let include = cache.join("include");
    let [unpacked] = &names_in(&include, "nvrtc-")[..] else {
        eprintln!("not run: {name}: this NVRTC unpacks no headers");
        return;
    };
    let header = include.join(unpacked).join("cuda_fp16.h");
    let whole = fs::read(&header).expect("the header should be there");
    fs::write(&header, "").expect("the header should be written");
    inspect(root, &cache, &std::env::temp_dir(), 128);
    assert_eq!(fs::read(&header).expect("it should be there again"), whole);
}

/// Since CUDA 13, `cub/`, `cuda/std/` and `thrust/` are in `include/cccl`, and `crt/` is in a wheel of its own.
#[test]
fn headers_of_the_wheels_of_cuda_13_are_found() {
    let name = "headers_of_the_wheels_of_cuda_13_are_found";
    if !have(name, &[Need::OlderNvrtc]) {
        return;
    }
    let headers = [
        "mma.h",
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
        "cuda_fp8.h",
        "cub/cub.cuh",
        "cuda/functional",
        "cuda/std/cmath",
        "thrust/tuple.h",
    ];
    let includes: String = headers
        .iter()
        .map(|header| format!("#include <{header}>\n"))
        .collect();
    let package = package_of(&(includes + SOURCE));
    let mut command = tune_alone(package.path(), &package.path().join("cache"));
    command.args(["inspect", "--target", "sm_90", "--config"]);
    command.arg("VECTOR_WIDTH=1,THREADS=64");
    command.env("KILN_NVRTC", older_nvrtc("13.0"));
    expect_code(&mut command, 0);
}

#[test]
fn without_a_cache_headers_lie_in_one_folder_that_the_next_process_finds() {
    let name = "without_a_cache_headers_lie_in_one_folder_that_the_next_process_finds";
    if !have(name, &[Need::Nvrtc]) {
        return;
    }
    let package = package();
    let temporary = tempfile::tempdir().expect("a temporary directory should be had");
    // It is impossible to create a folder here.
    let cache = Path::new("/proc/kiln");
    inspect(package.path(), cache, temporary.path(), 64);
    let left = names_in(temporary.path(), "kiln-");
    assert_eq!(left.len(), 1, "{left:?}");
    let folder = temporary.path().join(&left[0]);
    let first = names_in(&folder, "");
    inspect(package.path(), cache, temporary.path(), 128);
    assert_eq!(names_in(temporary.path(), "kiln-"), left);
    assert_eq!(names_in(&folder, ""), first);
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&folder).expect("it is there"));
    assert_eq!(mode & 0o077, 0, "nobody else may write there: {mode:o}");
}
