//! Atomic writes: a file keeps its old content until the new content is completely on the disk.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// A file cannot be read or written.
#[derive(Debug, Error)]
#[error(
    "cannot {doing} {}: {}\nhelp: check the path, its permissions and the free disk space",
    .path.display(), without_path(.error)
)]
pub struct FileError {
    /// The operation that failed, as the words that follow "cannot" in the message, such as `write`.
    pub doing: &'static str,
    /// The path of the file.
    pub path: PathBuf,
    /// The error of the operating system.
    pub error: io::Error,
}

impl FileError {
    /// Returns a closure for `map_err` that turns the error of an operation on `path` into a [`FileError`].
    pub fn of(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |error| FileError { doing, path, error }
    }
}

/// Writes a file atomically. Symbolic links are followed. If the path exists and is not a regular file (a pipe, for
/// example), the bytes are written to it directly.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = followed(path);
    if is_special(&path) {
        return fs::write(&path, bytes);
    }
    let part = filled(&path, bytes)?;
    part.as_file().sync_all()?;
    part.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file that only processes of this run read, and replaces an existing file. The file need not survive a crash
/// of the machine, so this function does not wait for the disk.
///
/// # Errors
/// If the file cannot be written.
pub fn write_for_run(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = filled(path, bytes)?;
    part.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file that only its owner can read, and replaces an existing file.
///
/// # Errors
/// If the file cannot be written.
pub fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = part(path)?;
    part.as_file()
        .set_permissions(Permissions::from_mode(0o600))?;
    part.as_file_mut().write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Checks that [`write()`] can create the file, by creating a temporary file next to it. Commands call this function
/// before they spend hours on a result that goes into the file.
///
/// # Errors
/// If the file could not be written.
pub fn can_be_written(path: &Path) -> io::Result<()> {
    let path = followed(path);
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_special(&path) {
        return Ok(());
    }
    part(&path).map(drop)
}

/// The text of an error without the path of the temporary file, because that path means nothing to users.
pub fn without_path(error: &io::Error) -> String {
    let text = error.to_string();
    let said = text.split(" at path ").next();
    said.unwrap_or_default().to_owned()
}

/// The file that a path leads to, with symbolic links resolved.
fn followed(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file() && !known.is_dir())
}

fn filled(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut part = part(path)?;
    // Writes through the `File` itself, because its errors, unlike those of `NamedTempFile`, do not contain the
    // temporary path.
    part.as_file_mut().write_all(bytes)?;
    Ok(part)
}

/// Creates the temporary file that later replaces `path`, in the same folder. Its permissions are those of any new
/// file: readable by all, except for what the umask excludes.
fn part(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    tempfile::Builder::new()
        .prefix(".kiln-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_and_what_was_there_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        can_be_written(&link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            2,
            "no part is left"
        );
    }

    #[test]
    fn a_folder_that_takes_no_files_is_found_out_before() {
        assert!(can_be_written(Path::new("/proc/kernels.json")).is_err());
        assert!(can_be_written(Path::new("/")).is_err());
        assert!(can_be_written(Path::new("/nowhere/kernels.json")).is_err());
        can_be_written(Path::new("/dev/null")).unwrap();
        write(Path::new("/dev/null"), b"text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
