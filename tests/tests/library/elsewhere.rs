//! Runs the same tests on another device, in a separate process.

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use kiln_tests::hip_host;
use kiln_tests::test_device::{HIP_HOST, VARIABLE, run_on};

/// Tests of a kernel with tensor cores and copies in flight, of a kernel without, and of launch functions.
const TESTS: [&str; 3] = [
    "is_right::conv3x3",
    "no_seed_is_refused::softmax",
    "tiles::an_image_through_tiles_is_the_same_bit_for_bit",
];

#[test]
fn kernels_are_right_through_the_hip_backend_on_the_host_processor() {
    let test = "library kernels_are_right_through_the_hip_backend_on_the_host_processor";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let output = run_on(HIP_HOST, &TESTS);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    for part in [
        "3 passed",
        "hip/kiln-host",
        "tensor cores, one stage",
        "; tensor cores, copies in flight",
        "no tensor cores, copies in flight",
    ] {
        assert!(said.contains(part), "{part}:\n{said}");
    }
}

#[test]
fn tune_smoke_goes_through_the_hip_backend_on_the_host_processor() {
    let test = "library tune_smoke_goes_through_the_hip_backend_on_the_host_processor";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let mut smoke = tune(&workspace(), cache.path());
    smoke.env("KILN_HIP_LIBRARY", hip_host::library());
    smoke.args(["smoke", "--kernel", "rms_norm", "--device", "hip:0"]);
    let output = expect_code(&mut smoke, 0);
    let said = stdout(&output);
    assert!(said.contains("receipts as intended"), "{said}");
    assert!(said.contains(" 0 failed, 0 not run"), "{said}");
}

#[test]
fn a_device_that_does_not_open_is_a_failure_and_no_skip() {
    for device in ["hip:77", "toaster"] {
        let output = run_on(device, &["is_right::reduce"]);
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{device}: {said}");
        for part in [&format!("{VARIABLE}={device}: "), "help: "] {
            assert!(errors.contains(part), "{part}:\n{errors}");
        }
        assert!(!errors.contains("skipped:"), "{errors}");
    }
}
