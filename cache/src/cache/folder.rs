//! The files of the cache's folder.

use std::io;
use std::path::Path;

/// Name of the journal in the cache's folder.
pub(super) const JOURNAL: &str = "journal.kiln";
/// Name of the database in the cache's folder.
pub(super) const STORE: &str = "store.sled";
/// Name of the folder of artifacts in the cache's folder.
pub(super) const ARTIFACTS: &str = "artifacts";
/// Name of the folder, in the cache's folder, that contains the results pulled from other machines.
pub(super) const IMPORTS: &str = "imports";

/// Size of a file, or of all files in a folder, in bytes; 0 if the path does not exist.
pub(super) fn bytes_under(path: &Path) -> io::Result<u64> {
    let metadata = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        found => found?,
    };
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut bytes = 0;
    for entry in path.read_dir()? {
        bytes += bytes_under(&entry?.path())?;
    }
    Ok(bytes)
}
