//! Fuzzes each importer of other tuners' files for ten minutes.

use std::path::Path;
use std::process::Command;

use crate::step;

/// Time for each fuzz target, in seconds.
const SECONDS: u32 = 600;

const HELP: &str = "help: rustup toolchain install nightly; cargo install cargo-fuzz --locked; docs/bars.md says what is fuzzed";

/// Runs every target of `fuzz/`, one after another. libFuzzer stores new inputs in `target/fuzz`. If an input causes
/// a crash, libFuzzer stores it in `fuzz/artifacts`. Git ignores both folders.
///
/// # Errors
/// If a target crashes, or if a tool is missing.
pub fn run() -> Result<(), String> {
    let nightly = answers(Command::new("cargo").args(["+nightly", "--version"]));
    let tool = answers(Command::new("cargo").args(["+nightly", "fuzz", "--version"]));
    if !nightly || !tool {
        let what = if nightly { "cargo-fuzz" } else { "nightly" };
        return Err(format!("fuzzing needs {what}\n{HELP}"));
    }
    let root = step::root();
    for target in targets(&root)? {
        let found = root.join("target/fuzz").join(&target);
        std::fs::create_dir_all(&found)
            .map_err(|error| format!("cannot make {}: {error}", found.display()))?;
        let mut fuzz = Command::new("cargo");
        fuzz.current_dir(&root)
            // Importers contain no unsafe code, so the time that a sanitizer costs is better spent on more inputs.
            .args(["+nightly", "fuzz", "run", "--sanitizer", "none", &target])
            .arg(&found)
            .arg(root.join("fuzz/corpus").join(&target))
            .arg("--")
            .arg(format!("-max_total_time={SECONDS}"))
            .args([
                "-max_len=2048",
                "-timeout=5",
                "-rss_limit_mb=1500",
                "-malloc_limit_mb=600",
            ])
            .arg(format!("-dict=fuzz/dictionaries/{target}.dict"))
            .arg("-verbosity=0")
            .arg("-print_final_stats=1")
            .env("CARGO_TARGET_DIR", root.join("target/fuzz/build"));
        step::run(&format!("bar 24, fuzzing {target}"), &mut fuzz)?;
    }
    Ok(())
}

/// The names of the fuzz targets. Each target is one file.
fn targets(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder);
    let files = files.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let name = |file: std::fs::DirEntry| {
        let path = file.path();
        Some(path.file_stem()?.to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = files.flatten().filter_map(name).collect();
    names.sort();
    Ok(names)
}

fn answers(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
