//! Reads and writes tables and indices. A file whose content would not change is not written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kiln_spec::baked::{BakedError, BakedTable, INDEX_FILE, Index, Row};

use super::TableError;
use crate::error::Failure;
use kiln_lab::atomic_file;

/// Reads the index of a folder of tables; `None` if the file does not exist.
///
/// # Errors
/// If the file cannot be read or parsed.
pub fn read_index(folder: &Path) -> Result<Option<Index>, Failure> {
    read_optional(&folder.join(INDEX_FILE), Index::parse)
}

/// Reads a table; `None` if the file does not exist.
///
/// # Errors
/// If the file cannot be read or parsed.
pub fn read_table(path: &Path) -> Result<Option<BakedTable>, Failure> {
    read_optional(path, BakedTable::parse)
}

/// A table that is read to be written again, and its damage.
#[derive(Debug)]
pub struct ReadTable {
    /// The rows that can be read.
    pub table: BakedTable,
    /// A description of the damage; `None` if the whole file can be read.
    pub damage: Option<String>,
}

/// Reads the table of a kernel to write it again; `None` if the file does not exist. Of a damaged table, such as one that
/// a merge left with two rows for one problem, every row that can be read is kept. `prefer` chooses between two rows for
/// one problem.
///
/// # Errors
/// If the file cannot be read, or a newer version of Kiln wrote it.
pub fn read_to_update(
    path: &Path,
    kernel: &str,
    prefer: &dyn Fn(&Row) -> bool,
) -> Result<Option<ReadTable>, Failure> {
    let parse = |bytes: &[u8]| {
        let error = match BakedTable::parse(bytes) {
            Ok(table) => {
                return Ok(ReadTable {
                    table,
                    damage: None,
                });
            }
            Err(error) => error,
        };
        let (table, lost) = BakedTable::recover(bytes, kernel, prefer)?;
        let error = error.to_string();
        let mut damage = format!(
            "{} was damaged ({}): {} rows of it are kept",
            path.display(),
            error.lines().next().unwrap_or_default(),
            table.rows().count()
        );
        if !lost.is_empty() {
            let lines: Vec<String> = lost.iter().map(usize::to_string).collect();
            damage += &format!(", the rows in line {} are lost", lines.join(", "));
        }
        Ok(ReadTable {
            table,
            damage: Some(damage),
        })
    };
    read_optional(path, parse)
}

/// Reads the index of a folder to write it again. If the index is damaged, it is made anew from the tables in the folder.
///
/// # Errors
/// If a file or the folder cannot be read, or the index is from a newer version of Kiln.
pub fn read_index_to_update(folder: &Path) -> Result<Index, Failure> {
    let parse = |bytes: &[u8]| match Index::parse(bytes) {
        Err(newer @ BakedError::Newer { .. }) => Err(newer),
        parsed => Ok(parsed.ok()),
    };
    match read_optional(&folder.join(INDEX_FILE), parse)? {
        None => Ok(Index::default()),
        Some(Some(index)) => Ok(index),
        Some(None) => {
            let mut index = Index::default();
            for (kernel, _) in unlisted(folder, &index)? {
                index.insert(&kernel).map_err(TableError::Name)?;
            }
            Ok(index)
        }
    }
}

/// The tables in a folder that its index does not list, as pairs of kernel and path. Such tables occur, for example,
/// after a merge that lost a line of the index.
///
/// # Errors
/// If the folder cannot be read.
pub fn unlisted(folder: &Path, index: &Index) -> Result<Vec<(String, PathBuf)>, Failure> {
    let entries = fs::read_dir(folder).map_err(Failure::file("read", folder))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(Failure::file("read", folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_listed = name == INDEX_FILE || index.iter().any(|(_, file)| file == name);
        if let Some(kernel) = name.strip_suffix(".toml").filter(|_| !is_listed) {
            found.push((kernel.to_owned(), path.clone()));
        }
    }
    found.sort();
    Ok(found)
}

fn read_optional<T>(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<T, BakedError>,
) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Ok(bytes) => {
            let path = path.to_owned();
            let parsed = parse(&bytes);
            Ok(Some(
                parsed.map_err(|error| TableError::Damaged { path, error })?,
            ))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path)(error)),
    }
}

/// Writes the index of a folder. `declared_in` contains the Rust files that declare the kernels of the tables.
///
/// Cargo does not watch files that do not exist, so a build that found no index would not run again when an index
/// appears. When the first index is written, these Rust files are therefore marked as changed.
///
/// # Errors
/// If a file cannot be written.
pub fn write_index<'a>(
    folder: &Path,
    index: &Index,
    declared_in: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let path = folder.join(INDEX_FILE);
    let is_first = !path.exists();
    write_if_changed(&path, index.to_text())?;
    if is_first {
        declared_in.into_iter().for_each(mark_as_changed);
    }
    Ok(())
}

/// Marks a file as changed, so cargo rebuilds everything that depends on it. If that fails, for example because the
/// file belongs to another user, builds use the tables only after the next change of the file.
pub fn mark_as_changed(file: &Path) {
    let now = std::time::SystemTime::now();
    let _ = fs::File::open(file).and_then(|file| file.set_modified(now));
}

/// Writes a file atomically, unless it already has this content. Returns whether it was written.
///
/// # Errors
/// If the file cannot be written.
pub fn write_if_changed(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, Failure> {
    let contents = contents.as_ref();
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(false);
    }
    atomic_file::write(path, contents).map_err(Failure::file("write", path))?;
    Ok(true)
}
