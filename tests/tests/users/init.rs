//! The files that `tune init` writes into a package, and the files that it does not change.

use std::fs;
use std::path::Path;

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{cargo, expect_code, stdout, target_dir, tune, workspace};
use kiln_tests::console::files;

const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = \"adding\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    ),
    (
        "src/lib.rs",
        include_str!("../../fixtures/adding/src/lib.rs"),
    ),
    (
        "src/add.cu",
        include_str!("../../fixtures/adding/src/add.cu"),
    ),
];

fn init(root: &Path) -> String {
    let mut command = tune(root, &root.join("cache"));
    stdout(&expect_code(command.arg("init"), 0))
}

/// A package in which `tune init` has not run yet.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    fs::create_dir(folder.path().join("src")).expect("a folder should be made");
    for (path, text) in FILES {
        fs::write(folder.path().join(path), text).expect("a file should be written");
    }
    folder
}

/// The package of docs/adding-a-kernel.md, which uses `kiln` from a clone next to it.
fn package_of_the_page() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    for (path, text) in files(include_str!("../../../docs/adding-a-kernel.md")) {
        let path = folder.path().join("mine").join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("a folder should be made");
        let text = text.replace(
            "kiln-gpu = \"0.1\"\n",
            "kiln-gpu = { path = \"../kiln/runtime\" }\n\n[workspace]\n",
        );
        fs::write(path, text).expect("a file should be written");
    }
    let clone = folder.path().join("kiln");
    std::os::unix::fs::symlink(workspace(), clone).expect("a link should be made");
    folder
}

#[test]
fn init_writes_a_tune_of_its_own_as_documented_and_leaves_what_is_there() {
    let folder = package_of_the_page();
    let root = folder.path().join("mine");
    let own = || {
        let mut command = tune(&root, &root.join("cache"));
        stdout(&expect_code(command.args(["init", "--own"]), 0))
    };
    let said = own();
    let documented = files(include_str!("../../../docs/own-tune.md"));
    assert_eq!(documented.len(), 2);
    for (path, text) in &documented {
        let written = fs::read_to_string(root.join(path)).expect("a file should be there");
        assert_eq!(&written, text, "{path}");
        assert!(said.contains(&format!("{path}\n")), "{said}");
    }
    fs::write(root.join("tune/src/main.rs"), "// Mine.\n").expect("a file should be written");
    assert!(own().contains("tune/src/main.rs is there already"));
    let main = fs::read_to_string(root.join("tune/src/main.rs")).expect("it should be there");
    assert_eq!(main, "// Mine.\n");
}

/// Runs only in full measurements, because it builds `tune` and all of its dependencies.
#[test]
fn a_tune_of_its_own_compares_with_the_reference() {
    let name = "a_tune_of_its_own_compares_with_the_reference";
    if !in_full() || !have(name, &[Need::HostCompiler]) {
        return;
    }
    let folder = package_of_the_page();
    let root = folder.path().join("mine");
    let mut own = tune(&root, &root.join("cache"));
    expect_code(own.args(["init", "--own"]), 0);
    fs::copy(workspace().join("Cargo.lock"), root.join("tune/Cargo.lock"))
        .expect("the lock file should be copied");
    let mut run = cargo(&root);
    run.env("CARGO_TARGET_DIR", target_dir().join("throwaway/own"))
        .env("CARGO_NET_OFFLINE", "true")
        .env("KILN_CACHE", root.join("cache"))
        .args(["run", "--quiet", "--manifest-path", "tune/Cargo.toml", "--"])
        .args(["run", "--device", "cpu", "--trials", "2", "--budget", "2m"]);
    let said = stdout(&expect_code(&mut run, 0));
    assert!(
        said.contains("compared with the plain-Rust reference"),
        "{said}"
    );
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

    // A folder with an index that is not empty, but without git settings, as an earlier version wrote it.
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
