//! Makes the copy of the work tree in which mutations are applied.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::list::Mutation;
use crate::setup;

/// The copy of the work tree, in `target/mutants/tree`.
pub struct Tree {
    /// The folder `target/mutants`.
    home: PathBuf,
    /// The folder of the copy.
    folder: PathBuf,
    /// The lock that prevents another run, which would change the same copy.
    _lock: File,
}

impl Tree {
    /// Makes the copy equal to the work tree. Equal files are not written, so that cargo has little to build. Files
    /// that an interrupted run left changed are written, so that cargo builds them again.
    ///
    /// # Errors
    /// If another run uses the copy, or if the copy cannot be made.
    pub fn prepare(root: &Path) -> Result<Tree, String> {
        let home = root.join("target/mutants");
        let folder = home.join("tree");
        fs::create_dir_all(folder.join("target")).map_err(|error| said(&folder, &error))?;
        let lock = File::create(home.join("lock")).map_err(|error| said(&home, &error))?;
        if lock.try_lock().is_err() {
            return Err(format!(
                "another run uses {}\nhelp: wait until it ends",
                home.display()
            ));
        }
        let files = files_of(root)?;
        for file in &files {
            copy(root, &folder, file)?;
        }
        let _ = fs::remove_dir_all(home.join("output"));
        remove_others(&folder, &files)?;
        link_tools(root, &folder)?;
        Ok(Tree {
            home,
            folder,
            _lock: lock,
        })
    }

    /// The folder of the copy.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The target folder for builds of the copy.
    pub fn target(&self) -> PathBuf {
        self.home.join("target")
    }

    /// The folder for the output of tests.
    pub fn output(&self) -> PathBuf {
        self.home.join("output")
    }

    /// The cache of compiled kernels for tests without a mutation. It is kept between runs.
    pub fn cache(&self) -> PathBuf {
        self.home.join("cache")
    }

    /// The path of a cache of compiled kernels that does not exist yet. With a mutation, artifacts may be wrong and
    /// must not be reused.
    pub fn broken_cache(&self) -> PathBuf {
        let cache = self.home.join("broken-cache");
        // Removing the folder fails if it does not exist, and then there is nothing to remove.
        let _ = fs::remove_dir_all(&cache);
        cache
    }

    /// Applies a mutation until the returned value is dropped.
    ///
    /// # Errors
    /// If the mutation cannot be applied, or if the file cannot be written.
    pub fn apply(&self, mutation: &Mutation) -> Result<Applied, String> {
        let file = self.folder.join(&mutation.file);
        let original = fs::read_to_string(&file).map_err(|error| said(&file, &error))?;
        let broken = mutation.edit(&self.folder)?;
        fs::write(&file, broken).map_err(|error| said(&file, &error))?;
        Ok(Applied { file, original })
    }
}

/// A mutation that is applied. The file is restored when this value is dropped.
pub struct Applied {
    file: PathBuf,
    original: String,
}

impl Drop for Applied {
    fn drop(&mut self) {
        // If the file cannot be restored here, the next run restores it.
        let _ = fs::write(&self.file, &self.original);
    }
}

/// The tracked files of the work tree, and the new files that git does not ignore.
fn files_of(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others"])
        .arg("--exclude-standard")
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", output.status));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let files = names.split('\0').filter(|name| !name.is_empty());
    // A tracked file may have been removed from the work tree.
    Ok(files
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect())
}

fn copy(root: &Path, folder: &Path, file: &Path) -> Result<(), String> {
    let (from, to) = (root.join(file), folder.join(file));
    let content = fs::read(&from).map_err(|error| said(&from, &error))?;
    if fs::read(&to).is_ok_and(|there| there == content) {
        return Ok(());
    }
    let parent = to.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(|error| said(parent, &error))?;
    fs::write(&to, content).map_err(|error| said(&to, &error))?;
    // Copy the permissions too, because the file may be a program.
    let mode = fs::metadata(&from).map(|meta| meta.permissions());
    mode.and_then(|mode| fs::set_permissions(&to, mode))
        .map_err(|error| said(&to, &error))
}

/// Removes files that the work tree no longer has.
fn remove_others(folder: &Path, files: &[PathBuf]) -> Result<(), String> {
    let built = folder.join("target");
    let known: std::collections::HashSet<PathBuf> =
        files.iter().map(|file| folder.join(file)).collect();
    let entries = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_entry(|entry| entry.path() != built);
    for entry in entries.flatten() {
        let path = entry.path();
        if !entry.file_type().is_dir() && !known.contains(path) {
            fs::remove_file(path).map_err(|error| said(path, &error))?;
        }
    }
    Ok(())
}

/// Links the installed tools, because tests look for them below the `target/` of their own tree.
fn link_tools(root: &Path, folder: &Path) -> Result<(), String> {
    for tool in setup::folders() {
        let (there, here) = (root.join(tool), folder.join(tool));
        if there.exists() && fs::symlink_metadata(&here).is_err() {
            std::os::unix::fs::symlink(&there, &here).map_err(|error| said(&here, &error))?;
        }
    }
    Ok(())
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work_tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let done = Command::new("git")
                .args(words)
                .current_dir(root.path())
                .output();
            assert!(done.unwrap().status.success());
        };
        git(&["init", "--quiet"]);
        fs::create_dir(root.path().join("src")).unwrap();
        fs::write(root.path().join("src/a.rs"), "one\n").unwrap();
        fs::write(root.path().join(".gitignore"), "/target\n").unwrap();
        git(&["add", "."]);
        root
    }

    fn read(tree: &Tree) -> String {
        fs::read_to_string(tree.folder().join("src/a.rs")).unwrap()
    }

    #[test]
    fn a_mutation_is_made_in_the_copy_and_mended() {
        let root = work_tree();
        let tree = Tree::prepare(root.path()).unwrap();
        let mutation: Mutation = toml::from_str(
            "name = 'n'\nfile = 'src/a.rs'\nfrom = 'one'\nto = 'two'\n\
             test = { package = 'p', binary = 'lib', name = 't' }",
        )
        .unwrap();
        let applied = tree.apply(&mutation).unwrap();
        assert_eq!(read(&tree), "two\n");
        let own = fs::read_to_string(root.path().join("src/a.rs")).unwrap();
        assert_eq!(own, "one\n");
        drop(applied);
        assert_eq!(read(&tree), "one\n");
    }

    #[test]
    fn what_an_earlier_run_left_broken_or_the_work_tree_no_longer_has_is_mended() {
        let root = work_tree();
        let tree = Tree::prepare(root.path()).unwrap();
        fs::write(tree.folder().join("src/a.rs"), "broken\n").unwrap();
        fs::write(tree.folder().join("src/gone.rs"), "").unwrap();
        fs::write(tree.folder().join("target/kept"), "").unwrap();
        assert!(Tree::prepare(root.path()).is_err(), "one run at a time");
        drop(tree);
        let tree = Tree::prepare(root.path()).unwrap();
        assert_eq!(read(&tree), "one\n");
        assert!(!tree.folder().join("src/gone.rs").exists());
        assert!(tree.folder().join("target/kept").exists());
    }
}
