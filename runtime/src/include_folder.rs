//! The folder that compilers find a prelude in: named by the hash of its files, written once.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use kiln_spec::prelude::prelude_hash;

use crate::compiler::CompileError;

/// The headers of a prelude: names below the folder, and texts.
type Headers = [(&'static str, &'static str)];

/// The include folder of a prelude, complete and unchanged, in the user's cache; a temporary one where that cannot be
/// written or may be written by others.
pub(crate) struct IncludeFolder {
    path: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl IncludeFolder {
    /// Makes sure that the folder of a prelude is there.
    pub fn open(prelude: &Headers) -> Result<IncludeFolder, CompileError> {
        if let Some(path) = cache_folder().and_then(|cache| in_cache(&cache, prelude).ok()) {
            return Ok(IncludeFolder {
                path,
                _temporary: None,
            });
        }
        let failed = |error: io::Error| CompileError::io("writing the prelude", error);
        let temporary = tempfile::Builder::new()
            .prefix("kiln-include-")
            .tempdir()
            .map_err(failed)?;
        write_files(temporary.path(), prelude).map_err(failed)?;
        Ok(IncludeFolder {
            path: temporary.path().into(),
            _temporary: Some(temporary),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// `$KILN_CACHE/include`, else `$XDG_CACHE_HOME/kiln/include`, else `$HOME/.cache/kiln/include`.
fn cache_folder() -> Option<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let root = set("KILN_CACHE").or_else(|| {
        let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        Some(
            base.or_else(|| Some(set("HOME")?.join(".cache")))?
                .join("kiln"),
        )
    })?;
    Some(root.join("include"))
}

fn in_cache(cache: &Path, prelude: &Headers) -> io::Result<PathBuf> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(cache)?;
    let metadata = fs::metadata(cache)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("the cache folder is open to other users"));
    }
    let folder = cache.join(prelude_hash(prelude).to_string());
    if is_complete(&folder, prelude) {
        return Ok(folder);
    }
    // What is there was damaged. Whoever renames first wins; the files are the same.
    let _ = fs::remove_dir_all(&folder);
    let staged = tempfile::Builder::new()
        .prefix("staged-")
        .tempdir_in(cache)?;
    write_files(staged.path(), prelude)?;
    let renamed = fs::rename(staged.path(), &folder);
    if is_complete(&folder, prelude) {
        Ok(folder)
    } else {
        renamed.map(|()| folder)
    }
}

fn is_complete(folder: &Path, prelude: &Headers) -> bool {
    prelude
        .iter()
        .all(|(name, text)| fs::read(folder.join(name)).is_ok_and(|found| found == text.as_bytes()))
}

fn write_files(folder: &Path, prelude: &Headers) -> io::Result<()> {
    for (name, text) in prelude {
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
    use kiln_spec::prelude::CPU_PRELUDE;

    use super::*;

    #[test]
    fn a_damaged_folder_is_written_anew_under_the_same_name() {
        let cache = tempfile::tempdir().unwrap();
        let first = in_cache(cache.path(), CPU_PRELUDE).unwrap();
        fs::write(first.join("kiln_cpu.h"), "#error cut off").unwrap();
        let second = in_cache(cache.path(), CPU_PRELUDE).unwrap();
        assert_eq!(first, second);
        assert!(is_complete(&second, CPU_PRELUDE));
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let cache = tempfile::tempdir().unwrap();
        let open = cache.path().join("include");
        fs::create_dir(&open).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(&open, mode).unwrap();
        assert!(in_cache(&open, CPU_PRELUDE).is_err());
    }
}
