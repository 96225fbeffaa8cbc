//! A HIP runtime that is missing, damaged or without a device is reported with the reason, and never ends the program.
use std::fs;
use std::path::{Path, PathBuf};

use kiln::backend::hip::interface;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{stderr, stdout, tune};
use kiln_tests::hip_host;

/// The output of `tune devices` with this file as the HIP runtime, run in a separate process.
fn devices_with(library: &Path, variables: &[(&str, &str)]) -> String {
    let cache = tempfile::tempdir().expect("a folder should be made");
    let mut command = tune(&std::env::temp_dir(), cache.path());
    command.arg("devices").env("KILN_HIP_LIBRARY", library);
    command.envs(variables.iter().copied());
    let output = command.output().expect("tune should start");
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}: {out}{err}",
        library.display()
    );
    assert!(!err.contains("panicked"), "{}: {err}", library.display());
    out
}

/// The reason in the output of `tune devices` why no AMD GPU is available.
fn reason(out: &str) -> &str {
    let line = out
        .lines()
        .find_map(|line| line.strip_prefix("hip: none here: "));
    line.unwrap_or_else(|| panic!("no reason is given:\n{out}"))
}

/// Modified copies of the test library, in a temporary folder.
struct Copies {
    folder: tempfile::TempDir,
    whole: Vec<u8>,
}

impl Copies {
    fn new() -> Copies {
        Copies {
            folder: tempfile::tempdir().expect("a folder should be made"),
            whole: fs::read(hip_host::library()).expect("the library should be read"),
        }
    }

    fn write(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("libamdhip64.so.6");
        fs::write(&path, bytes).expect("the copy should be written");
        path
    }

    /// A copy in which every occurrence of a text is replaced by another text of the same length.
    fn replaced(&self, from: &str, to: &str) -> PathBuf {
        assert_eq!(from.len(), to.len());
        let mut bytes = self.whole.clone();
        let found = bytes.windows(from.len()).enumerate();
        let places: Vec<usize> = found
            .filter(|(_, window)| *window == from.as_bytes())
            .map(|(place, _)| place)
            .collect();
        assert!(!places.is_empty(), "{from}");
        for place in places {
            bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
        }
        self.write(&bytes)
    }
}

#[test]
fn a_library_that_is_no_library_is_named_with_what_it_is() {
    let copies = Copies::new();
    let missing = copies.folder.path().join("none.so");
    let text = devices_with(&missing, &[]);
    assert!(
        reason(&text).contains("none.so") && reason(&text).contains("No such file"),
        "{text}"
    );
    let cases: [(&[u8], &str); 3] = [
        (b"", "it is empty"),
        (b"INPUT(libamdhip64.so.6.2)", "it is not a shared library"),
        (b"\x7fELF\x01\x01\x01", "it is a 32-bit library"),
    ];
    for (bytes, says) in cases {
        let text = devices_with(&copies.write(bytes), &[]);
        assert!(reason(&text).contains(says), "{says}: {text}");
        assert!(
            reason(&text).starts_with("the HIP runtime was not found"),
            "{text}"
        );
    }
    let mut other = copies.whole.clone();
    other[18..20].copy_from_slice(&243_u16.to_le_bytes());
    let text = devices_with(&copies.write(&other), &[]);
    assert!(
        reason(&text).contains("for another processor (its ELF machine is 243"),
        "{text}"
    );
}

#[test]
fn a_library_that_was_cut_off_anywhere_is_refused() {
    let copies = Copies::new();
    let whole = copies.whole.len();
    for kept in [16, 63, 64, 300, 4096, whole / 4, whole / 2, whole * 3 / 4] {
        let text = devices_with(&copies.write(&copies.whole[..kept]), &[]);
        assert!(
            reason(&text).contains("cut off"),
            "{kept} of {whole} bytes: {text}"
        );
    }
}

#[test]
fn each_function_that_a_library_lacks_is_named() {
    let copies = Copies::new();
    for function in interface().functions {
        let renamed = function.name.replacen("hip", "hop", 1);
        let text = devices_with(&copies.replaced(function.name, &renamed), &[]);
        let says = format!("it has no symbol `{}`", function.name);
        // If the name is a prefix of another name, that name is removed, too.
        assert!(
            reason(&text).contains("it has no symbol `"),
            "{says}: {text}"
        );
    }
}

#[test]
fn a_library_without_the_newer_properties_is_read_in_the_old_layout() {
    if !have(
        "a_library_without_the_newer_properties_is_read_in_the_old_layout",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let copies = Copies::new();
    for old in [false, true] {
        let library = if old {
            copies.replaced("hipGetDevicePropertiesR0600", "hipGetDevicePropertiesX0600")
        } else {
            hip_host::library().to_owned()
        };
        let text = devices_with(&library, &[]);
        assert!(
            text.contains("hip:0\n  identity   hip/kiln-host/"),
            "{text}"
        );
    }
}

#[test]
fn an_architecture_that_no_compiler_knows_is_an_error_of_its_device() {
    let copies = Copies::new();
    let text = devices_with(
        &copies.replaced("kiln-host:sramecc+", "riln-host:sramecc+"),
        &[],
    );
    assert!(text.contains("hip:0: none here: "), "{text}");
    assert!(text.contains("\"riln-host:sramecc+\""), "{text}");
}

#[test]
fn a_runtime_that_does_not_start_or_counts_no_device_is_told_as_it_says() {
    let library = hip_host::library();
    let none = devices_with(library, &[("KILN_HIP_HOST_DEVICES", "0")]);
    assert!(
        reason(&none).starts_with("an AMD GPU was not found"),
        "{none}"
    );
    assert!(
        reason(&none).contains("hipErrorInvalidDevice (101)"),
        "{none}"
    );
    for (fault, says) in [
        ("hipGetDeviceCount@1=100", "an AMD GPU was not found"),
        ("hipInit@1=999", "hipInit gives hipErrorUnknown (999)"),
        ("hipInit@1=35", "hipInit gives"),
        ("hipGetDeviceCount@1=3", "hipGetDeviceCount gives"),
    ] {
        let text = devices_with(library, &[("KILN_HIP_HOST_FAULTS", fault)]);
        assert!(reason(&text).contains(says), "{fault}: {text}");
    }
    // A device that the runtime counts but cannot query is listed.
    let fault = (
        "KILN_HIP_HOST_FAULTS",
        "hipDeviceGetName@1=1,hipDeviceGetName@2=1,hipDeviceGetName@3=1",
    );
    let text = devices_with(library, &[fault]);
    assert!(
        text.contains("hip:0: none here: hipDeviceGetName failed"),
        "{text}"
    );
}

#[test]
fn a_runtime_that_finds_no_device_does_not_hide_an_older_one() {
    if !have(
        "a_runtime_that_finds_no_device_does_not_hide_an_older_one",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let copies = Copies::new();
    let rocm = tempfile::tempdir().expect("a folder should be made");
    let lib = rocm.path().join("lib");
    fs::create_dir(&lib).expect("a folder should be made");
    // A runtime with another variable for its number of devices.
    let other = copies.replaced("KILN_HIP_HOST_DEVICES", "KILN_HIP_HOST_DEVICEX");
    fs::copy(other, lib.join("libamdhip64.so.7")).expect("the runtime should be copied");
    fs::write(lib.join("libamdhip64.so.6"), &copies.whole).expect("it should be written");
    let path = rocm.path().to_string_lossy();
    let found = |devices: [&str; 2]| {
        // An empty value is that of a variable that is not set.
        let variables = [
            ("ROCM_PATH", &*path),
            ("KILN_HIP_HOST_DEVICEX", devices[0]),
            ("KILN_HIP_HOST_DEVICES", devices[1]),
        ];
        devices_with(Path::new(""), &variables)
    };
    let text = found(["0", "1"]);
    assert!(
        text.contains("hip:0\n  identity   hip/kiln-host/"),
        "{text}"
    );
    // If none has a device, the reason is that of the newest.
    let text = found(["0", "0"]);
    assert!(reason(&text).contains("libamdhip64.so.7"), "{text}");
}

#[test]
fn the_vendors_own_library_says_that_it_has_no_device() {
    let test = "the_vendors_own_library_says_that_it_has_no_device";
    if !have(test, &[Need::HipLibrary]) {
        return;
    }
    let library = Path::new("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");
    let text = devices_with(library, &[]);
    if text.contains("hip:0\n") {
        eprintln!("skipped: {test}: this machine has an AMD GPU");
        return;
    }
    assert!(
        reason(&text).starts_with("an AMD GPU was not found"),
        "{text}"
    );
    assert!(reason(&text).contains("libamdhip64.so.5: hip"), "{text}");
    // A truncated library is rejected like any other file that is not a library.
    let copies = Copies {
        whole: fs::read(library).expect("the library should be read"),
        ..Copies::new()
    };
    for kept in [64, 4096, copies.whole.len() / 2] {
        let text = devices_with(&copies.write(&copies.whole[..kept]), &[]);
        assert!(reason(&text).contains("cut off"), "{kept}: {text}");
    }
}
