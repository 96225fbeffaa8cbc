//! Folders of files that compilers read:
//!
//! - preludes, which are Kiln's device headers, in a folder that is named by the hash of the files
//! - headers that a vendor's library unpacks
//! - objects that are linked with every kernel

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use kiln_spec::cache_folder::cache_folder as user_folder;
use kiln_spec::prelude::prelude_hash;

use crate::compiler::error::CompileError;

/// Headers: the name of each file relative to the folder, and its text.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// The include folder of a prelude in the user's cache, complete and unchanged. If the cache cannot be written, or if
/// other users can write to it, the folder is in the user's private folder below the temporary folder.
#[derive(Debug)]
pub(crate) struct IncludeFolder {
    path: PathBuf,
}

impl IncludeFolder {
    /// The folder with these files. Writes the files if the folder is missing or incomplete.
    ///
    /// # Errors
    /// [`CompileError::Io`] if neither the cache nor a temporary folder can be written.
    pub fn open(files: Headers<'_>) -> Result<IncludeFolder, CompileError> {
        let name = prelude_hash(files).to_string();
        let complete = |folder: &Path| is_complete(folder, files);
        let write = |folder: &Path| write_files(folder, files);
        IncludeFolder::filled(&name, complete, write)
            .map_err(|error| CompileError::io("writing the prelude", error))
    }

    /// The folder with this name in the cache. If `complete` returns false for it, `write` fills a folder with a
    /// temporary name, which is then renamed. Other processes therefore never see a partly written folder.
    ///
    /// # Errors
    /// The error of `write`, if the temporary folder cannot be filled either.
    pub fn filled(
        name: &str,
        complete: impl Fn(&Path) -> bool,
        write: impl Fn(&Path) -> io::Result<()>,
    ) -> io::Result<IncludeFolder> {
        let cached = cache_folder().map(|cache| in_cache(&cache, name, &complete, &write));
        let path = match cached {
            Some(Ok(path)) => path,
            _ => in_cache(&temporary_folder()?, name, &complete, &write)?,
        };
        Ok(IncludeFolder { path })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// `$KILN_CACHE/include`, else `$XDG_CACHE_HOME/kiln/include`, else `$HOME/.cache/kiln/include`. `None` if none of
/// these variables is set, or if the first one that is set is not an absolute path.
fn cache_folder() -> Option<PathBuf> {
    let root = user_folder(|name| std::env::var_os(name)).ok()?;
    Some(root.join("include"))
}

/// The user's private folder below the temporary folder. Its name is fixed, so processes that end without cleaning up
/// leave only one folder, which the next process reuses.
fn temporary_folder() -> io::Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = std::env::temp_dir().join(format!("kiln-include-{user}"));
    // Any user may create links in the temporary folder.
    if fs::symlink_metadata(&folder).is_ok_and(|found| found.is_symlink()) {
        let folder = folder.display();
        return Err(io::Error::other(format!(
            "{folder} is a link\nhelp: remove it, or set KILN_CACHE to a folder of your own"
        )));
    }
    Ok(folder)
}

fn in_cache(
    cache: &Path,
    name: &str,
    complete: &impl Fn(&Path) -> bool,
    write: &impl Fn(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(cache)?;
    let metadata = fs::metadata(cache)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        let (folder, mode) = (cache.display(), metadata.mode() & 0o777);
        return Err(io::Error::other(format!(
            "{folder} (mode {mode:o}) is another user's, or open to others\nhelp: remove it, or set KILN_CACHE to a folder \
             of your own"
        )));
    }
    let folder = cache.join(name);
    if complete(&folder) {
        return Ok(folder);
    }
    let staged = tempfile::Builder::new()
        .prefix("staged-")
        .tempdir_in(cache)?;
    write(staged.path())?;
    // The existing folder was damaged. If two processes replace it, the first rename wins. Both write the same files.
    if !complete(&folder) {
        let _ = fs::remove_dir_all(&folder);
    }
    let renamed = fs::rename(staged.path(), &folder);
    if complete(&folder) {
        Ok(folder)
    } else {
        renamed.map(|()| folder)
    }
}

fn is_complete(folder: &Path, files: Headers<'_>) -> bool {
    files
        .iter()
        .all(|(name, text)| fs::read(folder.join(name)).is_ok_and(|found| found == text.as_bytes()))
}

fn write_files(folder: &Path, files: Headers<'_>) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: Headers = &[
        ("one.h", "#define ONE 1\n"),
        ("more/two.h", "#define TWO 2\n"),
    ];

    fn prelude_in(cache: &Path) -> io::Result<PathBuf> {
        let complete = |folder: &Path| is_complete(folder, FILES);
        let write = |folder: &Path| write_files(folder, FILES);
        in_cache(cache, "name", &complete, &write)
    }

    #[test]
    fn a_damaged_folder_is_written_anew_under_the_same_name() {
        let cache = tempfile::tempdir().unwrap();
        let first = prelude_in(cache.path()).unwrap();
        fs::write(first.join("more/two.h"), "#error cut off").unwrap();
        let second = prelude_in(cache.path()).unwrap();
        assert_eq!(first, second);
        assert!(is_complete(&second, FILES));
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_could_not_be_filled_is_not_there_afterwards() {
        let cache = tempfile::tempdir().unwrap();
        let half = |folder: &Path| {
            fs::write(folder.join("one.h"), "#define")?;
            Err(io::Error::other("the disk is full"))
        };
        let never = |_: &Path| false;
        let error = in_cache(cache.path(), "name", &never, &half).unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let cache = tempfile::tempdir().unwrap();
        let open = cache.path().join("include");
        fs::create_dir(&open).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(&open, mode).unwrap();
        assert!(prelude_in(&open).is_err());
    }
}
