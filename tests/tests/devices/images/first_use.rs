//! Programs without an image: they compile on first use into a cache that many processes share, or report a clear
//! error.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use kiln_tests::capability::{Need, have};

use super::deployed::{Deployed, Program, ran};

/// Number of programs that start at the same time.
const PROCESSES: usize = 6;

#[test]
fn without_image_and_compiler_the_error_says_what_would_help() {
    let deployed = Deployed::new();
    let ran = deployed.build().run_bare();
    assert!(!ran.succeeded, "{ran:?}");
    println!("{}", ran.err.trim());
    for part in [
        "kernel `shift`: baked row ",
        " has no embedded image, and cannot be compiled here: a C++ compiler was not found (clang++ 19 or newer",
        "help: run `tune bake --images` and build the program again, or install clang or g++",
    ] {
        assert!(ran.err.contains(part), "no `{part}` in {ran:?}");
    }
}

#[test]
fn programs_that_start_at_once_compile_into_one_cache_which_keeps_its_bound() {
    let name = "programs_that_start_at_once_compile_into_one_cache_which_keeps_its_bound";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let program = Deployed::new().build();
    let folder = tempfile::tempdir().expect("a temporary folder should be made");
    let started: Vec<Child> = (0..PROCESSES)
        .map(|_| start(&program, folder.path(), "1000000"))
        .collect();
    started.into_iter().for_each(succeeds);
    let stored = files(&folder.path().join("artifacts"));
    assert_eq!(
        stored.len(),
        2,
        "the kernel and its check build, nothing half written: {stored:?}"
    );
    // A second start finds the compiled kernel in the cache.
    succeeds(start(&program, folder.path(), "1000000"));
    assert_eq!(files(&folder.path().join("artifacts")), stored);
    // If the cache has no capacity, each start compiles again, and the launch still succeeds.
    let small = tempfile::tempdir().expect("a temporary folder should be made");
    let started: Vec<Child> = (0..PROCESSES)
        .map(|_| start(&program, small.path(), "100"))
        .collect();
    started.into_iter().for_each(succeeds);
    let kept: u64 = files(&small.path().join("artifacts"))
        .iter()
        .map(|(_, bytes)| bytes)
        .sum();
    assert!(kept <= 100, "{kept} bytes are kept of 100");
}

fn start(program: &Program, cache: &Path, most_bytes: &str) -> Child {
    let mut command = program.with_compiler(cache);
    command.env("KILN_CACHE_BYTES", most_bytes);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program should start")
}

fn succeeds(child: Child) {
    let ran = ran(child.wait_with_output().expect("the program should end"));
    assert!(
        ran.succeeded && ran.out.contains("output: [42.0, 42.0]"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("from: a compiler, as there is no embedded image"),
        "{ran:?}"
    );
}

/// The name and the size of every file in a folder and its subfolders, sorted.
fn files(folder: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, meta) = (entry.path(), entry.metadata());
        match meta {
            Ok(meta) if meta.is_dir() => found.extend(files(&path)),
            Ok(meta) => found.push((path.display().to_string(), meta.len())),
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
    found.sort();
    found
}
