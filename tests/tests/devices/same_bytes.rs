//! The same input gives the same image in every process and in every folder, so images that were compiled on one machine
//! are found on another, and their hashes can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kiln_tests::capability::{Need, OLDER_NVRTC, have, in_full, older_nvrtc};
use kiln_tests::command::{expect_code, tune_alone, workspace};
use kiln_tests::plain_package::write_package;

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
        let found = images_of_run(run, target, nvrtc);
        let Some(first) = &first else {
            first = Some(found);
            continue;
        };
        let keys = first.keys().eq(found.keys());
        assert!(keys, "{target}: the keys differ in run {run}");
        for (key, image) in first {
            assert!(found[key] == *image, "{target}: {key} differs in run {run}");
        }
    }
    let count = first.unwrap_or_default().len();
    let version = nvrtc.unwrap_or("newest");
    println!("{target}, {version}: {count} images are equal in {runs} processes");
}

/// The images that one process compiles, in folders whose names no other run has.
fn images_of_run(run: usize, target: &str, nvrtc: Option<&str>) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::Builder::new()
        .prefix(&"deep-".repeat(1 + run % 7))
        .tempdir();
    let folder = folder.expect("a folder should be made");
    let (root, cache) = (folder.path(), folder.path().join("cache"));
    write_package(
        root,
        "scales",
        &[("src/lib.rs", LIBRARY), ("src/scale.cu", SOURCE)],
    );
    let inspect = |root: &Path, more: &[&str]| {
        let mut inspect = tune_alone(root, &cache);
        inspect.args(["inspect", "--target", target]).args(more);
        if let Some(version) = nvrtc {
            inspect.env("KILN_NVRTC", older_nvrtc(version));
        }
        expect_code(inspect.env("TMPDIR", folder.path()), 0);
    };
    inspect(root, &["--all-corners"]);
    if in_full() {
        inspect(&workspace(), &["-p", "kiln-kernels", "--baseline"]);
    }
    images(&cache)
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
