//! A store in a folder on a local disk, on NFS or Lustre, or in a folder that `rclone` or `aws s3 sync` mirrors.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Listing, ObjectStore, StoreError, holds, name};

/// Prefix of the names of files that are still being written.
const TEMPORARY: &str = ".kiln-";
/// Number of levels of folders below the listed folder that are searched for objects.
const MAX_DEPTH: usize = 8;

/// A store in a folder.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Opens the folder `root`.
    ///
    /// # Errors
    /// The folder does not exist.
    pub fn open(root: &Path) -> Result<Folder, StoreError> {
        if !root.is_dir() {
            return Err(StoreError::NoFolder { path: root.into() });
        }
        Ok(Folder { root: root.into() })
    }

    /// Opens the folder `root`, and creates it if it does not exist. Returns whether it was created. The parent of the
    /// folder must exist. Otherwise, if a share is not mounted, its store would be created on the local disk.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create(root: &Path) -> Result<(Folder, bool), StoreError> {
        let created = match fs::create_dir(root) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(io_error("create", root)(error)),
        };
        Ok((Folder::open(root)?, created))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.root.join(name);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(io_error("create", folder))?;
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder)
            .map_err(io_error("create a file in", folder))?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.as_file().sync_all());
        written.map_err(io_error("write", &path))?;
        match file.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                return holds(self, name, bytes).map(drop);
            }
            // Some network file systems support neither hard links nor a rename that fails if the target exists. On
            // such file systems the new file replaces an existing file.
            Err(error) => {
                let replaced = error.file.persist(&path);
                replaced.map_err(|error| io_error("write", &path)(error.error))?;
            }
        }
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(io_error("write", folder))
    }

    /// Path and length of an object's file. `None` if there is no such file, if it is not a regular file, or if a part
    /// of its path is a symbolic link.
    fn file_of(&self, name: &str) -> Result<Option<(PathBuf, u64)>, StoreError> {
        let mut path = self.root.clone();
        let mut words = name.split('/').peekable();
        while let Some(word) = words.next() {
            path.push(word);
            let found = match fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(io_error("read", &path)(error)),
            };
            match words.peek() {
                Some(_) if found.is_dir() => {}
                None if found.is_file() => return Ok(Some((path, found.len()))),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn walk(&self, folder: &str, depth: usize, to: &mut Listing) -> Result<(), StoreError> {
        let path = self.root.join(folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error("list", &path)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(io_error("list", &path))?;
            let kind = entry.file_type().map_err(io_error("list", &path))?;
            let word = entry.file_name();
            let word = word.to_string_lossy();
            if word.starts_with(TEMPORARY) {
                continue;
            }
            let full = format!("{folder}{word}");
            match () {
                () if !name::is_name(&full) => to.ignored.push(full.escape_default().collect()),
                () if kind.is_file() => to.names.push(full),
                () if kind.is_dir() && depth > 0 => {
                    self.walk(&format!("{full}/"), depth - 1, to)?;
                }
                () => to.ignored.push(full),
            }
        }
        Ok(())
    }
}

impl ObjectStore for Folder {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        name::check(name)?;
        if holds(self, name, bytes)? {
            return Ok(());
        }
        self.write(name, bytes)
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        name::check(name)?;
        let Some((path, length)) = self.file_of(name)? else {
            return Ok(None);
        };
        let most = max_bytes as u64;
        let too_large = |bytes| StoreError::TooLarge {
            name: name.into(),
            bytes,
            most,
        };
        if length > most {
            return Err(too_large(length));
        }
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        read.map_err(io_error("read", &path))?;
        if bytes.len() > max_bytes {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(Some(bytes))
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        let mut listing = Listing::default();
        let folder = prefix.trim_end_matches('/');
        name::check(folder)?;
        self.walk(&format!("{folder}/"), MAX_DEPTH, &mut listing)?;
        listing.names.sort_unstable();
        listing.ignored.sort_unstable();
        Ok(listing)
    }
}

fn io_error<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StoreError + 'a {
    move |source| StoreError::Io {
        what,
        path: path.into(),
        source,
    }
}
