//! What `tune init` writes into a package, and what it leaves alone.

use std::fs;
use std::path::Path;

use kiln_tests::command::{expect_code, stdout, tune};

const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = \"adding\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    ),
    ("src/lib.rs", include_str!("../fixtures/adding/src/lib.rs")),
    ("src/add.cu", include_str!("../fixtures/adding/src/add.cu")),
];

fn init(root: &Path) -> String {
    let mut command = tune(root, &root.join("cache"));
    stdout(&expect_code(command.arg("init"), 0))
}

/// A package whose tables `tune init` has not prepared yet.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    fs::create_dir(folder.path().join("src")).expect("a folder should be made");
    for (path, text) in FILES {
        fs::write(folder.path().join(path), text).expect("a file should be written");
    }
    folder
}

#[test]
fn init_writes_what_is_missing_and_changes_nothing_that_is_there() {
    let package = package();
    let root = package.path();
    let [index, attributes] = ["tuned/index.toml", "tuned/.gitattributes"].map(|at| root.join(at));
    let read = |path| fs::read_to_string(path).expect("a file should be there");

    let said = init(root);
    let (empty, merging) = (read(&index), read(&attributes));
    assert!(empty.contains("format = "), "{empty}");
    assert!(
        merging.contains("*.toml text eol=lf merge=union"),
        "{merging}"
    );
    assert_eq!(said.matches("wrote ").count(), 2, "{said}");

    // A folder that was indexed before git was told of it, with an index that is no longer empty.
    let listed = format!("{empty}\n# A remark.\n");
    fs::write(&index, &listed).expect("the index should be written");
    fs::remove_file(&attributes).expect("a file should be removed");
    let said = init(root);
    assert!(said.contains("index.toml is there already"), "{said}");
    assert!(said.contains(".gitattributes"), "{said}");
    assert_eq!((read(&index), read(&attributes)), (listed.clone(), merging));

    fs::write(&attributes, "*.toml text\n").expect("a file should be written");
    let said = init(root);
    assert!(!said.contains("wrote "), "{said}");
    assert_eq!(
        (read(&index), read(&attributes)),
        (listed, "*.toml text\n".to_owned())
    );
}
