//! Checks the documentation of the spec language against the grammar.
#![cfg(feature = "parse")]

use std::collections::BTreeSet;
use std::path::Path;

use kiln_spec::DeviceLimit;
use kiln_spec::expr::BuiltinFunction;
use kiln_spec::parse::discover::{ModuleLayout, discover};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spec-language.md");
    std::fs::read_to_string(path).expect("the page should be there")
}

#[test]
fn the_example_of_the_page_is_a_kernel_without_mistakes() {
    let page = page();
    let example = page.split("```rust\n").nth(1).expect("an example");
    let example = example.split("```").next().expect("its end");
    let found =
        discover(example, &ModuleLayout::Root, &BTreeSet::new()).expect("the example is Rust");
    let [kernel] = &found.kernels[..] else {
        panic!("one kernel should be found")
    };
    let kernel = kernel.kernel.as_ref();
    let spec = &kernel
        .map_err(|e| e.render("example", example))
        .unwrap()
        .spec;
    assert_eq!((spec.params.len(), spec.problems.len()), (5, 2));
}

#[test]
fn the_page_names_every_function_and_device_limit() {
    let page = page();
    for function in BuiltinFunction::ALL {
        assert!(
            page.contains(&format!("`{}(", function.name())),
            "{}",
            function.name()
        );
    }
    for limit in DeviceLimit::ALL {
        assert!(
            page.contains(&format!("`{}`", limit.name())),
            "{}",
            limit.name()
        );
    }
}
