//! `tune bake --untuned predicted`. It bakes a prediction if the model beats random order on another GPU. It fails, and
//! reports the score, if the model does not. It also fails if nothing was measured.

use std::fs;
use std::path::Path;

use kiln::device::DeviceInfo;
use kiln_cache::record::ReferenceGrade;
use kiln_cache::{Cache, OpenOptions, Outcome, Summary, Trial};
use kiln_project::{PackageSelection, Project};
use kiln_spec::baked::{BakedTable, Evidence};
use kiln_spec::space::SearchSpace;
use kiln_spec::targets::target;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune};
use kiln_tuner::compile_only::CompileTarget;
use kiln_tuner::predict::{Facts, estimate};
use kiln_tuner::task::{self, Conditions};
use tempfile::TempDir;

const MANIFEST: &str =
    "[package]\nname = \"adding\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

const SPEC: &str = r#"
#[kiln::tuned_kernel(
    source = "add.cu",
    params(THREADS in [32, 64, 96, 128, 256, 512, 1024], ITEMS in [1, 2, 4, 8, 16, 64]),
    baseline(THREADS = 128, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1048576), (n = 100000)),
    work(flops = n, bytes = 12 * n),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn add(n: u32, #[len(n)] a: &[f32], #[len(n)] b: &[f32], #[len(n)] c: &mut [f32]);
}
"#;

const SOURCE: &str = r#"
extern "C" __global__ void add(unsigned n, const float* a, const float* b, float* c)
{
    for (unsigned item = 0; item < ITEMS; ++item) {
        const unsigned i = (blockIdx.x * ITEMS + item) * THREADS + threadIdx.x;
        if (i < n) {
            c[i] = a[i] + b[i];
        }
    }
}
"#;

fn package() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path();
    fs::create_dir(root.join("src")).expect("a folder should be made");
    for (path, text) in [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", SPEC),
        ("src/add.cu", SOURCE),
    ] {
        fs::write(root.join(path), text).expect("a file should be written");
    }
    expect_code(tune(root, &root.join("cache")).arg("init"), 0);
    folder
}

/// Stores trials for an RTX 3090 in the package's cache. `time` computes their times from the model's predictions.
fn measured(root: &Path, time: impl Fn(f64) -> f64) {
    let args = PackageSelection {
        manifest_path: Some(root.join("Cargo.toml")),
        ..PackageSelection::default()
    };
    let project = Project::read(&args).expect("the package should be read");
    let kernel = &project.kernels[0];
    let known = target("sm_86").expect("the target should be known");
    let compiler = CompileTarget::open("sm_86").expect("the compiler was found just now");
    let mut info: DeviceInfo = compiler.info.clone();
    info.key.name = known.product.into();
    let (cache, _) = Cache::open(&root.join("cache"), OpenOptions::new()).expect("the cache opens");
    for problem in &kernel.spec.problems {
        let key = task::key(
            kernel,
            problem,
            &Conditions::new(&info, &*compiler.compiler, None),
        );
        cache.remember_key(&key).expect("the key is stored");
        let space = SearchSpace::build(&kernel.spec, problem, &known.limits).expect("a space");
        for index in 0..space.len() {
            let config = space.config(index);
            let facts = Facts::of(&kernel.spec, &config, problem).expect("facts");
            let Some(guess) = estimate(&facts, known) else {
                continue;
            };
            let median_ns = (time(guess.seconds) * 1e9) as u64;
            let outcome = Outcome::Measured(Summary {
                samples: 10,
                median_ns,
                min_ns: median_ns,
                ratio_ppm: Some(1_000_000),
            });
            let trial = Trial {
                kernel: kernel.spec.name.clone(),
                problem: problem.to_string(),
                config: config.to_string(),
                device: info.key.clone(),
                key: key.hash(),
                outcome,
                compile_ns: 1,
                verify_ns: 1,
                measure_ns: 1,
                attempt: 1,
                grade: ReferenceGrade::BaselineOnly,
                reference: None,
                place: None,
            };
            cache.finish(trial).expect("the trial is stored");
        }
    }
    cache.close().expect("the cache closes");
}

fn bake(root: &Path, code: i32) -> String {
    let mut command = tune(root, &root.join("cache"));
    let words = ["bake", "--untuned", "predicted", "--target", "sm_89"];
    stdout(&expect_code(command.args(words), code))
}

#[test]
fn what_the_model_picks_is_baked_as_predicted_where_it_beat_random_order() {
    if !have("predicted rows", &[Need::Nvrtc]) {
        return;
    }
    let package = package();
    measured(package.path(), |guess| guess);
    let text = bake(package.path(), 0);
    assert!(
        text.contains("judged on sm_86/NVIDIA GeForce RTX 3090 (n=1048576): rank correlation 1.00"),
        "{text}"
    );
    assert!(text.contains("predicted, never measured"), "{text}");
    let bytes = fs::read(package.path().join("tuned/add.toml")).expect("the table is written");
    let table = BakedTable::parse(&bytes).expect("the table is one");
    assert_eq!(table.rows().count(), 2);
    for row in table.rows() {
        assert_eq!(row.device.to_string(), "cuda/sm_89/NVIDIA L4");
        assert_eq!((row.evidence, row.speedup), (Evidence::Predicted, None));
    }
    // A repetition changes nothing, because the prediction is computed again.
    bake(package.path(), 0);
    assert_eq!(
        fs::read(package.path().join("tuned/add.toml")).ok(),
        Some(bytes)
    );
    expect_code(
        tune(package.path(), &package.path().join("cache")).args(["bake", "--check"]),
        0,
    );
}

#[test]
fn a_model_that_does_not_beat_random_order_is_refused_with_its_score() {
    if !have("predicted rows", &[Need::Nvrtc]) {
        return;
    }
    let package = package();
    measured(package.path(), |guess| 1e-9 / guess);
    let text = bake(package.path(), 1);
    assert!(
        text.contains("no prediction: the model does not beat random order on sm_86/"),
        "{text}"
    );
    assert!(text.contains("rank correlation -1.00"), "{text}");
    assert!(!package.path().join("tuned/add.toml").exists());
}

#[test]
fn a_kernel_that_was_never_measured_gets_no_prediction() {
    if !have("predicted rows", &[Need::Nvrtc]) {
        return;
    }
    let package = package();
    let text = bake(package.path(), 1);
    assert!(text.contains("nothing to judge the model by"), "{text}");
    assert!(!package.path().join("tuned/add.toml").exists());
}
