//! A workspace on a machine without cargo. Cargo's description of the workspace is stored in a file and copied, too.
use std::fs;
use std::path::Path;

use kiln_tests::command::{expect_code, stdout, tune};
use kiln_tests::throwaway::Throwaway;

const FILES: [(&str, &str); 2] = [
    (
        "src/lib.rs",
        include_str!("../../fixtures/adding/src/lib.rs"),
    ),
    (
        "src/add.cu",
        include_str!("../../fixtures/adding/src/add.cu"),
    ),
];

/// Copies the files that the other machine needs: the sources, and cargo's description of the workspace.
fn carried(to: &Path) {
    let crate_ = Throwaway::new("adding", &FILES);
    let mut cargo = crate_.cargo();
    cargo.env_remove("CARGO_TARGET_DIR");
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    let answer = stdout(&expect_code(&mut cargo, 0));
    fs::create_dir_all(to.join("src")).expect("a folder should be made");
    for file in ["Cargo.toml", "src/lib.rs", "src/add.cu"] {
        fs::write(to.join(file), crate_.read(file)).expect("a file should be written");
    }
    fs::write(to.join("cargo-metadata.json"), answer).expect("a file should be written");
}

#[test]
fn a_workspace_is_tuned_where_there_is_no_cargo() {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path().join("carried");
    carried(&root);
    let script = root.join("alpha.json");
    let quicker =
        r#"{"name": "Alpha", "arch": "fake_a", "time": {"factors": {"THREADS": {"256": 0.5}}}}"#;
    fs::write(&script, quicker).expect("a file should be written");
    let run = |words: &str, code: i32| {
        let mut command = tune(&root, &folder.path().join("cache"));
        command.args(words.split(' '));
        command.env("PATH", folder.path()).env_remove("CARGO");
        expect_code(&mut command, code)
    };
    let refused = run("list", 1);
    let said = kiln_tests::command::stderr(&refused);
    assert!(said.contains("cannot start cargo"), "{said}");
    assert!(said.contains("--cargo-metadata"), "{said}");
    run("init --cargo-metadata cargo-metadata.json", 0);
    let words = format!(
        "run --cargo-metadata cargo-metadata.json --device fake:{} --budget full --write",
        script.display()
    );
    let report = stdout(&run(&words, 0));
    assert_eq!(report.matches("  proven ").count(), 2, "{report}");
    let table = fs::read_to_string(root.join("tuned/tensor_add.toml"));
    let table = table.expect("the table should lie beside the sources that were carried");
    assert!(table.contains("THREADS=256"), "{table}");
    run("bake --check --cargo-metadata cargo-metadata.json", 0);
}
