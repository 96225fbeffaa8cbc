//! Renames unusable files and folders instead of deleting them. This is called setting them aside.

use std::io;
use std::path::{Path, PathBuf};

/// Number of damaged files that are kept for inspection. Older damaged files are removed. Files that a newer version
/// wrote are never removed.
const KEPT: usize = 3;

/// Renames `path` to `<path>.<label>-<n>`, where `n` is the next free number.
pub(crate) fn rename(path: &Path, label: &str) -> io::Result<PathBuf> {
    let target = next_name(path, label)?;
    std::fs::rename(path, &target)?;
    Ok(target)
}

/// Returns the name that [`rename`] uses next. Removes the oldest files that were set aside if there are too many.
pub(crate) fn next_name(path: &Path, label: &str) -> io::Result<PathBuf> {
    let mut taken = numbered(path, label)?;
    taken.sort_unstable_by_key(|(number, _)| *number);
    let next = taken.last().map_or(1, |(number, _)| number + 1);
    if label != "newer" {
        let surplus = (taken.len() + 1).saturating_sub(KEPT);
        for (_, old) in taken.iter().take(surplus) {
            remove(old)?;
        }
    }
    Ok(with_suffix(path, &format!("{label}-{next}")))
}

/// All files that were set aside from `path` with this label, sorted by name.
pub(crate) fn list(path: &Path, label: &str) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = numbered(path, label)?
        .into_iter()
        .map(|(_, path)| path)
        .collect();
    found.sort();
    Ok(found)
}

/// Removes a file or a folder.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let is_folder = path.symlink_metadata()?.is_dir();
    if is_folder {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

fn numbered(path: &Path, label: &str) -> io::Result<Vec<(u32, PathBuf)>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(vec![]);
    };
    let prefix = format!("{}.{label}-", name.to_string_lossy());
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(&prefix)?.parse().ok());
        // The largest number is ignored, because no number follows it.
        if let Some(number) = number.filter(|number| *number < u32::MAX) {
            found.push((number, entry.path()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_up_and_only_the_last_three_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        for _ in 0..5 {
            std::fs::create_dir(&path).unwrap();
            rename(&path, "corrupt").unwrap();
        }
        let names: Vec<_> = list(&path, "corrupt")
            .unwrap()
            .iter()
            .map(|p| p.file_name().unwrap().to_str().unwrap().to_string())
            .collect();
        assert_eq!(names, ["db.corrupt-3", "db.corrupt-4", "db.corrupt-5"]);
    }

    #[test]
    fn what_a_newer_version_wrote_is_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        for _ in 0..5 {
            std::fs::write(&path, "x").unwrap();
            rename(&path, "newer").unwrap();
        }
        assert_eq!(list(&path, "newer").unwrap().len(), 5);
    }
}
