use super::*;
use std::time::{Duration, SystemTime};

/// A Rust file whose modification time is long ago.
fn old_file(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, "").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = fs::File::open(&path).unwrap();
    file.set_modified(long_ago).unwrap();
    path
}

fn is_marked(path: &Path) -> bool {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    modified > SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)
}

/// Writes an empty table of a kernel.
fn write(folder: &TableFolder, kernel: &str) {
    let lock = folder.lock().unwrap();
    folder.write(&BakedTable::new(kernel), &lock).unwrap();
}

#[test]
fn tables_that_many_threads_write_at_once_are_all_listed() {
    let base = tempfile::tempdir().unwrap();
    let folder = TableFolder::new(base.path().join("tuned"));
    let names: Vec<String> = (0..40).map(|n| format!("kernel_{n}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| write(&folder, name));
        }
    });
    let index = folder.index().unwrap().unwrap();
    let listed = |name: &&String| index.file(name).is_some();
    assert_eq!(names.iter().filter(listed).count(), 40);
}

#[test]
fn the_first_index_marks_every_file_that_declares_a_kernel() {
    let base = tempfile::tempdir().unwrap();
    let files = ["a.rs", "b.rs"].map(|name| old_file(base.path(), name));
    let folder = TableFolder::new(base.path().join("tuned")).with_readers(files.to_vec());
    write(&folder, "add");
    assert!(files.iter().all(|file| is_marked(file)), "the first index");
    // Cargo watches an index that exists, so files are not marked again.
    let files = ["a.rs", "b.rs"].map(|name| old_file(base.path(), name));
    write(&folder, "mul");
    assert!(!files.iter().any(|file| is_marked(file)), "a later table");
    // A folder for local tables has the same readers.
    let local = folder.at(base.path().join("local"));
    write(&local, "add");
    assert!(files.iter().all(|file| is_marked(file)), "local tables");
}

#[test]
fn a_damaged_index_is_made_anew_from_the_tables_only() {
    let base = tempfile::tempdir().unwrap();
    let folder = TableFolder::new(base.path());
    write(&folder, "add");
    fs::write(folder.index_path(), "<<<<<<< HEAD\n").unwrap();
    fs::write(base.path().join("my-notes.toml"), "a = 1\n").unwrap();
    fs::write(base.path().join("notes.toml"), "a = 1\n").unwrap();
    let renamed = BakedTable::new("other").to_text();
    fs::write(base.path().join("renamed.toml"), renamed).unwrap();
    write(&folder, "mul");
    let index = folder.index().unwrap().unwrap();
    let kernels: Vec<&str> = index.iter().map(|(kernel, _)| kernel).collect();
    assert_eq!(kernels, ["add", "mul"]);
}
