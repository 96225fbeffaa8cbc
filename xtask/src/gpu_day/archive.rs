//! Packs the folder that is carried, and unpacks results. Python has the formats, and every machine of a GPU day has Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::checked::size_of;
use super::manifest::MANIFEST;
use crate::step;

/// What a borrowed machine takes: the archive and every file of the checkout, in bytes.
const MAX_BYTES: u64 = 60 << 20;

/// Packs a folder into an archive, whose format is in the ending of its name. The files are below the name of the
/// folder.
///
/// # Errors
/// If it cannot be packed, or if the archive and the checkout are larger than a borrowed machine takes.
pub(super) fn pack(folder: &Path, archive: &Path) -> Result<(), String> {
    if let Some(parent) = archive.parent() {
        fs::create_dir_all(parent)
            .map_err(|error| format!("gpu-day: {}: {error}", parent.display()))?;
    }
    let parent = folder.parent().unwrap_or(folder);
    let name = folder.file_name().unwrap_or_default();
    let mut pack = tarfile("-c", archive);
    step::run("gpu-day: packing", pack.arg(name).current_dir(parent))?;
    let sizes = sizes(size_of(archive)?, checkout_bytes()?)?;
    eprintln!(
        "xtask: gpu-day: {}: {sizes}; docs/gpu-day.md says how to call it",
        archive.display()
    );
    Ok(())
}

/// The sizes of the archive and of the checkout, as text.
fn sizes(archive: u64, checkout: u64) -> Result<String, String> {
    let sizes = format!(
        "the archive has {:.1} MiB, and the checkout {:.1} MiB",
        mebibytes(archive),
        mebibytes(checkout)
    );
    if archive + checkout <= MAX_BYTES {
        return Ok(sizes);
    }
    Err(format!(
        "gpu-day: {sizes}: more than the {:.0} MiB that can be carried\n\
         help: carry fewer images (`--images 16`), or leave the cuBLAS peer at home (`--without-cublas`)",
        mebibytes(MAX_BYTES)
    ))
}

/// Unpacks an archive of results into a new folder. Returns the folder with the manifest.
///
/// # Errors
/// If it cannot be unpacked, or if it contains no results.
pub(super) fn unpack_results(archive: &Path, into: &Path) -> Result<PathBuf, String> {
    size_of(archive)?;
    // What an interrupted import left.
    let _ = fs::remove_dir_all(into);
    let mut unpack = tarfile("-e", archive);
    step::run("gpu-day: unpacking", unpack.arg(into))?;
    let results = into.join("results");
    if !results.join(MANIFEST).is_file() {
        return Err(format!(
            "gpu-day: {} contains no results/{MANIFEST}\nhelp: name the archive that `run.sh --pack` wrote",
            archive.display()
        ));
    }
    Ok(results)
}

/// The bytes of all files that travel with the checkout: tracked, or neither tracked nor ignored.
fn checkout_bytes() -> Result<u64, String> {
    let mut list = Command::new("git");
    list.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let listed = list.current_dir(step::root()).output();
    let listed = listed.map_err(|error| format!("gpu-day: cannot start git: {error}"))?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let paths = names.split('\0').filter(|name| !name.is_empty());
    // A file that was deleted is still listed.
    Ok(paths
        .filter_map(|name| fs::symlink_metadata(step::root().join(name)).ok())
        .map(|about| about.len())
        .sum())
}

fn tarfile(action: &str, archive: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "tarfile", action]).arg(archive);
    command
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_refused_if_it_is_too_large_together_with_the_checkout() {
        assert!(sizes(MAX_BYTES - 1000, 1000).is_ok());
        let error = sizes(MAX_BYTES - 1000, 1001).unwrap_err();
        assert!(
            error.contains("60 MiB") && error.contains("\nhelp: "),
            "{error}"
        );
        let checkout = checkout_bytes().expect("git should be there");
        assert!(checkout > 1 << 20, "{checkout}");
    }

    #[test]
    fn what_is_packed_comes_back_and_other_archives_are_refused() {
        let place = tempfile::tempdir().expect("a folder should be had");
        let results = place.path().join("results");
        fs::create_dir(&results).expect("it should be made");
        fs::write(results.join("other"), "").expect("it should be written");
        let (archive, into) = (place.path().join("a.tar.xz"), place.path().join("into"));
        pack(&results, &archive).expect("it should be packed");
        let error = unpack_results(&archive, &into).unwrap_err();
        assert!(error.contains("no results/manifest.json"), "{error}");
        fs::write(results.join(MANIFEST), "{}").expect("it should be written");
        pack(&results, &archive).expect("it should be packed");
        assert_eq!(unpack_results(&archive, &into), Ok(into.join("results")));
        assert!(unpack_results(&place.path().join("none"), &into).is_err());
    }
}
