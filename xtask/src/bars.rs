//! The acceptance criteria (bars) of docs/bars.md, each with the test or command that measures it in full.

use std::process::Command;

use crate::buckets;
use crate::fuzz;
use crate::step::{self, cargo};
use crate::toolchains;

/// The number of a bar, a short description, and the tests that measure it. A test is a package, a test file and a
/// filter.
type Bar = (
    u32,
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const BARS: &[Bar] = &[
    (
        1,
        "a fresh clone tunes within its budget",
        &[("kiln-tests", "users", "fresh_clone::")],
    ),
    (
        3,
        "a crate of its own, from spec to receipt",
        &[("kiln-tests", "users", "standalone::")],
    ),
    (
        4,
        "mis-dispatches are caught",
        &[
            ("kiln-gpu", "misdispatch", ""),
            ("kiln-tests", "flash_attention", ""),
        ],
    ),
    (
        5,
        "faulty candidates never win",
        &[
            ("kiln-tests", "tuning", "faulty_candidates::"),
            ("kiln-tests", "tuning", "fake_faults::"),
        ],
    ),
    (
        6,
        "honest under noise",
        &[
            ("kiln-measure", "honesty", ""),
            ("kiln-tests", "tuning", "equal_candidates::"),
        ],
    ),
    (
        7,
        "kill -9 and damaged stores",
        &[
            ("kiln-tests", "tuning", "killed::"),
            ("kiln-trials", "damage", ""),
        ],
    ),
    (8, "the launch path", &[("kiln-gpu", "launch_path", "")]),
    (
        9,
        "gemm on the cpu",
        &[("kiln-tests", "devices", "gemm_speed::")],
    ),
    (
        10,
        "bad input",
        &[
            ("kiln-tests", "users", "bad_input::"),
            ("kiln-macro-errors", "ui", ""),
        ],
    ),
    (
        11,
        "libraries of GPUs that are missing or damaged",
        &[
            ("kiln-tests", "devices", "cuda_driver::"),
            ("kiln-tests", "devices", "cuda_compile::"),
            ("kiln-tests", "devices", "hip_library::"),
        ],
    ),
    (
        12,
        "kernels on targets that are not here",
        &[
            ("kiln-tests", "devices", "compile_targets::"),
            ("kiln-tests", "tuning", "inspect::"),
            ("kiln-tests", "tuning", "predict::"),
        ],
    ),
    (13, "occupancy", &[("kiln-tests", "occupancy", "")]),
    (
        14,
        "the compile pool",
        &[("kiln-tests", "devices", "compile_pool::")],
    ),
    (
        15,
        "images without a compiler",
        &[("kiln-tests", "devices", "images::")],
    ),
    (
        16,
        "conformance, also through the HIP library",
        &[("kiln-tests", "conformance", "")],
    ),
    (
        18,
        "search spaces are built exactly and fast",
        &[
            (
                "kiln-tests",
                "tuning",
                "search_space::every_public_definition",
            ),
            ("kiln-tests", "tuning", "search_space::spaces_are_built"),
        ],
    ),
    (
        19,
        "search spaces answer fast and sample uniformly",
        &[
            ("kiln-tests", "tuning", "search_space::a_large_space"),
            ("kiln-tests", "tuning", "search_space::samples_are_uniform"),
        ],
    ),
    (
        20,
        "search strategies on recorded spaces",
        &[("kiln-tests", "tuning", "strategies::")],
    ),
    (
        21,
        "transfer between devices",
        &[("kiln-tests", "tuning", "transfer::")],
    ),
    (
        22,
        "what a search itself takes, and batches",
        &[("kiln-tests", "tuning", "search_overhead::")],
    ),
    (
        23,
        "files of other tuners",
        &[("kiln-tests", "tuning", "kernel_tuner::")],
    ),
    (
        FUZZING,
        "importers of foreign text",
        &[("kiln-tests", "tuning", "importers::")],
    ),
    (
        25,
        "regressions are flagged, and nothing else",
        &[
            ("kiln-tests", "tuning", "flagged"),
            ("kiln-measure", "watch", ""),
        ],
    ),
    (
        26,
        "every kernel of the library is right, at quoted sizes too",
        &[("kiln-tests", "library", "right")],
    ),
    (27, "phase-amplitude coupling", &[("kiln-tests", "pac", "")]),
    (SPEED, "the library on the cpu over its baselines", &[]),
    (
        32,
        "no seed makes a baseline be refused",
        &[("kiln-tests", "library", "no_seed_is_refused")],
    ),
    (
        47,
        "counters of simulated GPUs equal what is computed by hand",
        &[("kiln-tests", "tuning", "inspect::micro")],
    ),
    (
        48,
        "planted faults are caught on simulated GPUs",
        &[("kiln-tests", "device_prelude", "planted")],
    ),
    (
        51,
        "matrix kernels spend their instructions on products",
        &[("kiln-tests", "tuning", "inspect::designs")],
    ),
    (
        52,
        "fleets",
        &[("kiln-fleet", ALL, ""), ("kiln-tests", "tuning", "fleet::")],
    ),
    (BUCKETS, "fleets through S3 servers", &[]),
    (
        54,
        "deceiving kernels are not proven",
        &[("kiln-tests", "tuning", "deceiving::")],
    ),
    (
        TOOLCHAINS,
        "every version and installation of NVRTC",
        &[
            ("kiln-tests", "devices", "toolchains::"),
            ("kiln-tests", "devices", "same_bytes::"),
        ],
    ),
];

/// Used instead of the name of a test file. It stands for all tests of a package, including those of its library.
const ALL: &str = "";

/// The bar that also runs the tests against S3 servers on this machine.
const BUCKETS: u32 = 53;

/// The bar for which many versions of NVRTC are installed.
const TOOLCHAINS: u32 = 56;

/// The bar that a run of `tune` measures.
const SPEED: u32 = 28;

/// The bar for which all importers are also fuzzed.
const FUZZING: u32 = 24;

/// Tunes the library without a time limit. The last lines of the output say what was proven.
const TUNE_LIBRARY: [&str; 8] = [
    "tune",
    "run",
    "--package",
    "kiln-kernels",
    "--device",
    "cpu",
    "--budget",
    "full",
];

/// Runs one bar, or all of them. Bar 2 is not included, because it is `cargo xtask test` itself.
///
/// # Errors
/// If a bar fails, or if there is no bar with this number.
pub fn run(number: Option<u32>) -> Result<(), String> {
    let chosen: Vec<_> = BARS
        .iter()
        .filter(|bar| number.is_none_or(|number| bar.0 == number))
        .collect();
    if chosen.is_empty() {
        let known = BARS
            .iter()
            .map(|bar| bar.0.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        return Err(format!(
            "there is no bar {} (known: {known}; bar 2 is `cargo xtask test`)",
            number.unwrap_or_default()
        ));
    }
    for (number, title, tests) in chosen {
        if *number == TOOLCHAINS {
            toolchains::install()?;
        }
        for (package, file, filter) in *tests {
            step::run(
                &format!("bar {number}, {title}"),
                &mut test(package, file, filter),
            )?;
        }
        match *number {
            FUZZING => fuzz::run()?,
            BUCKETS => buckets::run()?,
            SPEED => step::run(title, &mut cargo(&TUNE_LIBRARY))?,
            _ => {}
        }
    }
    Ok(())
}

fn test(package: &str, file: &str, filter: &str) -> Command {
    let mut command = cargo(&["test", "--release", "--package", package]);
    if file != ALL {
        command.args(["--test", file]);
    }
    command.args(["--", "--nocapture", "--test-threads=1"]);
    if !filter.is_empty() {
        command.arg(filter);
    }
    command.env("KILN_BARS", "1");
    command
}
