//! Kernels with warp code in the forms of public kernels. `cargo test`, `tune run` and `tune smoke` say the same about
//! each of them.

use std::process::Output;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{stderr, stdout};
use kiln_tests::throwaway::Throwaway;

const FILES: [(&str, &str); 2] = [
    (
        "src/lib.rs",
        include_str!("../../fixtures/warps/src/lib.rs"),
    ),
    (
        "src/warps.cu",
        include_str!("../../fixtures/warps/src/warps.cu"),
    ),
];

/// What the three commands say about a kernel.
fn said(crate_: &Throwaway, kernel: &str) -> [(&'static str, Output); 3] {
    let test = format!("kiln_smoke_{kernel}");
    let run = format!("run --device cpu --trials 1 -k {kernel}");
    let output = |mut command: std::process::Command| command.output().expect("it should start");
    let mut cargo = crate_.cargo();
    cargo.args(["test", "--lib", &test, "--", "--nocapture"]);
    [
        ("cargo test", output(cargo)),
        ("tune run", output(crate_.tune(&run))),
        (
            "tune smoke",
            output(crate_.tune(&format!("smoke --device cpu -k {kernel}"))),
        ),
    ]
}

#[test]
fn warp_code_is_judged_alike_by_smoke_tests_and_runs() {
    let name = "warp_code_is_judged_alike_by_smoke_tests_and_runs";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = Throwaway::new("warps", &FILES);
    let init = crate_.tune("init").output().expect("it should start");
    assert!(init.status.success(), "{}", stderr(&init));
    let race = "race: it ";
    let early = "early return: __syncthreads() at src/warps.cu:11 does not wait for the ";
    let cases: [(&str, bool, &[&str]); 4] = [
        ("block_sums", true, &[early]),
        (
            "old_sums",
            false,
            &[race, "`s`[", "src/warps.cu:24", "no __syncwarp()"],
        ),
        (
            "old_indices",
            false,
            &[race, "`s`[", "src/warps.cu:38", "no __syncwarp()"],
        ),
        ("next_level", true, &[]),
    ];
    for (kernel, is_right, parts) in cases {
        for (command, output) in said(&crate_, kernel) {
            let text = stdout(&output) + &stderr(&output);
            assert_eq!(
                output.status.success(),
                is_right,
                "{command} of {kernel}:\n{text}"
            );
            let line = text
                .lines()
                .find(|line| parts.iter().all(|part| line.contains(part)));
            assert!(
                line.is_some(),
                "{command} of {kernel} does not say {parts:?}:\n{text}"
            );
        }
    }
}
