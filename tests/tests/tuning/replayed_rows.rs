//! The winner of a replayed search becomes a row with the evidence `replayed`. Measured rows are never replaced.

use std::path::PathBuf;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::throwaway::Throwaway;

const LIB: &str = r#"//! A kernel with the parameters of a recording.
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    params(THREADS in [32, 64, 128], ITEMS in [1, 2]),
    baseline(THREADS = 32, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 10000), (n = 20000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    /// `y = 2 x`.
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

const SOURCE: &str = r#"extern "C" __global__ void scale(unsigned n, const float* x, float* y) {
    unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) y[i] = 2.0f * x[i];
}
"#;

/// The fastest recorded config has a value that the kernel lacks. A parameter with a single value is ignored.
const RECORDING: &str = r#"{"device_name": "NVIDIA GeForce RTX 3090", "tune_params_keys": ["ITEMS", "THREADS", "other"], "cache": {
"2,512,0": {"time": 0.1}, "2,128,0": {"time": 0.2}, "1,64,0": {"time": 0.3}, "2,32,0": {"time": "CompilationFailedConfig"}}}"#;

fn crate_() -> (Throwaway, PathBuf) {
    let crate_ = Throwaway::new(
        "replayed",
        &[
            ("src/lib.rs", LIB),
            ("src/scale.cu", SOURCE),
            ("scale@3090.json", RECORDING),
        ],
    );
    expect_code(&mut crate_.tune("init"), 0);
    let file = crate_.path().join("scale@3090.json");
    (crate_, file)
}

fn replay(crate_: &Throwaway, file: &PathBuf, code: i32) -> std::process::Output {
    let words = "replay --strategy random --seeds 1..1 --bake -k scale --target sm_86 --space";
    let mut command = crate_.tune("replay");
    command.args(words.split(' ').skip(1)).arg(file);
    expect_code(&mut command, code)
}

#[test]
fn a_replayed_winner_is_a_row_that_says_so_and_leaves_measured_rows_alone() {
    let test = "a_replayed_winner_is_a_row_that_says_so_and_leaves_measured_rows_alone";
    if !have(test, &[Need::Nvrtc]) {
        return;
    }
    let (crate_, file) = crate_();
    let said = stdout(&replay(&crate_, &file, 0));
    assert!(
        said.contains("THREADS=128,ITEMS=2, replayed, never measured"),
        "{said}"
    );
    assert!(
        said.contains("recorded: 0.2 ms; 1 faster recorded configs are not configs"),
        "{said}"
    );
    let table = crate_.read("tuned/scale.toml");
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.contains("device = "))
        .collect();
    assert_eq!(rows.len(), 2, "a row a problem: {table}");
    for row in &rows {
        assert!(row.contains("evidence = \"replayed\""), "{row}");
        assert!(row.contains("cuda/sm_86/NVIDIA GeForce RTX 3090"), "{row}");
        assert!(!row.contains("speedup_ppm"), "{row}");
    }
    let listed = stdout(&expect_code(&mut crate_.tune("list"), 0));
    assert!(
        listed.contains("THREADS=128,ITEMS=2, replayed, never measured with this kernel"),
        "{listed}"
    );
    expect_code(&mut crate_.tune("bake --check"), 0);

    // A measured row for a problem remains unchanged, whatever is replayed.
    let proven = rows[0].replace(
        "evidence = \"replayed\"",
        "evidence = \"proven\", speedup_ppm = [1100000, 1200000, 1300000]",
    );
    crate_.write("tuned/scale.toml", &table.replace(rows[0], &proven));
    let said = stdout(&replay(&crate_, &file, 0));
    assert!(
        said.contains("(n=10000): kept the row that was measured"),
        "{said}"
    );
    let after = crate_.read("tuned/scale.toml");
    assert!(after.contains(&proven), "{after}");
    assert_eq!(
        after.matches("evidence = \"replayed\"").count(),
        1,
        "{after}"
    );
}

#[test]
fn a_recording_of_other_parameters_or_another_vendor_is_refused_and_changes_nothing() {
    let test = "a_recording_of_other_parameters_or_another_vendor_is_refused_and_changes_nothing";
    if !have(test, &[Need::Nvrtc]) {
        return;
    }
    let (crate_, file) = crate_();
    let index = crate_.read("tuned/index.toml");
    let cases = [
        (
            RECORDING.replace("NVIDIA GeForce RTX 3090", "AMD Radeon PRO W7800"),
            "which is not a device of architecture sm_86",
        ),
        (
            RECORDING.replace("\"ITEMS\"", "\"PER_THREAD\""),
            "the recording does not contain its parameter `ITEMS`",
        ),
        (
            RECORDING.replace("1,64,0", "1,64,1"),
            "it has no parameter `other`, which was recorded",
        ),
        (
            RECORDING
                .replace("2,128,0", "2,96,0")
                .replace("1,64,0", "1,96,0"),
            "none of the 3 valid configs that were found",
        ),
    ];
    for (recording, why) in cases {
        crate_.write("scale@3090.json", &recording);
        let said = stderr(&replay(&crate_, &file, 1));
        assert!(
            said.contains(why) && said.contains("\nhelp: "),
            "{why}: {said}"
        );
        assert_eq!(crate_.read("tuned/index.toml"), index);
        assert!(!crate_.path().join("tuned/scale.toml").exists(), "{why}");
    }
}
