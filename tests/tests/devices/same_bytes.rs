//! The same input gives the same image in every process and in every folder, so images that were compiled on one machine
//! are found on another, and their hashes can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kiln_tests::capability::{Need, OLDER_NVRTC, have, in_full, older_nvrtc};
use kiln_tests::command::{expect_code, tune_alone, workspace};
use tempfile::TempDir;

const LIBRARY: &str = r#"//! A kernel with an unnamed namespace, static variables and an assertion.
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    params(THREADS in [32, 64]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    untuned = allow,
)]
unsafe extern "C" {
    /// y = x * c
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

const SOURCE: &str = r#"#include <cassert>
namespace {
struct Scale { float by; };
__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 5.0f};
template <class S> __device__ float scaled(S s, float x) { return s.by * x; }
}
static __device__ float more[4];

__global__ void scale(unsigned n, const float* x, float* y)
{
    static __shared__ float held[THREADS];
    assert(blockDim.x == THREADS);
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    held[threadIdx.x] = more[i & 3];
    if (i < n) y[i] = scaled(Scale{table[i & 3]}, x[i]) + held[threadIdx.x];
}
"#;

/// A crate with the kernel, in a folder with this name.
fn crate_in(name: &str) -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix(name)
        .tempdir()
        .expect("a folder should be made");
    let manifest =
        "[package]\nname = \"scales\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::create_dir(folder.path().join("src")).expect("a folder should be made");
    for (path, text) in [
        ("Cargo.toml", manifest),
        ("src/lib.rs", LIBRARY),
        ("src/scale.cu", SOURCE),
    ] {
        fs::write(folder.path().join(path), text).expect("a file should be written");
    }
    folder
}

/// The image in an artifact file: the last of five fields, each with its length before it.
fn image(file: &[u8]) -> Vec<u8> {
    let mut rest = file
        .strip_prefix(b"kiln artifact 1\n")
        .expect("it should be an artifact");
    let mut field = Vec::new();
    for _ in 0..5 {
        let (len, after) = rest
            .split_first_chunk::<8>()
            .expect("a length should follow");
        let len = usize::try_from(u64::from_le_bytes(*len)).expect("it should fit");
        field = after[..len].to_vec();
        rest = &after[len..];
    }
    field
}

/// The images of all artifacts in a cache, by key.
fn images(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = |folder: &Path| {
        fs::read_dir(folder)
            .expect("it should be a folder")
            .flatten()
    };
    let files = entries(&cache.join("artifacts"))
        .flat_map(|shard| entries(&shard.path()).collect::<Vec<_>>());
    let named = files.map(|file| {
        let bytes = fs::read(file.path()).expect("it should be readable");
        (
            file.file_name().to_string_lossy().into_owned(),
            image(&bytes),
        )
    });
    named.collect()
}

/// Compiles for a target in several processes, each with folders of its own, and compares the images.
fn are_equal(target: &str, nvrtc: Option<&str>) {
    let runs = if in_full() { 20 } else { 2 };
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for run in 0..runs {
        let crate_ = crate_in(&"deep-".repeat(1 + run % 7));
        let cache = crate_.path().join("cache");
        let mut inspect = tune_alone(crate_.path(), &cache);
        inspect
            .args(["inspect", "--target", target, "--all-corners"])
            .env("TMPDIR", crate_.path());
        let mut library = tune_alone(&workspace(), &cache);
        library.args([
            "inspect",
            "-p",
            "kiln-kernels",
            "--target",
            target,
            "--baseline",
        ]);
        for command in [Some(&mut inspect), in_full().then_some(&mut library)]
            .into_iter()
            .flatten()
        {
            if let Some(version) = nvrtc {
                command.env("KILN_NVRTC", older_nvrtc(version));
            }
            expect_code(command, 0);
        }
        let found = images(&cache);
        let Some(first) = &first else {
            first = Some(found);
            continue;
        };
        assert!(
            first.keys().eq(found.keys()),
            "{target}: the keys differ in run {run}"
        );
        for (key, image) in first {
            assert!(found[key] == *image, "{target}: {key} differs in run {run}");
        }
    }
    let version = nvrtc.unwrap_or("newest");
    println!(
        "{target}, {version}: {} images are equal in {runs} processes",
        first.unwrap_or_default().len()
    );
}

#[test]
fn every_process_compiles_the_same_cubin() {
    let test = "every_process_compiles_the_same_cubin";
    if have(test, &[Need::Nvrtc]) {
        are_equal("sm_86", None);
        are_equal("sm_90", None);
    }
    if have(test, &[Need::OlderNvrtc]) {
        are_equal("sm_86", Some(OLDER_NVRTC[0]));
        are_equal("sm_90", Some(OLDER_NVRTC[1]));
    }
}

#[test]
fn every_process_compiles_the_same_code_object() {
    if have(
        "every_process_compiles_the_same_code_object",
        &[Need::AmdClang],
    ) {
        are_equal("gfx1151", None);
    }
}
