//! Users' crates that keep streams and memory in cudarc, each built for a different CUDA version, and the examples of
//! interop.
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{built, cargo, expect_code, lasting, profile, stderr, stdout, workspace};
use kiln_tests::throwaway::Throwaway;

const PROGRAM: [(&str, &str); 2] = [
    (
        "src/main.rs",
        include_str!("../../../examples/interop/cudarc.rs"),
    ),
    (
        "src/scale.cu",
        include_str!("../../../examples/interop/scale.cu"),
    ),
];

/// A crate that does not depend on cudarc itself, but uses it through Kiln.
const THROUGH_KILN: [(&str, &str); 1] = [(
    "src/lib.rs",
    "//! Streams of cudarc's, by the name that Kiln gives it.\n\
     use kiln::interop::cudarc_019::{CudarcStream, cudarc, stream};\n\n\
     /// A stream of the first device.\n\
     pub fn first() -> Result<CudarcStream, Box<dyn std::error::Error>> {\n    \
         Ok(stream(cudarc::driver::CudaContext::new(0)?.default_stream())?)\n}\n",
)];

/// A throw-away crate with Kiln's adapter for cudarc, and further dependencies.
fn crate_with(name: &str, files: &[(&str, &str)], further: &str) -> Throwaway {
    let crate_ = Throwaway::new(name, files);
    let manifest = crate_.read("Cargo.toml");
    let kiln = "kiln-gpu = { version = \"0.1\", features = [\"cudarc-019\"] }\n";
    let with = manifest.replace("kiln-gpu = \"0.1\"\n", &format!("{kiln}{further}"));
    assert_ne!(manifest, with, "the manifest should name kiln");
    crate_.write("Cargo.toml", &with);
    if files.len() > 1 {
        expect_code(&mut crate_.tune("init"), 0);
    }
    crate_
}

fn cudarc(features: &str) -> String {
    format!(
        "cudarc = {{ version = \"0.19\", default-features = false, features = [\"std\", \"driver\", {features}] }}\n"
    )
}

/// Checks the output of an example: its results if there is a GPU, otherwise a message.
fn said_what_it_should(out: &str, device: Need, computed: &str, backend: &str) {
    if have("the examples of interop on a GPU", &[device]) {
        assert_eq!(out.trim(), computed);
    } else {
        assert!(out.starts_with("nothing to launch on: "), "{out}");
        assert!(out.contains(backend), "{out}");
    }
    print!("{out}");
}

#[test]
fn a_program_with_cudarc_and_another_cuda_version_builds_and_runs() {
    let crate_ = crate_with(
        "beside_cudarc",
        &PROGRAM,
        &cudarc("\"dynamic-loading\", \"cuda-13000\""),
    );
    let out = stdout(&expect_code(crate_.cargo().args(["run", "--quiet"]), 0));
    said_what_it_should(&out, Need::CudaDevice, "42 63", "cuda");
    // Kiln itself selects no CUDA version.
    let mut tree = crate_.cargo();
    tree.args(["tree", "--edges", "features", "--invert", "cudarc"]);
    let tree = stdout(&expect_code(&mut tree, 0));
    assert!(tree.contains("cudarc feature \"cuda-13000\""), "{tree}");
    assert_eq!(tree.matches("cudarc feature \"cuda-1").count(), 1, "{tree}");
}

#[test]
fn a_program_with_cudarcs_default_features_builds() {
    let further = "cudarc = { version = \"0.19\", features = [\"cuda-12060\"] }\n";
    let crate_ = crate_with("with_defaults", &PROGRAM, further);
    expect_code(crate_.cargo().args(["check", "--quiet"]), 0);
}

#[test]
fn a_crate_that_chooses_no_version_is_told_by_cudarc_and_can_choose_by_its_variable() {
    let crate_ = crate_with("through_kiln", &THROUGH_KILN, "");
    let mut build = crate_.cargo();
    build
        .args(["check", "--quiet"])
        .env_remove("CUDARC_CUDA_VERSION");
    let said = stderr(&expect_code(&mut build, 101));
    assert!(
        said.contains("Must specify one of the following features"),
        "{said}"
    );
    let mut build = crate_.cargo();
    build
        .args(["check", "--quiet"])
        .env("CUDARC_CUDA_VERSION", "13000");
    expect_code(&mut build, 0);
}

/// Safe code that presents any address as a slice of cudarc.
const PRETENDER: [(&str, &str); 1] = [("src/lib.rs", include_str!("../../fixtures/pretender.rs"))];

#[test]
fn memory_that_only_says_it_is_cudarcs_is_not_taken() {
    let crate_ = crate_with(
        "pretender",
        &PRETENDER,
        &cudarc("\"dynamic-loading\", \"cuda-13000\""),
    );
    let said = stderr(&expect_code(crate_.cargo().args(["check", "--quiet"]), 101));
    assert!(said.contains("`Pretender: CudarcMemory<"), "{said}");
    assert_eq!(said.matches("error[").count(), 1, "{said}");
}

#[test]
fn a_program_without_the_adapter_has_no_cudarc() {
    let crate_ = Throwaway::new("plain", &[("src/lib.rs", "//! Nothing.\n")]);
    let mut tree = crate_.cargo();
    tree.args(["tree", "--edges", "normal,build", "--prefix", "none"]);
    let tree = stdout(&expect_code(&mut tree, 0));
    assert!(tree.contains("kiln-spec v"), "{tree}");
    assert!(!tree.contains("cudarc"), "{tree}");
}

#[test]
fn the_examples_beside_the_course_say_what_they_need() {
    let names = ["interop-cudarc", "interop-hip"];
    let mut build = cargo(&workspace());
    // Builds with the features that the suite uses, because other features would build everything a second time.
    build.args(["test", "--quiet", "--profile", profile()]);
    build.args(["--workspace", "--no-run"]);
    for name in names {
        build.args(["--example", name]);
    }
    expect_code(&mut build, 0);
    let gpus = [
        (Need::CudaDevice, "42 63", "cuda"),
        (Need::HipDevice, "42", "hip"),
    ];
    for (name, (device, computed, backend)) in names.into_iter().zip(gpus) {
        let mut run = Command::new(lasting(&built(&format!("examples/{name}"))));
        let out = stdout(&expect_code(&mut run, 0));
        said_what_it_should(&out, device, computed, backend);
    }
}
