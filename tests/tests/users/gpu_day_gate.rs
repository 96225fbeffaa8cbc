//! The first minute of a GPU day on machines with a fault, with stand-ins for the driver and for NVML. The gate either
//! ends the day with the reason, or chooses something that works, or marks what is wrong.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kiln::backend::cuda::CudaDevice;
use kiln_tests::capability::{Need, OLDER_NVRTC, have, older_nvrtc};
use kiln_tests::command::{expect_code, tune_program, workspace};
use kiln_tests::cuda_stand_in::{build, build_nvml};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The key of the device whose variables are [`HOPPER`].
const KEY: &str = "cuda/sm_90/NVIDIA H100 80GB HBM3";

/// The stand-in is an H100 whose power limit holds its clock down a little, as is usual.
const HOPPER: [(&str, &str); 3] = [
    ("KILN_STAND_IN_ARCH", "90"),
    ("KILN_STAND_IN_NAME", "NVIDIA H100 80GB HBM3"),
    ("KILN_STAND_IN_CLOCK", "1980 0x4"),
];

/// The version of NVRTC that PyTorch brings, and one for older drivers.
const NVRTC: &str = OLDER_NVRTC[2];
const NVRTC_12: &str = OLDER_NVRTC[1];

/// The headers that NVRTC 13.0 needs and that the wheels which PyTorch installs do not have.
const CARRIED: [&str; 4] = ["crt/mma.h", "cuda/atomic", "cub/cub.cuh", "cuda/functional"];

/// The time that the gate has. A busy machine may need more than the minute of a real day.
const SECONDS: &str = "600";

/// A machine to which the folder of a day was carried.
struct Machine {
    folder: TempDir,
}

impl Machine {
    /// A machine without a fault; `None` if the test cannot run. It cannot if a real driver could be found instead of
    /// the stand-in.
    fn new(test: &str) -> Option<Machine> {
        if CudaDevice::count().is_ok() {
            eprintln!("not run: {test}: this machine has a real driver");
            return None;
        }
        let needs = [
            Need::HostCompiler,
            Need::CudaOccupancy,
            Need::OlderNvrtc,
            Need::Python,
        ];
        if !have(test, &needs) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder should be made");
        let machine = Machine { folder };
        for name in ["bin", "probe", "driver", "tmp", "cache", "none"] {
            fs::create_dir(machine.path(name)).expect("a folder should be made");
        }
        machine.set_mode("cache", 0o700);
        build(&machine.path("driver"));
        build_nvml(&machine.path("driver"));
        // Kiln looks for NVRTC in the `target` folder that contains `tune`, so a link would not do.
        let (from, to) = (tune_program(), machine.path("bin/tune"));
        fs::hard_link(from, &to)
            .or_else(|_| fs::copy(from, &to).map(drop))
            .expect("tune should be copied");
        for version in [NVRTC, NVRTC_12] {
            machine.compile_probe(version);
        }
        Some(machine)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("a folder should be made");
        fs::write(path, text).expect("a file should be written");
    }

    fn set_mode(&self, name: &str, mode: u32) {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.path(name), mode).expect("the mode should be set");
    }

    /// The wheels of NVRTC that PyTorch installs: those of `cargo xtask setup` without `crt` and `cccl`.
    fn nvrtc_of_pytorch(&self) -> PathBuf {
        let whole = older_nvrtc(NVRTC).join("nvidia/cu13");
        let part = self.path("pytorch/nvidia/cu13");
        for folder in ["lib", "include"] {
            fs::create_dir_all(part.join(folder)).expect("a folder should be made");
            let entries = fs::read_dir(whole.join(folder)).expect("the wheels should be there");
            for entry in entries.flatten() {
                let (from, to) = (entry.path(), part.join(folder).join(entry.file_name()));
                // `lib` also has a folder of CCCL.
                let is_of_cccl = folder == "lib" && from.is_dir();
                if is_of_cccl || from.ends_with("include/crt") || from.ends_with("include/cccl") {
                    continue;
                }
                // A link to the library would lead to the headers that are left out.
                match folder {
                    "lib" => fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)),
                    _ => symlink(&from, &to),
                }
                .expect("a file should be linked");
            }
        }
        self.path("pytorch")
    }

    /// Compiles the kernel that the gate launches, as is done before the day.
    fn compile_probe(&self, version: &str) {
        let mut compile = python("nvrtc.py");
        compile.arg(older_nvrtc(version));
        compile.arg(workspace().join("benches/gpu-day/probe.cu"));
        compile.arg("sm_90a");
        compile.arg(self.path(&format!("probe/{version}.cubin")));
        expect_code(&mut compile, 0);
    }

    /// The command of the gate. Neither this machine's variables nor its own cache and compilers are used.
    fn command(&self, device: &str, seconds: &str) -> Command {
        let mut gate = python("gate.py");
        gate.arg("--root").arg(self.folder.path());
        gate.args(["--device", device, "--seconds", seconds]);
        for name in ["CUDA_PATH", "CUDA_HOME", "KILN_PYTORCH", "KILN_REQUIRE"] {
            gate.env_remove(name);
        }
        gate.env("LD_LIBRARY_PATH", self.path("driver"));
        gate.env("KILN_NVRTC", older_nvrtc(NVRTC));
        gate.env("KILN_CACHE", self.path("cache"));
        gate.env("TMPDIR", self.path("tmp"));
        gate.envs(HOPPER);
        gate
    }

    /// What the gate finds if these variables differ from those of a machine without a fault.
    fn gate<V: AsRef<OsStr>>(&self, variables: &[(&str, V)]) -> Verdict {
        let mut gate = self.command("cuda:0", SECONDS);
        let variables = variables.iter();
        Verdict::of(gate.envs(variables.map(|(name, value)| (name, value.as_ref()))))
    }
}

/// A script of the day.
fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(workspace().join("benches/gpu-day").join(script));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// What the gate printed, and its exit code.
struct Verdict {
    code: Option<i32>,
    report: Value,
}

impl Verdict {
    fn of(gate: &mut Command) -> Verdict {
        let output = gate.output().expect("Python should start");
        let report = serde_json::from_slice(&output.stdout);
        let report = report.unwrap_or_else(|error| panic!("{error}: {output:?}"));
        Verdict {
            code: output.status.code(),
            report,
        }
    }

    fn check(&self, name: &str) -> &Value {
        let checks = self.report["checks"].as_array();
        let mut checks = checks.expect("there should be checks").iter();
        let found = checks.find(|check| check["name"] == name);
        found.unwrap_or_else(|| panic!("no check {name}: {:#}", self.report))
    }

    /// The names of the checks in a state.
    fn in_state(&self, state: &str) -> Vec<&str> {
        let checks = self.report["checks"].as_array().into_iter().flatten();
        let found = checks.filter(|check| check["state"] == state);
        found.filter_map(|check| check["name"].as_str()).collect()
    }

    /// Asserts that the day can go on, and that the line of a check has these parts.
    fn marks(&self, name: &str, parts: &[&str]) {
        assert_eq!(self.code, Some(0), "{:#}", self.report);
        assert_eq!(self.report["why"], "");
        let check = self.check(name);
        assert_eq!(check["state"], "marked", "{check}");
        says(&check["said"], parts);
    }

    /// Asserts that the day ends with a check, and that the reason has these parts.
    fn closes(&self, name: &str, parts: &[&str]) {
        assert_eq!(self.code, Some(3), "{:#}", self.report);
        assert_eq!(self.check(name)["state"], "failed");
        says(&self.report["why"], &[&format!("{name}: ")]);
        says(&self.report["why"], parts);
        let why = self.report["why"].as_str().unwrap_or_default();
        assert_eq!(why.lines().count(), 1, "{why}");
    }

    /// The value that the gate chose for a variable.
    fn chosen(&self, variable: &str) -> &str {
        let chosen = self.report["chosen"][variable].as_str();
        chosen.unwrap_or_else(|| panic!("{variable} was not chosen: {:#}", self.report))
    }
}

fn says(text: &Value, parts: &[&str]) {
    let text = text.as_str().unwrap_or_default();
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// No variable differs from those of a machine without a fault.
const AS_IT_IS: [(&str, &str); 0] = [];

#[test]
fn a_machine_without_a_fault_passes_with_an_nvrtc_that_has_the_carried_headers() {
    let test = "a_machine_without_a_fault_passes_with_an_nvrtc_that_has_the_carried_headers";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    for header in CARRIED {
        machine.write(&format!("headers/include/{header}"), "");
    }
    let begun = machine.path("begun.txt");
    let nvrtc = machine.nvrtc_of_pytorch();
    let verdict = machine.gate(&[("KILN_STAND_IN_COUNT", &begun), ("KILN_NVRTC", &nvrtc)]);
    assert_eq!(verdict.code, Some(0), "{:#}", verdict.report);
    assert_eq!(verdict.report["key"], KEY);
    says(&verdict.report["compiler"], &["nvrtc 13.0"]);
    assert_eq!(verdict.in_state("failed"), [""; 0]);
    for name in [
        "device", "compiler", "headers", "cubins", "shared", "graph", "guards", "clocks", "cache",
    ] {
        assert_eq!(verdict.check(name)["state"], "passed", "{name}");
    }
    says(&verdict.check("shared")["said"], &["40000, 232192"]);
    let nvrtc = Path::new(verdict.chosen("KILN_NVRTC")).join("nvidia/cu13");
    assert!(nvrtc.starts_with(machine.path("tmp")), "{nvrtc:?}");
    for file in CARRIED.iter().chain(&["cuda_fp16.h"]) {
        assert!(nvrtc.join("include").join(file).is_file(), "{file}");
    }
    assert_eq!(verdict.report["chosen"]["LD_LIBRARY_PATH"], Value::Null);
    assert!(verdict.check("driver")["start_seconds"].is_number());
    // Each process that opens the GPU may cost seconds there.
    let begun = fs::read_to_string(begun).expect("processes should be counted");
    assert!(begun.lines().count() <= 8, "{begun}");
}

#[test]
fn a_machine_without_nvrtc_ends_the_day() {
    let Some(machine) = Machine::new("a_machine_without_nvrtc_ends_the_day") else {
        return;
    };
    let verdict = machine.gate(&[("KILN_NVRTC", &machine.path("none"))]);
    if verdict.code == Some(0) {
        let nvrtc = verdict.chosen("KILN_NVRTC");
        eprintln!("not run: this machine has an NVRTC at {nvrtc:?}");
        return;
    }
    let searched = format!("KILN_NVRTC={}", machine.path("none").display());
    verdict.closes(
        "compiler",
        &[&searched, "find / -name", "in front of ./run.sh"],
    );
}

#[test]
fn a_carried_nvrtc_is_used_if_the_given_one_does_not_work() {
    let test = "a_carried_nvrtc_is_used_if_the_given_one_does_not_work";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let carried = machine.path("nvrtc");
    symlink(older_nvrtc(NVRTC), &carried).expect("a link should be made");
    let verdict = machine.gate(&[("KILN_NVRTC", &machine.path("none"))]);
    assert_eq!(verdict.code, Some(0), "{:#}", verdict.report);
    let chosen = Path::new(verdict.chosen("KILN_NVRTC"));
    if chosen != carried {
        eprintln!("not run: this machine has an NVRTC at {chosen:?}");
        return;
    }
    says(&verdict.report["compiler"], &["nvrtc 13.0"]);
}

#[test]
fn an_nvrtc_of_cuda_12_is_used_and_marked_as_older_than_the_driver() {
    let test = "an_nvrtc_of_cuda_12_is_used_and_marked_as_older_than_the_driver";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let nvrtc = older_nvrtc(NVRTC_12);
    let verdict = machine.gate(&[("KILN_NVRTC", &nvrtc)]);
    verdict.marks("compiler", &["nvrtc 12.9", "older than the driver"]);
    assert_eq!(Path::new(verdict.chosen("KILN_NVRTC")), nvrtc);
}

#[test]
fn headers_that_are_nowhere_are_named() {
    let Some(machine) = Machine::new("headers_that_are_nowhere_are_named") else {
        return;
    };
    let nvrtc = machine.nvrtc_of_pytorch();
    let verdict = machine.gate(&[("KILN_NVRTC", &nvrtc)]);
    verdict.marks("headers", &CARRIED);
    assert_eq!(Path::new(verdict.chosen("KILN_NVRTC")), nvrtc);
}

#[test]
fn a_second_libcuda_comes_first_if_the_first_does_not_begin() {
    let test = "a_second_libcuda_comes_first_if_the_first_does_not_begin";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let (first, second) = (machine.path("compat"), machine.path("driver"));
    fs::create_dir(&first).expect("a folder should be made");
    fs::copy(second.join("libcuda.so.1"), first.join("libcuda.so.1"))
        .expect("the driver should be copied");
    let path = std::env::join_paths([&first, &second]).expect("it has no colon");
    let refused_in = |folder: &Path| {
        machine.gate(&[
            ("LD_LIBRARY_PATH", path.as_os_str()),
            ("KILN_STAND_IN_INIT", OsStr::new("803")),
            ("KILN_STAND_IN_INIT_IN", folder.as_os_str()),
        ])
    };
    let verdict = refused_in(&first);
    let named = first.join("libcuda.so.1").display().to_string();
    verdict.marks("driver", &[&named, "error 803", "kernel module"]);
    let chosen = std::env::split_paths(verdict.chosen("LD_LIBRARY_PATH")).next();
    assert_eq!(chosen.as_deref(), Some(&*second));
    let verdict = refused_in(machine.folder.path());
    verdict.closes("driver", &[&named, &second.display().to_string(), "803"]);
}

#[test]
fn a_machine_without_libcuda_ends_the_day() {
    let Some(machine) = Machine::new("a_machine_without_libcuda_ends_the_day") else {
        return;
    };
    let verdict = machine.gate(&[("LD_LIBRARY_PATH", &machine.path("none"))]);
    verdict.closes("driver", &["libcuda.so.1"]);
}

#[test]
fn a_driver_without_the_device_ends_the_day() {
    let Some(machine) = Machine::new("a_driver_without_the_device_ends_the_day") else {
        return;
    };
    let verdict = machine.gate(&[("KILN_STAND_IN_DEVICES", "0")]);
    verdict.closes("driver", &["knows 0 devices"]);
}

#[test]
fn cubins_that_the_driver_refuses_end_the_day_only_if_none_is_left() {
    let test = "cubins_that_the_driver_refuses_end_the_day_only_if_none_is_left";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let verdict = machine.gate(&[("KILN_STAND_IN_LOAD", "209")]);
    verdict.closes(
        "cubins",
        &[
            "12.9.cubin",
            "13.0.cubin",
            "error 209",
            "another architecture",
        ],
    );
    machine.write("probe/13.0.cubin", "damaged");
    let verdict = machine.gate(&AS_IT_IS);
    verdict.marks("cubins", &["13.0.cubin", "error 200"]);
    assert_eq!(verdict.check("shared")["state"], "passed");
}

#[test]
fn a_kernel_that_sees_more_shared_memory_than_was_asked_for_is_marked_with_both_sizes() {
    let test = "a_kernel_that_sees_more_shared_memory_than_was_asked_for_is_marked_with_both_sizes";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let verdict = machine.gate(&[("KILN_STAND_IN_ROUND", "128")]);
    verdict.marks("shared", &["1000 bytes", "1024", "40000 bytes", "40064"]);
}

#[test]
fn what_a_sandbox_forbids_is_marked_with_what_it_means() {
    let test = "what_a_sandbox_forbids_is_marked_with_what_it_means";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let verdict = machine.gate(&[
        ("KILN_STAND_IN_RECORDING", "900"),
        ("KILN_STAND_IN_CREATE", "800"),
        ("KILN_STAND_IN_NVML", "9"),
    ]);
    verdict.marks("graph", &["error 900", "without recordings"]);
    verdict.marks("guards", &["cuMemCreate: error 800", "zones"]);
    verdict.marks("clocks", &["nvmlInit_v2: error 9", "nvidia-smi"]);
}

#[test]
fn a_clock_that_is_held_down_and_other_processes_are_marked() {
    let test = "a_clock_that_is_held_down_and_other_processes_are_marked";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let own = std::process::id().to_string();
    let processes = format!("{own} 4000000001");
    let verdict = machine.gate(&[
        ("KILN_STAND_IN_CLOCK", "1200 0xa0"),
        ("KILN_STAND_IN_PROCESSES", &processes),
        ("KILN_STAND_IN_PERSISTENCE", "0"),
    ]);
    let parts = ["thermal slowdown", "power brake", &own, "4000000001"];
    verdict.marks("clocks", &parts);
    verdict.marks("clocks", &["persistence mode is off"]);
    assert_eq!(verdict.check("clocks")["reasons"], 0xa0);
}

#[test]
fn a_cache_that_is_of_no_use_is_marked_with_the_cure() {
    let test = "a_cache_that_is_of_no_use_is_marked_with_the_cure";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    // Nobody can create files there, not even root.
    let verdict = machine.gate(&[("KILN_CACHE", "/proc")]);
    verdict.marks("cache", &["/proc cannot be written", "chmod"]);
    machine.set_mode("cache", 0o777);
    let verdict = machine.gate(&AS_IT_IS);
    verdict.marks("cache", &["mode 777", "chmod -R go-w"]);
}

#[test]
fn earlier_results_of_another_product_are_marked() {
    let Some(machine) = Machine::new("earlier_results_of_another_product_are_marked") else {
        return;
    };
    let earlier = |key: &str| {
        let manifest = json!({"device": {"name": "cuda:0", "key": key}});
        machine.write("have/manifest.json", &manifest.to_string());
        machine.gate(&AS_IT_IS)
    };
    let rows = "rows of an NVIDIA H200 are not those of an NVIDIA H100 80GB HBM3";
    earlier("cuda/sm_90/NVIDIA H200").marks("same", &[rows]);
    assert_eq!(earlier(KEY).check("same")["state"], "passed");
}

#[test]
fn a_driver_that_never_answers_ends_the_day_in_time_and_leaves_no_process() {
    let test = "a_driver_that_never_answers_ends_the_day_in_time_and_leaves_no_process";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let begun = machine.path("begun.txt");
    let mut gate = machine.command("cuda:0", "10");
    gate.env("KILN_STAND_IN_INIT_MS", "3600000");
    gate.env("KILN_STAND_IN_COUNT", &begun);
    let start = Instant::now();
    let verdict = Verdict::of(&mut gate);
    assert!(start.elapsed() < Duration::from_secs(100));
    assert_eq!(verdict.code, Some(3), "{:#}", verdict.report);
    // On a very busy machine, the last limit may be the first to be reached.
    let why = verdict.report["why"].as_str().unwrap_or_default();
    let reasons = ["did not end within", "cut off by SIGALRM"];
    assert!(reasons.iter().any(|reason| why.contains(reason)), "{why}");
    for process in fs::read_to_string(begun).unwrap_or_default().lines() {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        assert!(!command.contains("gate_checks"), "{process}: {command}");
    }
}

#[test]
fn a_rehearsal_on_the_cpu_needs_only_its_device() {
    let test = "a_rehearsal_on_the_cpu_needs_only_its_device";
    let Some(machine) = Machine::new(test) else {
        return;
    };
    let verdict = Verdict::of(machine.command("cpu", SECONDS).env("LD_LIBRARY_PATH", ""));
    assert_eq!(verdict.code, Some(0), "{:#}", verdict.report);
    says(&verdict.report["key"], &["cpu/"]);
    assert_eq!(verdict.in_state("passed"), ["device", "compiler"]);
    assert_eq!(verdict.report["chosen"], json!({}));
}
