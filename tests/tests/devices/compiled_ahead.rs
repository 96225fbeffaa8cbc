//! What `tune inspect --first` compiles without a GPU, a run on the GPU does not compile again.
//!
//! The GPU is the stand-in for the driver, and NVRTC is real. The stand-in writes no receipts, so `tune run` ends with
//! the baseline. A child process then makes the configs that the run would try, with the device and the artifact cache
//! of the run.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::Ordering;

use kiln::compiler::BuildKind;
use kiln_lab::candidate::{Which, Workshop};
use kiln_lab::device_session::DeviceSession;
use kiln_lab::machine;
use kiln_project::{PackageSelection, Project};
use kiln_spec::Backend;
use kiln_tests::capability::{Need, OLDER_NVRTC, have, older_nvrtc};
use kiln_tests::command::{child_test, expect_code, stderr, stdout, tune_alone};
use kiln_tests::cuda_stand_in::{build, build_nvml};
use kiln_tests::plain_package::write_package;
use kiln_tuner::cli::options::DEFAULT_TRIALS;
use kiln_tuner::cli::{DEFAULT_SEED, DEFAULT_STRATEGY};
use kiln_tuner::compile_only::FirstConfigs;
use serde_json::Value;

/// Number of configs that are compiled ahead of a run, without the baseline. A run chooses them before it
/// has enough times to learn from.
const COUNT: usize = 15;

/// The folder of the package, and the number of compiles that the child expects.
const PACKAGE: &str = "KILN_TEST_PACKAGE";
const COMPILES: &str = "KILN_TEST_COMPILES";

/// A space of 24 configs. The blocks fit the stand-in, whose limits differ from those of the target table.
const SPEC: &str = "#[kiln::tuned_kernel(
    source = \"add.cu\",
    params(THREADS in [32, 64, 96, 128, 192, 256, 384, 512], ITEMS in [1, 2, 4]),
    baseline(THREADS = 64, ITEMS = 1),
    try_first((THREADS = 256, ITEMS = 4)),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1000)),
    tolerance(relative = 1e-6),
)]
unsafe extern \"C\" {
    pub fn tensor_add(n: u32, #[len(n)] a: &[f32], #[len(n)] b: &[f32], #[len(n)] c: &mut [f32]);
}
";

const SOURCE: &str = "extern \"C\" __global__ void tensor_add(
    unsigned int n, const float* a, const float* b, float* c)
{
    for (int k = 0; k < ITEMS; k++) {
        unsigned int i = (blockIdx.x * ITEMS + k) * THREADS + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    }
}
";

/// A package with the kernel, next to the stand-ins.
fn package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let root = folder.path();
    build(root);
    build_nvml(root);
    write_package(
        root,
        "adding",
        &[("src/lib.rs", SPEC), ("src/add.cu", SOURCE)],
    );
    folder
}

/// The rows of `tune inspect` for the configs that a run tries first.
fn compile_ahead(root: &Path) -> Vec<Value> {
    let mut command = tune_alone(root, &root.join("cache"));
    let count = COUNT.to_string();
    command.args(["inspect", "--target", "sm_89", "--json", "--first", &count]);
    let text = stdout(&expect_code(&mut command, 0));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The number of compiles of `tune run` on the stand-in.
fn compiles_of_a_run(root: &Path, nvrtc: Option<&Path>) -> u64 {
    let mut command = tune_alone(root, &root.join("cache"));
    let trials = (COUNT + 1).to_string();
    command.args(["run", "--device", "cuda:0", "--json", "--trials", &trials]);
    command.env("LD_LIBRARY_PATH", root);
    command.envs(nvrtc.map(|nvrtc| ("KILN_NVRTC", nvrtc)));
    let output = command.output().expect("tune should start");
    let report: Value = serde_json::from_str(&stdout(&output))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let compiles = report["compiles"].as_u64();
    compiles.unwrap_or_else(|| panic!("no number of compiles: {report}"))
}

/// Makes what a run compiles until the end of its first batch, in a process whose driver is the stand-in. Expects this
/// number of compiles.
fn make(root: &Path, nvrtc: Option<&Path>, compiles: usize) {
    let mut child = child_test(module_path!(), "child_makes_the_first_configs");
    child.env("LD_LIBRARY_PATH", root);
    child.env("KILN_CACHE", root.join("cache"));
    child.env(PACKAGE, root).env(COMPILES, compiles.to_string());
    child.envs(nvrtc.map(|nvrtc| ("KILN_NVRTC", nvrtc)));
    let output: Output = child.output().expect("the child should start");
    let said = stderr(&output);
    assert!(output.status.success(), "{}\n{said}", output.status);
    assert!(stdout(&output).contains("1 passed"), "{said}");
}

#[test]
#[ignore = "the child of another test"]
fn child_makes_the_first_configs() {
    let root = PathBuf::from(std::env::var_os(PACKAGE).expect("the parent names the package"));
    let expected = std::env::var(COMPILES).expect("the parent expects a number");
    let project = Project::read(&PackageSelection {
        manifest_path: Some(root.join("Cargo.toml")),
        ..PackageSelection::default()
    });
    let project = project.expect("the package should be read");
    let device = kiln::open("cuda:0").expect("the stand-in should open");
    let session = DeviceSession::open_for_timing("cuda:0", &*device, &root.join("cache"));
    let session = session.expect("a session should open");
    let scratch = tempfile::tempdir().expect("a folder should be made");
    let compiler = machine::compiler(&*device).expect("the device should have a compiler");
    let artifacts = session.artifacts();
    // This process cannot serve as a compile process of `tune`, so the compiler runs in it.
    let workshop = Workshop::new(compiler, session.info(), artifacts, scratch.path());

    let kernel = &project.kernels[0];
    let problem = &kernel.spec.problems[0];
    let first = FirstConfigs {
        count: COUNT,
        strategy: DEFAULT_STRATEGY,
        seed: DEFAULT_SEED,
        trials: DEFAULT_TRIALS,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let configs = first
        .of(kernel, problem, (Backend::Cuda, &session.info().limits))
        .expect("the space should be built");
    assert_eq!(configs.len(), COUNT);
    let candidates = configs.iter().map(Which::Config);
    for which in candidates.chain([Which::Baseline]) {
        let made = workshop.make(kernel, which, problem, BuildKind::Release);
        made.unwrap_or_else(|outcome| panic!("{which:?}: {outcome}"));
    }
    let compiles = workshop.compiles.load(Ordering::Relaxed);
    assert_eq!(compiles.to_string(), expected);
}

#[test]
fn a_run_on_the_gpu_finds_what_was_compiled_without_it() {
    let test = "a_run_on_the_gpu_finds_what_was_compiled_without_it";
    let needs = [Need::HostCompiler, Need::CudaOccupancy, Need::Nvrtc];
    if !have(test, &needs) {
        return;
    }
    let package = package();
    let root = package.path();
    let rows = compile_ahead(root);
    assert_eq!(rows.len(), COUNT + 1, "{rows:?}");
    assert!(rows.iter().all(|row| row["error"].is_null()), "{rows:?}");
    assert_eq!(compiles_of_a_run(root, None), 0);
    make(root, None, 0);
}

#[test]
fn a_run_with_another_nvrtc_compiles_anew() {
    let test = "a_run_with_another_nvrtc_compiles_anew";
    let needs = [Need::HostCompiler, Need::CudaOccupancy, Need::Nvrtc];
    if !have(test, &[&needs[..], &[Need::OlderNvrtc]].concat()) {
        return;
    }
    let package = package();
    let root = package.path();
    compile_ahead(root);
    let older = older_nvrtc(OLDER_NVRTC[2]);
    assert_eq!(
        compiles_of_a_run(root, Some(&older)),
        1,
        "the run ends with the baseline"
    );
    // The run has compiled the baseline, and the child compiles the configs.
    make(root, Some(&older), COUNT);
}
