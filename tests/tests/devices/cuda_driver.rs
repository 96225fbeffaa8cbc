//! A CUDA driver that is missing, damaged or incomplete, or that finds no GPU. Each case gives a reason, and never a
//! panic.

use std::path::Path;
use std::process::Output;

use kiln::backend::cuda::CudaDevice;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout, tune, workspace};
use kiln_tests::cuda_stand_in::build;
use kiln_tests::stand_in::without;
use serde_json::Value;

/// Whether the test can run. It cannot if the loader would find a real driver after the broken one.
fn can_break_the_driver(test: &str, needs: &[Need]) -> bool {
    if CudaDevice::count().is_ok() {
        eprintln!("not run: {test}: this machine has a real driver");
        return false;
    }
    have(test, needs)
}

/// Runs `tune devices` with the dynamic loader's path set to a folder.
fn devices(folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = tune(folder, &folder.join("cache"));
    command.args(["devices", "--json"]);
    command
        .env("LD_LIBRARY_PATH", folder)
        .envs(variables.iter().copied());
    let output = expect_code(&mut command, 0);
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    output
}

/// The reported reason why no CUDA device is available, with the dynamic loader's path set to a folder.
fn reason(folder: &Path, variables: &[(&str, &str)]) -> String {
    let output = devices(folder, variables);
    let listing: Value = serde_json::from_slice(&output.stdout).expect("it should be JSON");
    let reason = listing["missing"]["cuda"].as_str();
    reason
        .unwrap_or_else(|| panic!("{}", stdout(&output)))
        .to_owned()
}

#[test]
fn without_a_driver_the_names_that_were_looked_for_are_said() {
    if !can_break_the_driver("no CUDA driver", &[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = reason(folder.path(), &[]);
    assert!(text.contains("libcuda.so.1"), "{text}");
    let mut open = tune(folder.path(), &folder.path().join("cache"));
    open.args(["smoke", "--device", "cuda:0", "--manifest-path"]);
    open.arg(workspace().join("kernels/Cargo.toml"));
    let output = expect_code(&mut open, 3);
    assert!(
        stderr(&output).contains("libcuda.so.1"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_driver_that_is_cut_off_empty_or_of_another_processor_is_named() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("damaged CUDA drivers", &needs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path());
    let whole = std::fs::read(&library).unwrap();
    let named = |bytes: &[u8], says: &str| {
        std::fs::write(&library, bytes).unwrap();
        let text = reason(folder.path(), &[]);
        let wanted = format!("{}: it is {says}", library.display());
        assert!(text.contains(&wanted), "{text}");
    };
    named(&[], "empty");
    named(&whole[..40], "cut off");
    for parts in 1..8 {
        named(&whole[..whole.len() * parts / 16], "cut off");
    }
    let mut foreign = whole.clone();
    foreign[18..20].copy_from_slice(&183u16.to_le_bytes());
    named(&foreign, "for another processor");
    foreign[4] = 1;
    named(&foreign, "a 32-bit library");
    named(b"INPUT(libcuda.so.1)", "not a shared library");
}

#[test]
fn a_driver_that_lacks_any_one_function_says_which() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("incomplete CUDA drivers", &needs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path());
    let whole = std::fs::read(&library).unwrap();
    let names = exported(&library);
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        if OPTIONAL.contains(&&*name) {
            continue;
        }
        std::fs::write(&library, without(&whole, &name)).unwrap();
        let text = reason(folder.path(), &[]);
        assert!(
            text.contains(&format!("it has no symbol `{name}`")),
            "{text}"
        );
    }
}

/// Functions that Kiln uses only if the driver has them.
const OPTIONAL: [&str; 4] = [
    "cuDeviceGetUuid_v2",
    "cuGraphUpload",
    "cuCtxSetLimit",
    "cuCtxResetPersistingL2Cache",
];

#[test]
fn a_driver_that_lacks_what_can_be_done_without_is_used() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("CUDA drivers that lack something", &needs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path());
    let mut changed = std::fs::read(&library).unwrap();
    for name in OPTIONAL {
        changed = without(&changed, name);
    }
    std::fs::write(&library, changed).unwrap();
    let text = stdout(&devices(folder.path(), &[]));
    assert!(text.contains("Stand-in L4"), "{text}");
}

/// The functions that the stand-in exports, in the order of its source.
fn exported(library: &Path) -> Vec<String> {
    let mut nm = std::process::Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(library);
    let names = stdout(&expect_code(&mut nm, 0));
    let names = names.lines().filter_map(|line| line.split(' ').next());
    names
        .filter(|name| name.starts_with("cu"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_driver_that_does_not_begin_or_knows_no_device_is_quoted() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("CUDA drivers without a GPU", &needs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path());
    for code in ["100", "3", "34", "803", "999", "123456"] {
        let text = reason(folder.path(), &[("KILN_STAND_IN_INIT", code)]);
        assert!(text.contains(&format!("cuInit: error {code}")), "{text}");
        assert!(text.contains(&library.display().to_string()), "{text}");
    }
    let none = reason(folder.path(), &[("KILN_STAND_IN_INIT", "100")]);
    assert!(
        none.contains("CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"),
        "{none}"
    );
    let none = reason(folder.path(), &[("KILN_STAND_IN_DEVICES", "0")]);
    assert!(none.contains("knows no device"), "{none}");
}

#[test]
fn a_driver_that_does_not_begin_does_not_hide_another_one() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("two CUDA drivers", &needs) {
        return;
    }
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    build(first.path());
    build(second.path());
    let path = std::env::join_paths([first.path(), second.path()]).unwrap();
    let refused_in = |folder| {
        [
            ("LD_LIBRARY_PATH", path.to_str().unwrap()),
            // The library does not match the kernel module, as with NVIDIA's "CUDA compatibility" package.
            ("KILN_STAND_IN_INIT", "803"),
            ("KILN_STAND_IN_INIT_IN", folder),
        ]
    };
    let output = devices(first.path(), &refused_in(first.path().to_str().unwrap()));
    let listing: Value = serde_json::from_slice(&output.stdout).expect("it should be JSON");
    assert_eq!(listing["devices"][1]["name"], "cuda:0", "{listing}");
    // If no driver begins, the reason names all of them.
    let text = reason(first.path(), &refused_in("/"));
    for folder in [first.path(), second.path()] {
        assert!(text.contains(&folder.display().to_string()), "{text}");
    }
}

#[test]
fn a_device_is_listed_with_what_the_driver_says_of_it() {
    let needs = [Need::HostCompiler, Need::CudaOccupancy];
    if !can_break_the_driver("a stand-in for the CUDA driver", &needs) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    let output = devices(folder.path(), &[]);
    let listing: Value = serde_json::from_slice(&output.stdout).expect("it should be JSON");
    let devices = listing["devices"]
        .as_array()
        .expect("there should be devices");
    let names: Vec<_> = devices
        .iter()
        .map(|device| device["name"].as_str())
        .collect();
    assert_eq!(names, [Some("cpu"), Some("cuda:0"), Some("cuda:1")]);
    let gpu = &devices[1];
    assert_eq!(gpu["key"], "cuda/sm_89/Stand-in L4");
    assert_eq!(gpu["shared_bytes_per_block"], 101_376);
    assert_eq!(gpu["multiprocessors"], 58);
    let fingerprint = &gpu["fingerprint"];
    for (field, value) in [
        ("cuda_driver", "13000"),
        ("clock_khz", "2040000"),
        ("memory_clock_khz", "6251000"),
        ("memory_bus_bits", "192"),
        ("ecc", "1"),
        ("l2_bytes", "50331648"),
        ("compute_capability", "8.9"),
    ] {
        assert_eq!(fingerprint[field], value, "{field}");
    }
    let instance = &gpu["instance"];
    assert_eq!(instance["uuid"], "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    assert_eq!(instance["memory_bytes"], "1073741824");
    assert_ne!(instance["uuid"], devices[2]["instance"]["uuid"]);
    // The key must not contain properties of an individual GPU. Otherwise its results could not be used on other GPUs.
    assert_eq!(gpu["fingerprint"], devices[2]["fingerprint"]);
    assert_eq!(listing["missing"]["cuda"], Value::Null);
}
