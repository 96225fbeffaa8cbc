//! Packages that cannot be read.

use super::case::{Case, LIB, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("no manifest")
            .prepare("rm Cargo.toml")
            .says("error: cannot read the package: could not find `Cargo.toml` in `<root>` or any parent directory"),
        case("a manifest that is not TOML")
            .edit("Cargo.toml", "[package]", "[package")
            .says("error: cannot read the package: unclosed table, expected `]`"),
        case("a manifest without a name")
            .edit("Cargo.toml", "name = \"tiny\"\n", "")
            .says("error: cannot read the package: failed to parse manifest at `<root>/Cargo.toml`\n\nCaused by:\n  missing field `package.name`"),
        case("a setting that is none")
            .edit("Cargo.toml", "[workspace]", "[package.metadata.kiln]\ntune = \"no\"\n\n[workspace]")
            .says("error: package `tiny`: `package.metadata.kiln.tune` is \"no\"\nhelp: the only setting is `tune`, which is true or false"),
        case("an unknown setting")
            .edit("Cargo.toml", "[workspace]", "[package.metadata.kiln]\ntuned = false\n\n[workspace]")
            .says("error: package `tiny`: `package.metadata.kiln.tuned` is false"),
        case("a manifest elsewhere that is not there")
            .runs("$TUNE list --manifest-path $ROOT/none/Cargo.toml")
            .says("error: cannot read the package: manifest path `<root>/none/Cargo.toml` does not exist"),
        case("a kept answer of cargo that is not there")
            .runs("$TUNE list --cargo-metadata none.json")
            .says("error: cannot read the workspace from none.json: No such file or directory (os error 2)\nhelp: write it in the workspace's root with `cargo metadata --no-deps --format-version 1`"),
        case("a kept answer of cargo that is cut off")
            .prepare("cargo metadata --no-deps --format-version 1 | head -c 100 > kept.json")
            .runs("$TUNE list --cargo-metadata kept.json")
            .says("error: cannot read the workspace from kept.json: EOF while parsing a string at line 1 column 100"),
        case("a kept answer of something else")
            .prepare("echo '{\"packages\": []}' > kept.json")
            .runs("$TUNE list --cargo-metadata kept.json")
            .says("error: cannot read the workspace from kept.json: it has no `workspace_root`"),
        case("a kept answer of cargo in another folder")
            .prepare("mkdir other && cargo metadata --no-deps --format-version 1 > other/kept.json")
            .runs("$TUNE list --cargo-metadata other/kept.json")
            .says("error: cannot read the workspace from other/kept.json: there is no <root>/other/Cargo.toml"),
        case("a package without a source")
            .prepare("rm src/lib.rs")
            .says("error: cannot read the package: failed to parse manifest at `<root>/Cargo.toml`"),
        case("a syntax error in Rust")
            .edit(LIB, "use kiln", "fn f( -> {}\nuse kiln")
            .says("help: `cargo check` shows more of it"),
        case("a module without a file")
            .edit(LIB, "use kiln", "mod other;\nuse kiln")
            .says("error: <root>/src/lib.rs:1: module `other` has no file"),
        case("two kernels of one name")
            .prepare("cp src/lib.rs src/other.rs; sed -i '1i mod other;' src/lib.rs")
            .says("error: package `tiny` declares two kernels `scale`: <root>/src/other.rs and <root>/src/lib.rs"),
        case("no kernel")
            .prepare("echo 'pub fn f() {}' > src/lib.rs")
            .says("error: no `#[tuned_kernel]` in package `tiny`"),
        case("Rust that is not text")
            .prepare("printf '\\377' >> src/lib.rs")
            .says("error: cannot read <root>/src/lib.rs: stream did not contain valid UTF-8"),
        case("a folder of tables that is a file")
            .prepare("touch tuned")
            .runs("$TUNE init")
            .says("error: cannot make the folder <root>/tuned: File exists (os error 17)"),
    ]
}
