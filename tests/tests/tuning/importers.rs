//! Runs every importer of foreign text on the inputs that fuzzing saved, and on invalid files.

use std::path::PathBuf;

use kiln_tests::command::workspace;
use kiln_tests::importers::IMPORTERS;

/// The saved inputs of an importer, in a fixed order.
fn kept(name: &str) -> Vec<PathBuf> {
    let folder = workspace().join("fuzz/corpus").join(name);
    let files = std::fs::read_dir(&folder);
    let files = files.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    files
}

#[test]
fn every_kept_input_of_the_fuzz_targets_passes_the_check_of_its_importer() {
    for (name, check) in IMPORTERS {
        let files = kept(name);
        assert!(files.len() >= 2, "{name}: {} kept inputs", files.len());
        for file in files {
            let bytes = std::fs::read(&file).expect("a kept input should be readable");
            println!("{}", file.display());
            check(&bytes);
        }
    }
}

#[test]
fn kept_inputs_are_few_and_small() {
    for (name, _) in IMPORTERS {
        let files = kept(name);
        let sizes = files
            .iter()
            .map(|file| file.metadata().map_or(0, |meta| meta.len()));
        let bytes: u64 = sizes.sum();
        assert!(files.len() <= 200, "{name}: {} files", files.len());
        assert!(bytes <= 300_000, "{name}: {bytes} bytes");
    }
}
