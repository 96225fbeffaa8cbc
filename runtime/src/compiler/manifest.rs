//! A manifest of a folder: the names and sizes of its files. It is written after the folder is complete, so a folder
//! that was damaged or only partly written is recognised.

use std::fs;
use std::io;
use std::path::Path;

/// The name of the manifest file in the folder.
const NAME: &str = ".kiln-files";

/// Writes the manifest of a complete folder into it.
///
/// # Errors
/// If the folder cannot be read or written.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    let mut lines = Vec::new();
    collect(folder, "", &mut lines)?;
    lines.sort();
    let count = lines.len();
    fs::write(
        folder.join(NAME),
        format!("{count} files\n{}", lines.concat()),
    )
}

/// Whether a folder has a manifest and every listed file has the listed size.
pub(crate) fn holds(folder: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(NAME)) else {
        return false;
    };
    let mut lines = text.lines();
    let count = lines.next().and_then(|line| line.strip_suffix(" files"));
    let files: Vec<_> = lines.collect();
    count == Some(&*files.len().to_string()) && files.iter().all(|line| is_there(folder, line))
}

/// Whether the file that a line of the manifest lists exists and has the listed size.
fn is_there(folder: &Path, line: &str) -> bool {
    let Some((size, name)) = line.split_once(' ') else {
        return false;
    };
    fs::metadata(folder.join(name)).is_ok_and(|file| file.len().to_string() == size)
}

/// Appends a line for each file below a folder, with the file's size and its path relative to the outermost folder.
fn collect(folder: &Path, prefix: &str, lines: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), lines)?;
        } else {
            lines.push(format!("{} {name}\n", entry.metadata()?.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("more")).unwrap();
        fs::write(folder.path().join("one.h"), "#define ONE 1\n").unwrap();
        fs::write(folder.path().join("more/two words.h"), "").unwrap();
        folder
    }

    #[test]
    fn a_folder_holds_what_it_held_when_its_manifest_was_written() {
        let folder = folder();
        assert!(!holds(folder.path()), "there is no manifest yet");
        write(folder.path()).unwrap();
        assert!(holds(folder.path()));
    }

    #[test]
    fn a_file_that_is_cut_off_or_gone_is_noticed() {
        for (file, text) in [
            ("one.h", Some("#def")),
            ("one.h", None),
            ("more/two words.h", None),
        ] {
            let folder = folder();
            write(folder.path()).unwrap();
            match text {
                Some(text) => fs::write(folder.path().join(file), text).unwrap(),
                None => fs::remove_file(folder.path().join(file)).unwrap(),
            }
            assert!(!holds(folder.path()), "{file}");
        }
    }

    #[test]
    fn a_manifest_that_is_cut_off_holds_for_nothing() {
        let folder = folder();
        write(folder.path()).unwrap();
        let path = folder.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        for kept in 0..whole.len() - 1 {
            fs::write(&path, &whole[..kept]).unwrap();
            assert!(!holds(folder.path()), "{kept} bytes");
        }
    }
}
