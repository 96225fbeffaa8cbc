//! Imports results: checks them, copies their tables to the kernels, and writes a report with the raw results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toml::Table;

use super::archive;
use super::checked::{hash_of, read};
use super::manifest::{MANIFEST, Manifest, STEPS};
use super::summary;
use crate::step;

/// The name of the folder with tables, both in the results and in the package of the kernels.
const TUNED: &str = "tuned";

/// The name of the index of tables.
const INDEX: &str = "index.toml";

/// A table that is imported.
struct Import {
    name: String,
    bytes: Vec<u8>,
}

/// Imports results into this repository or, with `into`, into another folder.
///
/// # Errors
/// If the results are damaged, come from another version or do not match the repository. In these cases, nothing is
/// written.
pub(super) fn import(results: &Path, into: Option<&Path>) -> Result<(), String> {
    with_folder(results, &mut |folder| import_folder(folder, into))
}

/// The manifest of results, and the records of their steps.
///
/// # Errors
/// If the results are damaged, or come from another version.
pub(super) fn read_results(results: &Path) -> Result<(Manifest, Vec<Value>), String> {
    with_folder(results, &mut |folder| {
        let manifest = Manifest::read(folder)?;
        manifest.check_files(folder)?;
        let steps = steps(folder, &manifest)?;
        Ok((manifest, steps))
    })
}

/// Uses the folder of results, which may be in an archive.
fn with_folder<T>(
    results: &Path,
    used: &mut dyn FnMut(&Path) -> Result<T, String>,
) -> Result<T, String> {
    if !results.is_file() {
        return used(results);
    }
    let unpacked = results.with_extension("").with_extension("unpacked");
    let folder = archive::unpack_results(results, &unpacked)?;
    let used = used(&folder);
    // The archive has everything that is in the folder.
    let _ = fs::remove_dir_all(unpacked);
    used
}

fn import_folder(results: &Path, into: Option<&Path>) -> Result<(), String> {
    let manifest = Manifest::read(results)?;
    manifest.check_files(results)?;
    if into.is_none() && manifest.device.key.starts_with("cpu/") {
        return Err(format!(
            "gpu-day: the results are from {}, but the rows of a cpu are valid only on its own machine\n\
             help: `--into DIR` imports a rehearsal into another folder",
            manifest.device.key
        ));
    }
    let root = into.map_or_else(step::root, Path::to_owned);
    let tables = tables(results, &manifest, &root)?;
    let steps = steps(results, &manifest)?;
    for table in &tables {
        write(
            &root.join("kernels").join(TUNED).join(&table.name),
            &table.bytes,
        )?;
    }
    let report = json!({"manifest": manifest, "steps": steps});
    let report = format!("{report:#}\n");
    let path = free_path(
        &root.join("benches/results"),
        &report_name(&manifest),
        &report,
    );
    write(&path, report.as_bytes())?;
    eprintln!(
        "xtask: gpu-day: {}: {} steps and {} tables imported; the raw results are {}",
        manifest.device.key,
        steps.len(),
        tables.len(),
        path.display()
    );
    eprint!("{}", summary::of(&steps));
    eprintln!("xtask: gpu-day: next: cargo tune bake --check, and the figures in docs/status.md");
    Ok(())
}

/// The tables in the results. Each must belong to a kernel of the library, and importing it must not lose rows.
fn tables(results: &Path, manifest: &Manifest, root: &Path) -> Result<Vec<Import>, String> {
    let mut tables = Vec::new();
    for file in manifest.files.keys() {
        let Some(name) = file.strip_prefix("tuned/") else {
            continue;
        };
        let bytes = read(&results.join(file))?;
        check_table(name, &bytes)?;
        let here = root.join("kernels").join(TUNED).join(name);
        check_unchanged(name, &here, manifest, &bytes)?;
        let name = name.to_owned();
        tables.push(Import { name, bytes });
    }
    Ok(tables)
}

/// Checks that a table is valid TOML and belongs to a kernel of the library.
fn check_table(name: &str, bytes: &[u8]) -> Result<(), String> {
    let help = "help: `tune bake` on the machine writes it anew";
    let text = String::from_utf8_lossy(bytes);
    let table: Table = text
        .parse()
        .map_err(|error| format!("gpu-day: {TUNED}/{name} is not a table: {error}\n{help}"))?;
    if name == INDEX {
        return Ok(());
    }
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let kernel = table.get("kernel").and_then(toml::Value::as_str);
    if kernel != Some(stem) {
        let kernel = kernel.unwrap_or("no kernel");
        return Err(format!(
            "gpu-day: {TUNED}/{name} belongs to {kernel}, but should belong to {stem}\n{help}"
        ));
    }
    let source = step::root().join("kernels/src").join(stem);
    if stem.contains('/') || !source.is_dir() {
        return Err(format!(
            "gpu-day: {TUNED}/{name} belongs to {stem}, which is not a kernel of the library: there is no {}\n\
             help: import results of the library's kernels only",
            source.display()
        ));
    }
    Ok(())
}

/// Checks that an import loses no rows. It could lose rows if the table in this repository changed after the folder was
/// built.
fn check_unchanged(name: &str, here: &Path, manifest: &Manifest, new: &[u8]) -> Result<(), String> {
    let (carried, here_is) = (manifest.tables.get(name), fs::read(here).ok());
    let Some(now) = here_is.as_deref().map(hash_of) else {
        return Ok(());
    };
    // An earlier call's rows may have been imported here and carried there.
    let started = manifest.started.get(name);
    if Some(&now) == carried || Some(&now) == started || now == hash_of(new) {
        return Ok(());
    }
    Err(format!(
        "gpu-day: {} changed since the folder was built: its SHA-256 was {}, but is {} now\n\
         help: put the rows of the results into it by hand (a row is a line), or import into a checkout of commit {}",
        here.display(),
        carried.map_or("none", String::as_str),
        now,
        manifest.commit
    ))
}

/// The records of all steps, each with the output of its step.
fn steps(results: &Path, manifest: &Manifest) -> Result<Vec<Value>, String> {
    let Some(file) = manifest.files.get(STEPS) else {
        return Err(format!(
            "gpu-day: {MANIFEST} names no {STEPS}: no step ended\nhelp: run.sh has not run there yet"
        ));
    };
    let mut bytes = read(&results.join(STEPS))?;
    bytes.truncate(usize::try_from(file.bytes).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes);
    let read_line = |line: &str| -> Result<Value, String> {
        let mut step: Value = serde_json::from_str(line).map_err(|error| {
            format!("gpu-day: a line of {STEPS} is not JSON: {error}\nhelp: copy the results again from the machine")
        })?;
        let file = step["file"].as_str().unwrap_or_default();
        // A file that the manifest does not list was not checked, so it is not read.
        if manifest.files.contains_key(file) {
            step["output"] = output(&results.join(file))?;
        }
        Ok(step)
    };
    text.lines().map(read_line).collect()
}

/// The output of a step as JSON, JSON lines or text. The extension of the file determines which.
fn output(path: &Path) -> Result<Value, String> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let parsed = match path.extension().and_then(std::ffi::OsStr::to_str) {
        Some("json") => serde_json::from_str(&text).ok(),
        Some("jsonl") => {
            let lines = text.lines().map(serde_json::from_str);
            lines
                .collect::<Result<Vec<Value>, _>>()
                .ok()
                .map(Value::Array)
        }
        _ => None,
    };
    // An interrupted step may leave an incomplete line.
    Ok(parsed.unwrap_or(Value::String(text)))
}

/// The name `<device>-<date>`, with only characters that are valid in a file name.
fn report_name(manifest: &Manifest) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c.to_ascii_lowercase(),
        _ => '-',
    };
    let named = format!("{}-{}", manifest.device.key, manifest.date);
    named.chars().map(plain).collect()
}

/// The path of a report: the file of an earlier import with the same content, or else a new file.
fn free_path(folder: &Path, name: &str, report: &str) -> PathBuf {
    let numbered = (2_u32..).map(|number| format!("{name}-{number}.json"));
    let mut paths = std::iter::once(format!("{name}.json"))
        .chain(numbered)
        .map(|file| folder.join(file));
    let free = paths.find(|path| fs::read(path).map_or(true, |there| there == report.as_bytes()));
    free.unwrap_or_else(|| folder.join(name))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| format!("gpu-day: {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_that_of_a_kernel_of_the_library_or_is_refused() {
        let check = |name: &str, text: &str| check_table(name, text.as_bytes());
        assert_eq!(
            check("gemm.toml", "format = 1\nkernel = \"gemm\"\n"),
            Ok(())
        );
        assert_eq!(check(INDEX, "format = 1\n[kernels]\n"), Ok(()));
        for (name, text, part) in [
            ("gemm.toml", "kernel = ", "not a table"),
            (
                "gemm.toml",
                "kernel = \"gelu\"",
                "belongs to gelu, but should belong to gemm",
            ),
            ("gemm.toml", "format = 1", "belongs to no kernel"),
            (
                "toast.toml",
                "kernel = \"toast\"",
                "not a kernel of the library",
            ),
            (
                "../x.toml",
                "kernel = \"../x\"",
                "not a kernel of the library",
            ),
        ] {
            let error = check(name, text).unwrap_err();
            assert!(
                error.contains(part) && error.contains("\nhelp: "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_second_report_of_a_day_does_not_replace_the_first() {
        let folder = tempfile::tempdir().expect("a folder should be had");
        let name = report_name(&Manifest::for_tests());
        assert_eq!(name, "cuda-sm_90-h100-2026-01-01");
        let path = |report: &str| free_path(folder.path(), &name, report);
        let first = path("first");
        assert!(first.ends_with("cuda-sm_90-h100-2026-01-01.json"));
        fs::write(&first, "first").expect("it should be written");
        assert_eq!(path("first"), first);
        assert!(path("second").ends_with("cuda-sm_90-h100-2026-01-01-2.json"));
    }

    #[test]
    fn a_table_that_got_rows_here_in_the_meantime_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder should be had");
        let here = folder.path().join("gemm.toml");
        let mut manifest = Manifest::for_tests();
        let check = |manifest: &Manifest| check_unchanged("gemm.toml", &here, manifest, b"new");
        assert_eq!(check(&manifest), Ok(()));
        fs::write(&here, "old").expect("it should be written");
        let error = check(&manifest).unwrap_err();
        assert!(error.contains("was none, but is "), "{error}");
        manifest.tables.insert("gemm.toml".into(), hash_of(b"old"));
        assert_eq!(check(&manifest), Ok(()));
        // Rows of an earlier call were imported here, and carried there.
        fs::write(&here, "rows of A").expect("it should be written");
        assert!(check(&manifest).is_err());
        manifest
            .started
            .insert("gemm.toml".into(), hash_of(b"rows of A"));
        assert_eq!(check(&manifest), Ok(()));
        // The table was imported before.
        fs::write(&here, "new").expect("it should be written");
        assert_eq!(check(&manifest), Ok(()));
    }
}
