//! Folders of baked tables. A folder contains one table per kernel, an index that lists the tables, a `.gitattributes`
//! file and the image files of the rows. A file whose content would not change is not written, so cargo does not
//! rebuild anything needlessly.

mod error;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kiln_spec::baked::{
    BakedError, BakedTable, GITATTRIBUTES, INDEX_FILE, Image, Index, MAX_TABLE_BYTES, Row,
};

pub use self::error::TableFileError;
use crate::atomic_file::{self, FileError};

/// A folder of baked tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableFolder {
    path: PathBuf,
    /// The Rust files whose builds read the tables: those that declare kernels of the package.
    readers: Vec<PathBuf>,
}

/// A table that was read to be updated, and its damage.
#[derive(Debug)]
pub struct RecoveredTable {
    /// The rows that can be read.
    pub table: BakedTable,
    /// A description of the damage; `None` if the whole file can be read.
    pub damage: Option<String>,
}

/// The files that a write of a table changed.
#[derive(Clone, Debug)]
pub struct WrittenTable {
    /// The path of the table.
    pub path: PathBuf,
    /// The image files that were removed, because no row refers to them.
    pub removed: Vec<PathBuf>,
}

/// Keeps other processes from changing the tables of a folder, until it is dropped.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "closing the file releases the lock")] fs::File);

impl TableFolder {
    /// The folder at a path, which need not exist. No Rust files are known to read the folder.
    pub fn new(path: impl Into<PathBuf>) -> TableFolder {
        TableFolder {
            path: path.into(),
            readers: Vec::new(),
        }
    }

    /// The same folder, read by the builds of these Rust files.
    pub fn with_readers(self, readers: Vec<PathBuf>) -> TableFolder {
        TableFolder { readers, ..self }
    }

    /// A folder at another path that the same Rust files read.
    pub fn at(&self, path: impl Into<PathBuf>) -> TableFolder {
        TableFolder::new(path).with_readers(self.readers.clone())
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that the table of a kernel has.
    pub fn table_path(&self, kernel: &str) -> PathBuf {
        self.path.join(format!("{kernel}.toml"))
    }

    /// The path of the index.
    pub fn index_path(&self) -> PathBuf {
        self.path.join(INDEX_FILE)
    }

    /// Reads the index; `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn index(&self) -> Result<Option<Index>, TableFileError> {
        read_optional(&self.index_path(), Index::parse)
    }

    /// Reads the table of a kernel, whether or not the index lists it; `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn table(&self, kernel: &str) -> Result<Option<BakedTable>, TableFileError> {
        read_optional(&self.table_path(kernel), BakedTable::parse)
    }

    /// Reads the table of a kernel if the index lists it, as a build does.
    ///
    /// # Errors
    /// If a file cannot be read or parsed.
    pub fn listed_table(&self, kernel: &str) -> Result<Option<BakedTable>, TableFileError> {
        let index = self.index()?;
        match index.as_ref().and_then(|index| index.file(kernel)) {
            Some(file) => read_optional(&self.path.join(file), BakedTable::parse),
            None => Ok(None),
        }
    }

    /// The rows of a kernel's listed table, in the order of the table.
    ///
    /// # Errors
    /// If a file cannot be read or parsed.
    pub fn rows(&self, kernel: &str) -> Result<Vec<Row>, TableFileError> {
        let table = self.listed_table(kernel)?;
        let rows = table.iter().flat_map(BakedTable::rows);
        Ok(rows.cloned().collect())
    }

    /// The rows of a kernel in this folder and in a folder of local tables, without duplicates.
    ///
    /// # Errors
    /// If a file cannot be read or parsed.
    pub fn rows_with(&self, local: &TableFolder, kernel: &str) -> Result<Vec<Row>, TableFileError> {
        let mut rows = self.rows(kernel)?;
        let new = local.rows(kernel)?;
        let new: Vec<Row> = new.into_iter().filter(|row| !rows.contains(row)).collect();
        rows.extend(new);
        Ok(rows)
    }

    /// The tables in the folder that its index does not list, as pairs of kernel and path. Such tables occur, for
    /// example, after a merge that lost a line of the index.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn unlisted(&self, index: &Index) -> Result<Vec<(String, PathBuf)>, TableFileError> {
        let mut found = Vec::new();
        for (name, path) in self.files()? {
            let is_listed = name == INDEX_FILE || index.iter().any(|(_, file)| file == name);
            if let Some(kernel) = name.strip_suffix(".toml").filter(|_| !is_listed) {
                found.push((kernel.to_owned(), path));
            }
        }
        Ok(found)
    }

    /// The image files of a table's kernel to which no row of the table refers.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn unnamed_images(&self, table: &BakedTable) -> Result<Vec<PathBuf>, TableFileError> {
        let images = table.rows().filter_map(|row| row.image.as_ref());
        let named: BTreeSet<&str> = images.map(|image| image.file.as_str()).collect();
        let files = self.files()?.into_iter();
        let unnamed = files.filter(|(name, _)| {
            Image::is_named(table.kernel(), name) && !named.contains(name.as_str())
        });
        Ok(unnamed.map(|(_, path)| path).collect())
    }

    /// Reads the table of a kernel to update it. If the table is damaged, for example because a merge left two rows for
    /// one problem, every readable row is kept. `prefer` chooses between two rows for one problem. If the file does not
    /// exist, the table is empty.
    ///
    /// # Errors
    /// If the file cannot be read, or a newer version of Kiln wrote it.
    pub fn table_to_update(
        &self,
        kernel: &str,
        prefer: &dyn Fn(&Row) -> bool,
    ) -> Result<RecoveredTable, TableFileError> {
        let path = self.table_path(kernel);
        let read = read_optional(&path, |bytes| recovered(bytes, &path, kernel, prefer))?;
        Ok(read.unwrap_or_else(|| RecoveredTable {
            table: BakedTable::new(kernel),
            damage: None,
        }))
    }

    /// Creates the folder, and waits until no other process changes its tables. Whoever reads a table to change it must
    /// hold the lock until the table is written, or the rows that another process adds meanwhile are lost.
    ///
    /// # Errors
    /// If the folder cannot be created or locked.
    pub fn lock(&self) -> Result<FolderLock, TableFileError> {
        self.create()?;
        let folder = fs::File::open(&self.path).map_err(FileError::of("open", &self.path))?;
        folder.lock().map_err(FileError::of("lock", &self.path))?;
        Ok(FolderLock(folder))
    }

    /// Writes a table, lists it in the index and removes the image files to which no row of the table refers. The images
    /// of the rows must be in the folder already.
    ///
    /// # Errors
    /// If a file cannot be read or written, or if the table is too large for a build to read it.
    pub fn write(
        &self,
        table: &BakedTable,
        _: &FolderLock,
    ) -> Result<WrittenTable, TableFileError> {
        let mut index = self.index_to_update()?;
        let kernel = table.kernel();
        let text = table.to_text();
        if text.len() > MAX_TABLE_BYTES {
            return Err(TableFileError::of_kernel(kernel)(BakedError::TooLarge {
                bytes: text.len(),
                limit: MAX_TABLE_BYTES,
            }));
        }
        let file = index
            .insert(kernel)
            .map_err(TableFileError::of_kernel(kernel))?;
        let path = self.path.join(file);
        write_if_changed(&path, text)?;
        self.write_index(&index)?;
        let removed = self.unnamed_images(table)?;
        for file in &removed {
            fs::remove_file(file).map_err(FileError::of("remove", file))?;
        }
        Ok(WrittenTable { path, removed })
    }

    /// Writes the index. If there was none, marks the Rust files that read it as changed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_index(&self, index: &Index) -> Result<(), TableFileError> {
        let is_first = !self.index_path().exists();
        write_if_changed(&self.index_path(), index.to_text())?;
        if is_first {
            self.mark_readers_as_changed();
        }
        Ok(())
    }

    /// Marks the Rust files that declare kernels of the package as changed, so cargo builds them again. Cargo does not
    /// watch files that do not exist, so it would not repeat a build that found no index when an index appears.
    ///
    /// If a file cannot be marked, for example because it belongs to another user, builds use the tables only after the
    /// next change of the file.
    pub fn mark_readers_as_changed(&self) {
        let now = std::time::SystemTime::now();
        for file in &self.readers {
            let _ = fs::File::open(file).and_then(|file| file.set_modified(now));
        }
    }

    /// Creates the folder and its `.gitattributes` file. Returns the path of this file if it did not exist.
    ///
    /// # Errors
    /// If they cannot be created.
    pub fn create(&self) -> Result<Option<PathBuf>, TableFileError> {
        fs::create_dir_all(&self.path).map_err(FileError::of("make the folder", &self.path))?;
        let attributes = self.path.join(".gitattributes");
        if attributes.exists() {
            return Ok(None);
        }
        write_if_changed(&attributes, GITATTRIBUTES)?;
        Ok(Some(attributes))
    }

    /// Reads the index to update it. If the index is damaged, creates a new one from the tables in the folder.
    fn index_to_update(&self) -> Result<Index, TableFileError> {
        let parse = |bytes: &[u8]| match Index::parse(bytes) {
            Err(newer @ BakedError::Newer { .. }) => Err(newer),
            parsed => Ok(parsed.ok()),
        };
        let Some(read) = read_optional(&self.index_path(), parse)? else {
            return Ok(Index::default());
        };
        if let Some(index) = read {
            return Ok(index);
        }
        let mut index = Index::default();
        for (kernel, _) in self.unlisted(&index)? {
            // The folder may contain other files that end in `.toml`.
            let table = self.table(&kernel);
            if table.is_ok_and(|table| table.is_some_and(|table| table.kernel() == kernel)) {
                index
                    .insert(&kernel)
                    .map_err(TableFileError::of_kernel(&kernel))?;
            }
        }
        Ok(index)
    }

    /// The names and paths of the files in the folder, sorted.
    fn files(&self) -> Result<Vec<(String, PathBuf)>, TableFileError> {
        let failed = || FileError::of("read the folder", &self.path);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, entry.path()));
        }
        files.sort();
        Ok(files)
    }
}

/// Parses a table. If it is damaged, keeps the rows that can be read.
fn recovered(
    bytes: &[u8],
    path: &Path,
    kernel: &str,
    prefer: &dyn Fn(&Row) -> bool,
) -> Result<RecoveredTable, BakedError> {
    let error = match BakedTable::parse(bytes) {
        Ok(table) => {
            let damage = None;
            return Ok(RecoveredTable { table, damage });
        }
        Err(error) => error.to_string(),
    };
    let (table, lost) = BakedTable::recover(bytes, kernel, prefer)?;
    let mut damage = format!(
        "{} was damaged ({}): {} rows of it are kept",
        path.display(),
        error.lines().next().unwrap_or_default(),
        table.rows().count()
    );
    if !lost.is_empty() {
        let lines: Vec<String> = lost.iter().map(usize::to_string).collect();
        damage += &format!(", but the rows in line {} are lost", lines.join(", "));
    }
    let damage = Some(damage);
    Ok(RecoveredTable { table, damage })
}

fn read_optional<T>(
    path: &Path,
    parse: impl Fn(&[u8]) -> Result<T, BakedError>,
) -> Result<Option<T>, TableFileError> {
    let damaged = |error| TableFileError::Damaged {
        path: path.to_owned(),
        error: Box::new(error),
    };
    match fs::read(path) {
        Ok(bytes) => parse(&bytes).map(Some).map_err(damaged),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::of("read", path)(error).into()),
    }
}

/// Writes a file atomically, unless it already has this content. Returns whether it was written.
///
/// # Errors
/// If the file cannot be written.
pub fn write_if_changed(path: &Path, contents: impl AsRef<[u8]>) -> Result<bool, FileError> {
    let contents = contents.as_ref();
    if fs::read(path).is_ok_and(|old| old == contents) {
        return Ok(false);
    }
    atomic_file::write(path, contents).map_err(FileError::of("write", path))?;
    Ok(true)
}

#[cfg(test)]
mod tests;
