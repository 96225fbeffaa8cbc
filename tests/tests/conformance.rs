//! Every device keeps the promises of `docs/adding-a-backend.md`; where it differs, a table says so.
#![forbid(unsafe_code)]

use std::sync::Arc;

use kiln::Device;
use kiln::backend::cpu::{CpuDevice, CpuOptions};
use kiln::backend::fake::script::Time;
use kiln::backend::fake::{FakeDevice, Script};
use kiln_tests::capability::{Need, have};
use kiln_tests::conformance::{DIFFERENCES, failures, suite};
use kiln_tests::hip_host;

fn assert_conforms(open: impl Fn() -> Arc<dyn Device>) {
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
        assert_conforms(|| device.clone());
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

#[test]
fn an_nvidia_gpu_conforms() {
    if have("an_nvidia_gpu_conforms", &[Need::Nvrtc, Need::CudaDevice]) {
        let device = kiln::open("cuda:0").expect("the device should open");
        assert_conforms(|| device.clone());
    }
}

#[test]
fn an_amd_gpu_conforms() {
    if have("an_amd_gpu_conforms", &[Need::AmdClang, Need::HipDevice]) {
        let device = kiln::open("hip:0").expect("the device should open");
        assert_conforms(|| device.clone());
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
