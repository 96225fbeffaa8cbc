//! `tune run` does not measure on a GPU that other programs use, unless a flag allows it.
use std::path::Path;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, tune};
use kiln_tests::cuda_stand_in::{self, build_nvml};

/// Returns the output of `tune run` on the stand-in for the driver. The run ends at the latest when it finds that the
/// problem is not declared.
fn run(folder: &Path, flags: &[&str], variables: &[(&str, &str)], code: i32) -> String {
    let mut command = tune(folder, &folder.join("cache"));
    command.args(["run", "--device", "cuda:0", "--problem", "no such problem"]);
    command.args(flags);
    command.env("LD_LIBRARY_PATH", folder);
    command.envs(variables.iter().copied());
    let said = stderr(&expect_code(&mut command, code));
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// The exit code for an undeclared problem, which is checked after the GPU was checked for other programs.
const NO_PROBLEM: i32 = 1;

fn ready(test: &str) -> Option<tempfile::TempDir> {
    let needs = [Need::HostCompiler, Need::CudaOccupancy, Need::Nvrtc];
    have(test, &needs).then(|| {
        let folder = tempfile::tempdir().expect("a folder should be made");
        cuda_stand_in::build(folder.path());
        adding(folder.path());
        folder
    })
}

#[test]
fn a_gpu_that_others_compute_on_is_refused_unless_it_is_allowed() {
    let test = "a_gpu_that_others_compute_on_is_refused_unless_it_is_allowed";
    let Some(folder) = ready(test) else {
        return;
    };
    build_nvml(folder.path());
    let own = std::process::id().to_string();
    // More processes than the initial capacity. One of them is a process of this machine, so its name is known.
    let many: Vec<String> = (0..200)
        .map(|n| (4_000_000_000_u32 + n).to_string())
        .collect();
    let many = format!("{own} {}", many.join(" "));
    for (processes, says) in [
        ("4000000001", "process 4000000001 computes on cuda:0, too"),
        (&*own, &*format!("process {own} (")),
        (&*many, "4000000000, 4000000001,"),
        (&*many, "4000000199 compute on cuda:0, too"),
    ] {
        let given = [("KILN_STAND_IN_PROCESSES", processes)];
        let said = run(folder.path(), &[], &given, 4);
        assert!(said.contains(says), "{said}");
        assert!(
            said.contains("help: ") && said.contains("--allow-shared-gpu"),
            "{said}"
        );
        let said = run(folder.path(), &["--allow-shared-gpu"], &given, NO_PROBLEM);
        assert!(
            said.contains("tune: warning: ") && said.contains(says),
            "{said}"
        );
    }
    let said = run(folder.path(), &[], &[], NO_PROBLEM);
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn where_nobody_can_say_who_computes_that_is_said_once_and_the_run_goes_on() {
    let test = "where_nobody_can_say_who_computes_that_is_said_once_and_the_run_goes_on";
    if kiln::backend::cuda::CudaDevice::count().is_ok() {
        eprintln!("not run: {test}: this machine has a real driver");
        return;
    }
    let Some(folder) = ready(test) else {
        return;
    };
    let unknown = |variables: &[(&str, &str)], says: &str| {
        let said = run(folder.path(), &[], variables, NO_PROBLEM);
        assert_eq!(said.matches("is not known").count(), 1, "{said}");
        assert!(said.contains(says), "{says}: {said}");
    };
    unknown(&[], "no libnvidia-ml.so.1 in the loader's folders");
    let library = folder.path().join("libnvidia-ml.so.1");
    std::fs::write(&library, "").expect("a file should be written");
    unknown(&[], "it is empty");
    build_nvml(folder.path());
    let init = [("KILN_STAND_IN_NVML", "9")];
    unknown(&init, "nvmlInit: error 9 (Driver Not Loaded)");
    let whole = std::fs::read(&library).expect("the library should be read");
    let name = b"nvmlDeviceGetComputeRunningProcesses_v3";
    let mut changed = whole.clone();
    for at in 0..whole.len() - name.len() {
        if whole[at..].starts_with(name) {
            changed[at] = b'x';
        }
    }
    std::fs::write(&library, changed).expect("a file should be written");
    unknown(
        &[],
        "it has no symbol `nvmlDeviceGetComputeRunningProcesses_v3`",
    );
}

/// A package with the only kernel that the stand-in can compute.
fn adding(root: &Path) {
    std::fs::create_dir(root.join("src")).expect("a folder should be made");
    let manifest =
        "[package]\nname = \"adding\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    for (path, text) in [
        ("Cargo.toml", manifest),
        (
            "src/lib.rs",
            include_str!("../../fixtures/adding/src/lib.rs"),
        ),
        (
            "src/add.cu",
            include_str!("../../fixtures/adding/src/add.cu"),
        ),
    ] {
        std::fs::write(root.join(path), text).expect("a file should be written");
    }
}

#[test]
fn a_gpu_that_admits_one_process_at_a_time_is_never_asked_for_a_second_context() {
    let test = "a_gpu_that_admits_one_process_at_a_time_is_never_asked_for_a_second_context";
    let Some(folder) = ready(test) else {
        return;
    };
    let root = folder.path();
    let lock = root.join("exclusive");
    let run = || {
        let mut command = tune(root, &root.join("cache"));
        command.args(["run", "--device", "cuda:0", "--problem", "n=1000"]);
        command.env("LD_LIBRARY_PATH", root);
        command.env("KILN_STAND_IN_EXCLUSIVE", &lock);
        stderr(&expect_code(&mut command, 1))
    };
    // The stand-in computes, but writes no receipt. By then the worker for the reference has had a context, and the
    // worker that verifies has one.
    let said = run();
    assert!(said.contains("the device wrote no receipt"), "{said}");
    // Another process holds the lock of the device.
    let held = std::fs::File::create(&lock).expect("the lock should be made");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        .expect("nobody else should hold the lock");
    let said = run();
    assert!(
        said.contains("error 46") && said.contains("compute mode"),
        "{said}"
    );
    assert!(!said.contains("the device is lost"), "{said}");
}
