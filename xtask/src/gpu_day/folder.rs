//! Builds the folder that is copied to a machine with a GPU.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::checked::hash_of_file;
use super::files::{copy, failed, files, make, write};
use super::manifest::MANIFEST;
use super::{Options, archive, images, programs};
use crate::step::{self, cargo};

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
/// If something does not build, or if the archive is too large to be carried.
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
    images::carry(out, options)?;
    if let Some(have) = &options.have {
        let unpacked = out.join("unpacked");
        let results = archive::unpack_results(have, &unpacked)?;
        fs::rename(results, out.join("have")).map_err(|error| failed(have, &error))?;
        fs::remove_dir_all(&unpacked).map_err(|error| failed(&unpacked, &error))?;
    }
    archive::pack(out, &options.archive)
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

#[cfg(test)]
mod tests {
    use super::*;

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
