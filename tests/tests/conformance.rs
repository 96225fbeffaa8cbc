//! Checks that every device keeps the promises of `docs/adding-a-backend.md`. A table lists intended differences.

#![forbid(unsafe_code)]

use kiln::Device;
use kiln::backend::cpu::{CpuDevice, CpuOptions};
use kiln::backend::fake::script::Time;
use kiln::backend::fake::{FakeDevice, Script};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::child_test;
use kiln_tests::conformance::{Check, DIFFERENCES, failure, failures, suite};
use kiln_tests::hip_host;
use rayon::prelude::*;

fn assert_conforms(open: impl Fn() -> Device) {
    let failures = failures(open);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_cpu_device_conforms() {
    if have("the_cpu_device_conforms", &[Need::HostCompiler]) {
        let options = CpuOptions {
            threads: 2,
            ..CpuOptions::default()
        };
        let device = CpuDevice::with_options(options).expect("the device should open");
        assert_conforms(|| device.clone().into());
    }
}

#[test]
fn the_fake_device_conforms_where_it_does_not_differ_by_design() {
    assert_conforms(|| {
        FakeDevice::new(Script {
            time: Time {
                block_ns: 1000.0,
                ..Time::default()
            },
            ..Script::default()
        })
        .into()
    });
}

#[test]
fn the_hip_backend_conforms_through_a_runtime_of_the_host_processor() {
    let test = "the_hip_backend_conforms_through_a_runtime_of_the_host_processor";
    if have(test, &[Need::HostCompiler]) {
        let device = hip_host::device();
        assert_eq!(device.info().key.arch, "kiln-host");
        assert_conforms(|| device.clone());
    }
}

/// The variable that tells the child of [`in_a_process_of_its_own`] what to run: a device and a check, separated by a
/// space.
const CHECK: &str = "KILN_CONFORMANCE_CHECK";

/// Runs one check on a device in a separate process, and returns the failure, if any. After an error that destroys the
/// context of a GPU, every later check in the same process would fail.
fn in_a_process_of_its_own(device: &str, check: &str) -> Option<String> {
    let mut command = child_test(module_path!(), "one_check_of_a_device");
    command.env(CHECK, format!("{device} {check}"));
    let output = command.output().expect("the child should start");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("{check}: {}\n{said}", output.status))
}

#[test]
#[ignore = "the child of another test"]
fn one_check_of_a_device() {
    let asked = std::env::var(CHECK).expect("the parent should say which");
    let (device, check) = asked.split_once(' ').expect("a device and a check");
    let device = kiln::open(device).expect("the device should open");
    if let Some(failure) = failure(check, device) {
        panic!("{failure}");
    }
}

/// Number of checks that run at the same time. A GPU may take a second to open.
const AT_ONCE: usize = 6;

fn assert_gpu_conforms(device: &str) {
    let failures = failures_in_processes(device);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn failures_in_processes(device: &str) -> Vec<String> {
    let (timed, others): (Vec<Check>, Vec<Check>) =
        suite().into_iter().partition(Check::times_launches);
    let run = |check: &Check| in_a_process_of_its_own(device, check.name);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(AT_ONCE).build();
    let pool = pool.expect("threads should start");
    let mut failures: Vec<String> = pool.install(|| others.par_iter().filter_map(run).collect());
    failures.extend(timed.iter().filter_map(run));
    failures
}

#[test]
fn every_check_can_run_in_a_process_of_its_own() {
    // Without a script, the fake device takes the same time for every launch.
    let failures = failures_in_processes("fake");
    assert_eq!(failures.len(), 1, "{}", failures.join("\n"));
    let name = "time_grows_with_the_work_of_a_launch: ";
    assert!(failures[0].starts_with(name), "{}", failures[0]);
}

#[test]
fn a_check_in_a_process_of_its_own_tells_what_fails() {
    let failure = in_a_process_of_its_own("fake", "no_such_check");
    let said = failure.expect("there is no such check");
    assert!(said.contains("there is no check `no_such_check`"), "{said}");
}

#[test]
fn an_nvidia_gpu_conforms() {
    if have("an_nvidia_gpu_conforms", &[Need::Nvrtc, Need::CudaDevice]) {
        assert_gpu_conforms("cuda:0");
    }
}

#[test]
fn an_amd_gpu_conforms() {
    if have("an_amd_gpu_conforms", &[Need::AmdClang, Need::HipDevice]) {
        assert_gpu_conforms("hip:0");
    }
}

#[test]
fn a_simulated_amd_gpu_conforms() {
    if have("a_simulated_amd_gpu_conforms", &[Need::AmdClang]) {
        assert_conforms(|| kiln::open("sim:gfx1151").expect("it is always there"));
    }
}

#[test]
fn a_simulated_nvidia_gpu_conforms() {
    if have("a_simulated_nvidia_gpu_conforms", &[Need::Nvrtc]) {
        assert_conforms(|| kiln::open("sim:sm_86").expect("it is always there"));
    }
}

#[test]
fn the_table_of_differences_names_checks_that_there_are() {
    let suite = suite();
    for (backend, name, _) in DIFFERENCES {
        let known = suite.iter().any(|check| check.name == *name);
        assert!(known, "{backend}: there is no check `{name}`");
    }
    assert!(suite.len() >= 40, "{} checks", suite.len());
}
