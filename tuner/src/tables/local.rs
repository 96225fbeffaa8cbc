//! Local tables, which are not committed. If `KILN_TUNED` is set to their folder, a build uses them instead of the
//! committed tables. They therefore contain the committed rows and, in addition, the rows of this machine's cpu and of
//! the fake device.

use std::fs;
use std::io;
use std::path::Path;

use kiln_spec::Backend;
use kiln_spec::baked::{BakedError, BakedTable, INDEX_FILE, Index, Row};

use super::TableError;
use crate::error::Failure;
use crate::tables::files::{
    read_index, read_index_to_update, read_table, read_to_update, write_if_changed,
};

/// Updates a folder of local tables from the committed tables, for every kernel that has a committed table. The local
/// tables keep their rows of cpu and fake devices. Does nothing if there is no index of committed tables. Returns
/// descriptions of damaged committed tables. Of these, the rows that can be read are used.
///
/// # Errors
/// If a table, index or image cannot be read or written.
pub fn refresh(committed: &Path, local: &Path) -> Result<Vec<String>, Failure> {
    let mut damages = Vec::new();
    if !committed.join(INDEX_FILE).exists() {
        return Ok(damages);
    }
    let index = read_index_to_update(committed)?;
    let mut known = read_index_to_update(local)?;
    fs::create_dir_all(local).map_err(Failure::file("make the folder", local))?;
    for (kernel, file) in index.iter() {
        let first = |_: &Row| false;
        let Some(theirs) = read_to_update(&committed.join(file), kernel, &first)? else {
            continue;
        };
        damages.extend(theirs.damage);
        let ours = read_to_update(&local.join(file), kernel, &first)?;
        let ours = ours.as_ref().map(|read| &read.table);
        let table = beside(theirs.table, ours).map_err(|error| wrong(kernel, error))?;
        for row in table.rows() {
            copy_image(row, committed, local)?;
        }
        write_if_changed(&local.join(file), table.to_text())?;
        known.insert(kernel).map_err(|error| wrong(kernel, error))?;
    }
    write_if_changed(&local.join(INDEX_FILE), known.to_text())?;
    Ok(damages)
}

/// The rows of a kernel's table in a folder, in the order of the table.
///
/// # Errors
/// If an index or a table cannot be read or parsed.
pub fn rows_in(kernel: &str, folder: &Path) -> Result<Vec<Row>, Failure> {
    rows(kernel, folder, folder)
}

/// All rows of a kernel in its committed table and its local table, without duplicates.
///
/// # Errors
/// If an index or a table cannot be read or parsed.
pub fn rows(kernel: &str, committed: &Path, local: &Path) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Row> = Vec::new();
    for folder in [committed, local] {
        let index = read_index(folder)?;
        let Some(file) = index.as_ref().and_then(|index: &Index| index.file(kernel)) else {
            continue;
        };
        let table = read_table(&folder.join(file))?;
        let new = table.iter().flat_map(BakedTable::rows);
        let new: Vec<Row> = new.filter(|row| !rows.contains(row)).cloned().collect();
        rows.extend(new);
    }
    Ok(rows)
}

/// The committed table, with the rows of cpu and fake devices from the local table.
fn beside(mut table: BakedTable, local: Option<&BakedTable>) -> Result<BakedTable, BakedError> {
    let Some(local) = local else { return Ok(table) };
    let is_local = |row: &&Row| matches!(row.device.backend, Backend::Cpu | Backend::Fake);
    let mut devices: Vec<_> = local
        .rows()
        .filter(is_local)
        .map(|row| row.device.clone())
        .collect();
    devices.dedup();
    for device in devices {
        let rows: Vec<Row> = local.device_rows(&device).cloned().collect();
        table.replace_device(&device, rows)?;
    }
    Ok(table)
}

/// Copies the image of a committed row into the folder of the local table.
fn copy_image(row: &Row, committed: &Path, local: &Path) -> Result<(), Failure> {
    let Some(image) = &row.image else {
        return Ok(());
    };
    let from = committed.join(&image.file);
    match fs::copy(&from, local.join(&image.file)) {
        // The build reports the row whose image is missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::file("copy", &from)(error)),
        Ok(_) => Ok(()),
    }
}

fn wrong(kernel: &str, error: BakedError) -> TableError {
    let kernel = kernel.to_owned();
    TableError::Kernel { kernel, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_spec::baked::{Evidence, Hashes};
    use kiln_spec::{DeviceKey, Hash, LaunchPlan};

    fn row(device: &str) -> Row {
        let hash = Hash::of("test", b"");
        Row {
            device: device.parse::<DeviceKey>().unwrap(),
            problem: "n=8".into(),
            entry: "add".into(),
            config: "THREADS=64".into(),
            evidence: Evidence::Predicted,
            speedup: None,
            baseline: "add:THREADS=32".into(),
            symbol: "add_0123456789abcdef".into(),
            plan: LaunchPlan {
                grid: [1; 3],
                block: [64, 1, 1],
                shared_bytes: 0,
            },
            hashes: Hashes {
                spec: kiln_spec::SpecHash(hash),
                source: kiln_spec::SourceHash(hash),
                prelude: hash,
                flags: hash,
            },
            image: None,
        }
    }

    fn write(folder: &Path, kernel: &str, device: &str) {
        let mut index = read_index(folder).unwrap().unwrap_or_default();
        let file = index.insert(kernel).unwrap();
        let mut table = BakedTable::new(kernel);
        let row = row(device);
        table
            .replace_device(&row.device.clone(), vec![row])
            .unwrap();
        fs::write(folder.join(file), table.to_text()).unwrap();
        fs::write(folder.join(INDEX_FILE), index.to_text()).unwrap();
    }

    fn devices(kernel: &str, committed: &Path, local: &Path) -> Vec<String> {
        let rows = rows(kernel, committed, local).unwrap();
        rows.iter().map(|row| row.device.to_string()).collect()
    }

    #[test]
    fn a_local_folder_holds_the_committed_rows_of_every_kernel_and_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (committed, local) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir_all(&committed).unwrap();
        fs::create_dir_all(&local).unwrap();
        write(&committed, "add", "cuda/sm_89/NVIDIA L4");
        write(&committed, "mul", "cuda/sm_89/NVIDIA L4");
        write(&local, "add", "cpu/x86-64-v3/Some CPU");
        refresh(&committed, &local).unwrap();
        let alone = folder.path().join("none");
        assert_eq!(devices("mul", &alone, &local), ["cuda/sm_89/NVIDIA L4"]);
        assert_eq!(devices("add", &alone, &local).len(), 2);
        // A refresh adds rows that were committed since the last refresh, and removes rows that are no longer
        // committed.
        write(&committed, "add", "cuda/sm_86/NVIDIA GeForce RTX 3090");
        assert_eq!(devices("add", &committed, &local).len(), 3);
        refresh(&committed, &local).unwrap();
        let expected = [
            "cpu/x86-64-v3/Some CPU",
            "cuda/sm_86/NVIDIA GeForce RTX 3090",
        ];
        let mut found = devices("add", &alone, &local);
        found.sort();
        assert_eq!(found, expected);
    }
}
