//! Kernels with a config that is wrong, but only for sizes, contents or values that a careless comparison misses. In each
//! of them, the wrong config is the fastest. `tune run` must not choose it.
//!
//! The source files contain several kernels each. A line `//: case NAME` begins a kernel `NAME`. Its function is called
//! `k`, its tuning parameter is `WRONG`, and the lines `//: args`, `//: spec` and `//: tolerance` declare what differs from
//! [`ARGS`], [`SPEC`] and the usual tolerance.

use std::fs;
use std::path::Path;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::tune;
use serde_json::Value;

const MANIFEST: &str =
    "[package]\nname = \"deceiving\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const ARGS: &str = "n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]";
const SPEC: &str = "params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64)), block(64), \
                    problems((n = 10000))";

/// Doubles its argument slowly. The wrong configs omit this work.
const SLOW: &str = "
template <class T> static __device__ T slow(T x) {
    T g = 1;
    for (int step = 0; step < 24; ++step) g = T(0.5) * (g + (x * x + T(1)) / g);
    return T(2) * x + T(1e-30) * g;
}
";

const FILES: [(&str, &str); 5] = [
    ("tolerance", include_str!("tolerance.cu")),
    ("contents", include_str!("contents.cu")),
    ("inputs", include_str!("inputs.cu")),
    ("ranges", include_str!("ranges.cu")),
    ("sizes", include_str!("sizes.cu")),
];

/// A kernel of a source file.
struct Case {
    name: String,
    args: String,
    spec: String,
    source: String,
}

/// The kernels of a source file.
fn cases(text: &str) -> Vec<Case> {
    let sections = text.split("//: case ").skip(1);
    let case = |section: &str| {
        let (name, body) = section.split_once('\n').expect("a case has lines");
        let declared = |key: &str, default: &str| {
            let line = body
                .lines()
                .find_map(|line| line.strip_prefix(&format!("//: {key} ")));
            line.unwrap_or(default).to_owned()
        };
        Case {
            name: name.to_owned(),
            args: declared("args", ARGS),
            spec: format!(
                "{}, tolerance(relative = {})",
                declared("spec", SPEC),
                declared("tolerance", "1e-5")
            ),
            source: format!("{SLOW}{}", body.replace(" k(", &format!(" {name}("))),
        }
    };
    sections.map(case).collect()
}

/// Writes a package with these kernels. `change` makes the attribute and the source of a kernel.
fn write_package(root: &Path, cases: &[Case], change: impl Fn(&Case) -> (String, String)) {
    let mut library = "use kiln::tuned_kernel;\n".to_owned();
    fs::create_dir(root.join("src")).expect("a folder should be made");
    for case in cases {
        let (spec, source) = change(case);
        library += &format!(
            "#[tuned_kernel(source = \"{0}.cu\", untuned = allow, {spec})]\nunsafe extern \"C\" {{\n    pub fn {0}({1});\n}}\n",
            case.name, case.args
        );
        let path = root.join(format!("src/{}.cu", case.name));
        fs::write(path, source).expect("a file should be written");
    }
    fs::write(root.join("Cargo.toml"), MANIFEST).expect("a file should be written");
    fs::write(root.join("src/lib.rs"), library).expect("a file should be written");
}

/// Whether the wrong config of a kernel failed. If not, it did not become a finalist, because it was not faster this time.
///
/// # Panics
/// If the wrong config won.
fn is_refused(task: &Value) -> bool {
    let winner = task["winner"]["config"].as_str().unwrap_or_default();
    assert!(!winner.contains("WRONG=true"), "it was proven: {task:#}");
    let outcomes = task["outcomes"].as_object().expect("a report has outcomes");
    outcomes.keys().any(|outcome| outcome != "measured")
}

/// Tunes a package, or one kernel of it. Returns the reports of its problems.
fn tasks(root: &Path, attempt: usize, kernel: Option<&str>) -> Vec<Value> {
    let mut run = tune(root, &root.join(format!("cache-{attempt}")));
    run.args("run --device cpu --trials all --budget full --json".split(' '));
    run.args(kernel.into_iter().flat_map(|name| ["--kernel", name]));
    let output = run.output().expect("tune should start");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let tasks = report["tasks"].as_array().expect("a report has tasks");
    tasks.clone()
}

#[test]
fn no_config_that_is_wrong_for_a_few_values_or_sizes_is_proven() {
    let test = "no_config_that_is_wrong_for_a_few_values_or_sizes_is_proven";
    if !have(test, &[Need::Bars, Need::HostCompiler]) {
        return;
    }
    for (kind, text) in FILES {
        let cases = cases(text);
        assert!(cases.len() >= 8, "{kind}: only {} kernels", cases.len());
        let folder = tempfile::tempdir().expect("a folder should be made");
        write_package(folder.path(), &cases, |case| {
            (case.spec.clone(), case.source.clone())
        });
        let first = tasks(folder.path(), 0, None);
        assert_eq!(first.len(), cases.len(), "{kind}");
        for task in first.iter().filter(|task| !is_refused(task)) {
            let name = task["kernel"].as_str().expect("a task has a kernel");
            let mut again = (1..4).flat_map(|attempt| tasks(folder.path(), attempt, Some(name)));
            assert!(
                again.any(|task| is_refused(&task)),
                "{name} was never faster: {task:#}"
            );
        }
        println!("{kind}: none of {} wrong configs was proven", cases.len());
    }
}
