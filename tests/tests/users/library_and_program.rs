//! A library of kernels outside this workspace, and a program that uses it. The program launches the library's baked
//! rows, and the library's own tests prove these rows.
use kiln_spec::baked::Index;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::tables;
use kiln_tests::throwaway::Throwaway;

const LIBRARY: &str = r#"
#![deny(warnings)]

/// What the kernel should give.
pub fn filled(n: u32, out: &mut [f64]) {
    for i in 0..n {
        out[i as usize] = f64::from((i % 100) * (i % 100));
    }
}

#[kiln::tuned_kernel(
    source = "cu/fill.cu",
    params(THREADS in [64, 128, 384]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = filled,
)]
unsafe extern "C" {
    pub fn fill_squares(n: u32, #[len(n)] out: &mut [f32]);
}
"#;

const SOURCE: &str = r#"#include "square.cuh"
extern "C" __global__ void fill_squares(unsigned int n, float* out) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = square(i % 100);
}
"#;

const HEADER: &str =
    "#pragma once\n__device__ float square(unsigned int i) { return (float)(i * i); }\n";

const PROGRAM: &str = r#"
use squares::fill_squares;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = kiln::Stream::default_of(kiln::open("cpu")?);
    let mut out = kiln::Buffer::zeros(&stream, 1000)?;
    fill_squares(&stream, 1000, &mut out)?;
    let sum: f32 = out.to_vec(&stream)?.iter().sum();
    println!("sum {sum}, {} rows", fill_squares::KERNEL.rows().len());
    Ok(())
}
"#;

/// The library, with a baked row for an L4, and the program.
fn library_and_program() -> Throwaway {
    let crate_ = Throwaway::new(
        "program",
        &[
            ("src/main.rs", PROGRAM),
            ("squares/src/lib.rs", LIBRARY),
            ("squares/src/cu/fill.cu", SOURCE),
            ("squares/src/cu/square.cuh", HEADER),
        ],
    );
    let manifest = crate_.read("Cargo.toml");
    let version = manifest.lines().find(|line| line.starts_with("version = "));
    let version = version.expect("the program should have a version");
    crate_.write(
        "squares/Cargo.toml",
        &format!("[package]\nname = \"squares\"\n{version}\nedition = \"2024\"\n\n[dependencies]\nkiln-gpu = \"0.1\"\n"),
    );
    let dependency = "[dependencies]\nsquares = { path = \"squares\" }\n";
    crate_.write(
        "Cargo.toml",
        &manifest.replace("[dependencies]\n", dependency),
    );
    bake(&crate_);
    crate_
}

fn bake(crate_: &Throwaway) {
    let manifest = crate_.path().join("squares/Cargo.toml");
    let kernel = tables::kernel(&manifest, "fill_squares", &[]);
    let device = "cuda/sm_89/NVIDIA L4"
        .parse()
        .expect("it should be a device");
    let table = tables::unmeasured(&kernel, &[(device, "THREADS=384")]);
    let mut index = Index::new();
    let file = index.insert("fill_squares").expect("it should be a name");
    crate_.write(&format!("squares/tuned/{file}"), &table.to_text());
    crate_.write("squares/tuned/index.toml", &index.to_text());
}

#[test]
fn a_program_launches_the_kernels_of_a_library_outside_the_workspace() {
    let name = "a_program_launches_the_kernels_of_a_library_outside_the_workspace";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = library_and_program();
    let run = stdout(&expect_code(crate_.cargo().args(["run", "--quiet"]), 0));
    assert_eq!(run.trim(), "sum 3283500, 1 rows");
    let smoke = || {
        let mut smoke = crate_.cargo();
        smoke.args(["test", "--package", "squares", "--", "--nocapture"]);
        smoke
    };
    // The L4's row with 384 threads runs on this machine.
    let said = stdout(&expect_code(&mut smoke(), 0));
    assert!(said.contains("block=(384,1,1)"), "{said}");
    // A smoke test that fails prints the reason once.
    crate_.write(
        "squares/src/cu/square.cuh",
        &HEADER.replace("i * i", "i * i + 1u"),
    );
    let failed = expect_code(&mut smoke(), 101);
    let said = stdout(&failed) + &stderr(&failed);
    let why = "out[0] is 1, but should be 0";
    assert_eq!(said.matches(why).count(), 1, "{said}");
    // A library without a committed index builds with a warning. A strict build fails.
    let index = crate_.path().join("squares/tuned/index.toml");
    std::fs::remove_file(index).expect("the index should be removed");
    let said = stderr(&expect_code(crate_.cargo().arg("build"), 0));
    assert!(
        said.contains("run `tune init`, which lists every table"),
        "{said}"
    );
    let mut strict = crate_.cargo();
    strict.arg("build").env("KILN_STRICT", "1");
    let said = stderr(&expect_code(&mut strict, 101));
    assert!(
        said.contains("run `tune init`, which lists every table"),
        "{said}"
    );
}

#[test]
fn kernels_of_a_library_for_other_languages_are_found() {
    let kernel = LIBRARY
        .replace("cu/fill.cu", "fill.cu")
        .replace("#![deny(warnings)]", "");
    let source = SOURCE.replace(
        "#include \"square.cuh\"",
        HEADER.trim_start_matches("#pragma once"),
    );
    for kind in ["cdylib", "staticlib", "dylib"] {
        let crate_ = Throwaway::new(
            "squares",
            &[("src/lib.rs", &kernel), ("src/fill.cu", &source)],
        );
        let manifest = crate_.read("Cargo.toml");
        crate_.write(
            "Cargo.toml",
            &format!("{manifest}\n[lib]\ncrate-type = [\"{kind}\"]\n"),
        );
        let said = stdout(&expect_code(&mut crate_.tune("list"), 0));
        assert!(said.contains("fill_squares"), "{kind}: {said}");
    }
}
