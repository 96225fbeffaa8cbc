//! Tests that kernels and modules in source files are found.

use std::collections::BTreeSet;

use super::*;
use crate::parse::discover::{Discovery, ModuleLayout, discover, may_declare};

fn features(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

/// The source of a kernel with this name, below the lines `above`.
fn declared(name: &str, above: &str) -> String {
    let attribute = GEMM_ATTRIBUTE.trim();
    let item = GEMM_ITEM.replace("fn gemm", &format!("fn {name}"));
    format!("{above}\n#[tuned_kernel(\n    {attribute}\n)]{item}")
}

fn found(text: &str, layout: ModuleLayout, on: &[&str]) -> Discovery {
    let found = discover(text, &layout, &features(on));
    let found = found.unwrap_or_else(|e| panic!("{}", e.render("x.rs", text)));
    let something = !found.kernels.is_empty() || !found.modules.is_empty();
    assert!(may_declare(text) || !something, "it is not parsed: {text}");
    found
}

fn names(discovery: &Discovery) -> Vec<String> {
    let kernels = discovery.kernels.iter();
    kernels
        .map(|found| {
            let kernel = found.kernel.as_ref().unwrap();
            let mut path = found.module.clone();
            path.push(kernel.spec.name.clone());
            path.join("::")
        })
        .collect()
}

#[test]
fn kernels_are_found_at_the_top_and_in_modules_written_out() {
    let text = format!(
        "//! A crate.\nuse kiln::tuned_kernel;\n{}\nmod inner {{ pub mod deep {{ {} }} }}\nfn main() {{}}\n{}",
        declared("first", "/// Docs."),
        declared("second", "").replace("#[tuned_kernel", "#[kiln::tuned_kernel"),
        declared("third", "").replace("#[tuned_kernel", "#[::kiln::tuned_kernel"),
    );
    let discovery = found(&text, ModuleLayout::Root, &[]);
    assert_eq!(names(&discovery), ["first", "inner::deep::second", "third"]);
    assert_eq!(discovery.kernels[0].line, 4);
}

#[test]
fn the_macro_and_the_command_line_make_the_same_spec() {
    let text = declared("gemm", "#[allow(dead_code)]");
    let discovery = found(&text, ModuleLayout::Root, &[]);
    let spec = &discovery.kernels[0].kernel.as_ref().unwrap().spec;
    assert_eq!(spec.hash(), gemm().hash());
}

#[test]
fn test_code_and_features_that_are_off_are_left_out() {
    let text = [
        declared("a", "#[cfg(test)]"),
        declared("b", "#[cfg(feature = \"b\")]"),
        declared("c", "#[cfg(not(feature = \"b\"))]"),
        declared("d", "#[cfg(all(target_os = \"linux\", not(test)))]"),
        declared("e", "#[cfg(all(target_os = \"linux\", test))]"),
        declared("f", "#[cfg(any(unix, feature = \"b\"))]"),
        declared("g", "#[cfg(any(test, feature = \"b\"))]"),
        format!(
            "#[cfg(test)] mod tests {{ {} mod unseen; }}",
            declared("h", "")
        ),
    ]
    .concat();
    let off = found(&text, ModuleLayout::Root, &[]);
    assert_eq!(names(&off), ["c", "d", "f"]);
    assert!(off.modules.is_empty());
    assert_eq!(
        names(&found(&text, ModuleLayout::Root, &["b"])),
        ["b", "d", "f", "g"]
    );
    let test_file = format!("#![cfg(test)]\n{}", declared("a", ""));
    assert!(
        found(&test_file, ModuleLayout::Root, &[])
            .kernels
            .is_empty()
    );
}

#[test]
fn a_kernel_behind_cfg_attr_is_found_where_its_condition_holds() {
    let text = format!(
        "#[cfg_attr(feature = \"tuned\", kiln::tuned_kernel({GEMM_ATTRIBUTE}))] {GEMM_ITEM}"
    );
    assert_eq!(
        names(&found(&text, ModuleLayout::Root, &["tuned"])),
        ["gemm"]
    );
    assert!(found(&text, ModuleLayout::Root, &[]).kernels.is_empty());
}

#[test]
fn module_files_are_looked_for_where_rustc_does() {
    let text = "mod a;\nmod inline { mod b; #[path = \"c/d.rs\"] mod c; }\n#[path = \"../e.rs\"] mod e;\n\
                #[path = \"dir\"] mod other { mod f; }\nmod r#type;";
    let candidates = |layout| -> Vec<Vec<String>> {
        let modules = found(text, layout, &[]).modules.into_iter();
        modules
            .map(|m| m.candidates.into_iter().map(|(path, _)| path).collect())
            .collect()
    };
    assert_eq!(
        candidates(ModuleLayout::Root),
        [
            vec!["a.rs", "a/mod.rs"],
            vec!["inline/b.rs", "inline/b/mod.rs"],
            vec!["inline/c/d.rs"],
            vec!["../e.rs"],
            vec!["dir/f.rs", "dir/f/mod.rs"],
            vec!["type.rs", "type/mod.rs"],
        ]
    );
    assert_eq!(
        candidates(ModuleLayout::Named("foo".into()))[..5],
        [
            vec!["foo/a.rs", "foo/a/mod.rs"],
            vec!["foo/inline/b.rs", "foo/inline/b/mod.rs"],
            vec!["foo/inline/c/d.rs"],
            vec!["../e.rs"],
            vec!["dir/f.rs", "dir/f/mod.rs"],
        ]
    );
    let modules = found(text, ModuleLayout::Root, &[]).modules;
    assert_eq!(modules[1].module, ["inline", "b"]);
    assert_eq!(modules[0].candidates[0].1, ModuleLayout::Named("a".into()));
    assert_eq!(modules[0].candidates[1].1, ModuleLayout::Root);
    assert_eq!(
        modules[3].candidates[0].1,
        ModuleLayout::Root,
        "a path makes a root"
    );
}

#[test]
fn mistakes_are_rendered_with_file_line_and_carets() {
    let text = declared("gemm", "// é comes before").replace("block(THREADS)", "block(THREDS)");
    let discovery = found(&text, ModuleLayout::Root, &[]);
    let errors = discovery.kernels[0].kernel.as_ref().unwrap_err();
    let rendered = errors.render("src/gemm.rs", &text);
    assert_eq!(
        rendered,
        "error: unknown name `THREDS`\n  --> src/gemm.rs:17:11\n   |\n\
         17 |     block(THREDS),\n   |           ^^^^^^\n   = help: did you mean `THREADS`?\n"
    );
}

#[test]
fn the_attribute_on_another_item_is_a_mistake() {
    let text = "#[tuned_kernel(source = \"x.cu\")]\nfn gemm() {}";
    let discovery = found(text, ModuleLayout::Root, &[]);
    let errors = discovery.kernels[0].kernel.as_ref().unwrap_err();
    assert!(
        errors
            .render("x.rs", text)
            .contains("a tuned kernel is declared in a foreign block")
    );
}

#[test]
fn a_file_that_is_no_rust_is_an_error_with_its_place() {
    let text = "fn main() {\n    let = 3;\n}";
    let error = discover(text, &ModuleLayout::Root, &features(&[])).unwrap_err();
    assert_eq!(error.position(), (2, 9));
}

#[test]
fn a_file_without_kernels_and_further_files_need_not_be_parsed() {
    for text in [
        "",
        "fn main() {}",
        "//! Modes and models.\nuse std::fmt;\npub fn modulo(mod_: u32) -> u32 { mod_ }",
        "#[cfg(test)]\nmod tests { use super::*; }\nmod  r#inner\n{ }",
    ] {
        assert!(!may_declare(text), "{text}");
    }
    for text in [
        "mod a;",
        "pub(crate) mod\n  r#a ;",
        "mod tests { mod below; }",
        "mod /* at the end */ a;",
        "macro_rules! m { ($a:ident) => { mod $a; } }",
        "#[::kiln::tuned_kernel()] extern {}",
    ] {
        assert!(may_declare(text), "{text}");
    }
}

#[test]
fn what_the_files_of_this_package_declare_is_found_without_parsing_the_others() {
    let mut open = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    let mut skipped = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            if !may_declare(&text) {
                let found = discover(&text, &ModuleLayout::Root, &features(&["parse"])).unwrap();
                assert!(
                    found.modules.is_empty() && found.kernels.is_empty(),
                    "{path:?}"
                );
                skipped += 1;
            }
        }
    }
    assert!(skipped > 0);
}
