//! Builds the folder that is copied to a machine with a GPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use walkdir::WalkDir;

use super::checked::{hash_of_file, size_of};
use super::manifest::MANIFEST;
use super::{Options, programs};
use crate::step::{self, cargo};

/// Maximum size of the folder, in bytes. A borrowed machine may not accept more.
const MAX_BYTES: u64 = 60 << 20;

/// The file that marks a folder as built by this command.
const MARK: &str = "day.json";

/// The package whose kernels are copied.
const PACKAGE: &str = "kiln-kernels";

/// The paths to copy, each with its destination in the folder.
const COPIED: [(&str, &str); 5] = [
    ("kernels/Cargo.toml", "kernels/Cargo.toml"),
    ("kernels/src", "kernels/src"),
    ("kernels/tuned", "kernels/tuned"),
    ("benches/peers/kernels", "benches/peers/kernels"),
    ("benches/gpu-day", "day"),
];

/// Builds the folder. Replaces a folder that an earlier run built.
///
/// # Errors
/// If something does not build, or if the folder is too large to be copied.
pub(super) fn build(options: &Options) -> Result<(), String> {
    let out = options.out.as_path();
    clear(out)?;
    let programs = out.join("bin");
    make(&programs)?;
    // Write this file first, so that the next run recognises a folder that was only partly built.
    write(&out.join(MARK), &described()?)?;
    for (from, to) in COPIED {
        copy(&step::root().join(from), &out.join(to))?;
    }
    let run = out.join("run.sh");
    fs::rename(out.join("day/run.sh"), &run).map_err(|error| failed(&run, &error))?;
    write(&out.join("cargo-metadata.json"), &metadata()?)?;
    programs::carry(&programs, options)?;
    let bytes = small_enough(out, MAX_BYTES)?;
    eprintln!(
        "xtask: gpu-day: {} has {:.1} MiB; there: ./run.sh 1 --device cuda:0 (docs/gpu-day.md)",
        out.display(),
        mebibytes(bytes)
    );
    Ok(())
}

/// Removes a folder that this command built. It is an error if the folder contains results, or if this command did not
/// build the folder and it is not empty.
fn clear(out: &Path) -> Result<(), String> {
    let results = out.join("results");
    if results.join(MANIFEST).exists() {
        return Err(format!(
            "gpu-day: {} holds results\nhelp: `cargo xtask gpu-day --import {}`, then remove that folder; or `--out` another one",
            out.display(),
            results.display()
        ));
    }
    let used = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if !used {
        return Ok(());
    }
    if !out.join(MARK).is_file() {
        return Err(format!(
            "gpu-day: {} is not empty, and no folder of gpu-day (it has no {MARK})\nhelp: `--out` another folder",
            out.display()
        ));
    }
    fs::remove_dir_all(out).map_err(|error| failed(out, &error))
}

/// The facts about the folder that are needed when its results are imported: the version of Kiln, the commit, and
/// hashes of the tables.
fn described() -> Result<Value, String> {
    let mut tables = BTreeMap::new();
    for table in files(&step::root().join("kernels/tuned"))? {
        if table.extension().is_some_and(|ending| ending == "toml") {
            let name = table.file_name().unwrap_or_default().to_string_lossy();
            tables.insert(name.into_owned(), hash_of_file(&table)?);
        }
    }
    let mut head = Command::new("git");
    head.args([
        "describe",
        "--always",
        "--dirty",
        "--abbrev=40",
        "--exclude=*",
    ]);
    head.current_dir(step::root());
    let commit = head.output().ok().filter(|said| said.status.success());
    let commit = commit.map_or("unknown".into(), |said| {
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    });
    Ok(json!({"kiln": env!("CARGO_PKG_VERSION"), "commit": commit, "tables": tables}))
}

/// The output of `cargo metadata`, reduced to the copied package, because the other packages are not in the folder.
fn metadata() -> Result<Value, String> {
    let mut ask = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let said = ask.output();
    let said = said.map_err(|error| format!("gpu-day: cannot start cargo: {error}"))?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(format!("gpu-day: cargo metadata: {}", why.trim()));
    }
    let mut answer: Value = serde_json::from_slice(&said.stdout)
        .map_err(|error| format!("gpu-day: cargo metadata: {error}"))?;
    let packages = answer["packages"].as_array().cloned().unwrap_or_default();
    let mut packages = packages.into_iter();
    let package = packages.find(|package| package["name"] == PACKAGE);
    let package = package.ok_or_else(|| format!("gpu-day: cargo knows no {PACKAGE}"))?;
    for members in ["workspace_members", "workspace_default_members"] {
        answer[members] = json!([package["id"]]);
    }
    answer["packages"] = json!([package]);
    Ok(answer)
}

/// The size of a folder in bytes. It is an error if the folder is larger than `most` bytes.
fn small_enough(folder: &Path, most: u64) -> Result<u64, String> {
    let mut sizes = Vec::new();
    for file in files(folder)? {
        sizes.push((size_of(&file)?, file));
    }
    let bytes: u64 = sizes.iter().map(|(bytes, _)| bytes).sum();
    if bytes <= most {
        return Ok(bytes);
    }
    sizes.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let largest = sizes.iter().take(5).map(|(bytes, file)| {
        let inside = file.strip_prefix(folder).unwrap_or(file);
        format!("{} ({:.1} MiB)", inside.display(), mebibytes(*bytes))
    });
    Err(format!(
        "gpu-day: {} has {:.1} MiB, more than the {:.1} MiB that can be carried; the largest files: {}\n\
         help: install `strip`, or leave the cuBLAS peer at home (`--without-cublas`)",
        folder.display(),
        mebibytes(bytes),
        mebibytes(most),
        largest.collect::<Vec<_>>().join(", ")
    ))
}

/// Copies a file, or a folder with its content.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    for file in files(from)? {
        let inside = file.strip_prefix(from).unwrap_or(&file);
        if inside
            .components()
            .any(|part| part.as_os_str() == "__pycache__")
        {
            continue;
        }
        // For a single file, the relative path is empty.
        let to = if inside.as_os_str().is_empty() {
            to.to_owned()
        } else {
            to.join(inside)
        };
        make(to.parent().unwrap_or(&to))?;
        fs::copy(&file, &to).map_err(|error| failed(&to, &error))?;
    }
    Ok(())
}

/// The files in a folder and its subfolders. For a file, the file itself.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("gpu-day: {error}"))?;
        if entry.file_type().is_file() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

fn write(path: &Path, value: &Value) -> Result<(), String> {
    fs::write(path, format!("{value:#}\n")).map_err(|error| failed(path, &error))
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("gpu-day: {}: {error}", path.display())
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_too_large_is_refused_with_its_largest_files() {
        let folder = tempfile::tempdir().expect("a folder should be had");
        for (name, bytes) in [("small", 10), ("large", 5000), ("middle", 300)] {
            fs::write(folder.path().join(name), vec![0; bytes]).expect("it should be written");
        }
        assert_eq!(small_enough(folder.path(), 5310), Ok(5310));
        let error = small_enough(folder.path(), 5309).unwrap_err();
        let places = ["large (", "middle (", "small ("].map(|name| error.find(name));
        assert!(places.is_sorted() && places[0].is_some(), "{error}");
        assert!(error.contains("\nhelp: "), "{error}");
    }

    #[test]
    fn no_folder_of_others_and_no_results_are_removed() {
        let folder = tempfile::tempdir().expect("a folder should be had");
        assert_eq!(clear(folder.path()), Ok(()));
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, "").expect("it should be written");
        let error = clear(folder.path()).unwrap_err();
        assert!(error.contains("no folder of gpu-day"), "{error}");
        fs::write(folder.path().join(MARK), "").expect("it should be written");
        make(&folder.path().join("results")).expect("it should be made");
        let manifest = folder.path().join("results").join(MANIFEST);
        fs::write(&manifest, "").expect("it should be written");
        let error = clear(folder.path()).unwrap_err();
        assert!(error.contains("holds results"), "{error}");
        fs::remove_file(manifest).expect("it should be removed");
        assert_eq!(clear(folder.path()), Ok(()));
        assert!(!folder.path().exists());
    }
}
