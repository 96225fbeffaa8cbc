//! Decides from a test's requirements, its *needs*, whether the test is skipped.
//!
//! If a tool is missing that CI machines have, such as a compiler, the test is skipped for users, and fails if
//! `CI=true`. If something else is missing, such as a GPU or recorded data, the test is skipped in CI too. If
//! `KILN_REQUIRE` lists a kind of GPU, the tests that need this kind fail instead of being skipped. Each skip prints
//! one line that starts with `skipped:`, and appends the line to `target/kiln-skips.txt`, where `cargo xtask test`
//! counts it.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln::backend::cuda::NvrtcCompiler;
use kiln::backend::hip::HipCompiler;
use kiln_lab::candidate::machine_code::Disassembler;

use crate::{s3, slurm};

/// A requirement of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A host C++ compiler.
    HostCompiler,
    /// A clang++ and an lld that compile for AMD GPUs.
    AmdClang,
    /// Recorded tuning spaces, in `$KILN_DATA` or next to the checkout.
    RecordedData,
    /// `git`.
    Git,
    /// `python3`.
    Python,
    /// `objdump`.
    Objdump,
    /// NVIDIA's `cuda_occupancy.h`.
    CudaOccupancy,
    /// NVRTC, which compiles for NVIDIA GPUs.
    Nvrtc,
    /// `nvdisasm`, NVIDIA's disassembler.
    Nvdisasm,
    /// Every NVRTC version in [`OLDER_NVRTC`].
    OlderNvrtc,
    /// An NVIDIA GPU that the CUDA driver can open.
    CudaDevice,
    /// An AMD GPU that the HIP runtime can open.
    HipDevice,
    /// The headers of the HIP runtime, on the search path of a compiler.
    HipHeaders,
    /// The HIP runtime of Debian's package.
    HipLibrary,
    /// A Python with Kernel Tuner installed.
    KernelTuner,
    /// The schemas of Kubernetes and of GitHub's workflows.
    Schemas,
    /// A full measurement of the acceptance criteria, which takes minutes and needs the machine for itself.
    Bars,
    /// `ssh-keygen`, which creates the keys that sign plans.
    SshKeygen,
    /// The daemons and commands of Slurm. Tests start a cluster on the loopback interface.
    Slurm,
    /// GNU parallel.
    Parallel,
    /// `faketime`, which gives a process a wrong clock.
    Faketime,
    /// A build that supports stores in S3 buckets. `cargo xtask bars 53` makes such a build.
    S3,
    /// A server that implements the S3 protocol.
    S3Server(s3::Kind),
    /// A kernel that lets users create process namespaces, which many sandboxes forbid.
    Namespaces,
}

impl Need {
    /// Checks whether the requirement is met. The error says why it is not.
    fn probe(self) -> Result<(), String> {
        match self {
            Need::Bars => check(in_full(), || "measured by `cargo xtask bars`".into()),
            Need::HostCompiler => {
                let compilers = ["g++", "clang++", "clang++-22", "clang++-19"];
                let why = || "no C++ compiler on the path".into();
                check(compilers.into_iter().any(answers), why)
            }
            Need::AmdClang => opened(HipCompiler::new("gfx1151")),
            Need::RecordedData => check(recorded_data().is_some(), || {
                "no recorded data: set KILN_DATA to its folder".into()
            }),
            Need::CudaOccupancy => set_up(cuda_occupancy().is_some(), "cuda_occupancy.h"),
            Need::Git => runs("git"),
            Need::Python => runs("python3"),
            Need::Objdump => runs("objdump"),
            Need::Nvrtc => opened(NvrtcCompiler::new("sm_89")),
            Need::Nvdisasm => opened(Disassembler::find()),
            Need::OlderNvrtc => OLDER_NVRTC.iter().try_for_each(|version| {
                set_up(older_nvrtc(version).is_dir(), &format!("NVRTC {version}"))
            }),
            Need::CudaDevice => opened(kiln::open("cuda:0")),
            Need::HipDevice => opened(kiln::open("hip:0")),
            Need::HipHeaders => file("/usr/include/hip/hip_runtime_api.h", "libamdhip64-dev"),
            Need::HipLibrary => file(
                "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
                "libamdhip64-5",
            ),
            Need::KernelTuner => set_up(kernel_tuner().is_some(), "Python with Kernel Tuner"),
            Need::Schemas => {
                let programs = ["kubernetes-validate", "check-jsonschema"];
                let found = programs.iter().all(|program| schemas(program).is_file());
                set_up(found, "schemas of Kubernetes")
            }
            Need::SshKeygen => check(is_on_path("ssh-keygen"), || {
                "no ssh-keygen on the path".into()
            }),
            Need::Slurm => slurm::obstacle().map_or(Ok(()), |why| Err(first_line(&why))),
            Need::Parallel => check(is_on_path("parallel"), || {
                "no GNU parallel: apt-get install parallel".into()
            }),
            Need::Faketime => set_up(is_on_path("faketime"), "faketime"),
            Need::S3 => check(cfg!(feature = "s3"), || {
                "built without the feature s3; `cargo xtask bars 53` builds it".into()
            }),
            Need::S3Server(kind) => check(kind.program().is_some(), || {
                format!("no {}: run `cargo xtask bars 53`", kind.name())
            }),
            Need::Namespaces => {
                let status = process_1(&Command::new("true")).status();
                let why = || "`unshare --user --pid` is not permitted here".into();
                check(status.is_ok_and(|status| status.success()), why)
            }
        }
    }

    /// Whether `KILN_REQUIRE` requires this need. The variable lists kinds of devices, such as `cuda` or `cuda,hip`,
    /// whose tests must not be skipped. It is for machines that were borrowed for their GPU, because there a skip would
    /// look like a pass.
    fn is_required(self, devices: &str) -> bool {
        let needs = |device: &str| match device {
            "cuda" => matches!(self, Need::CudaDevice | Need::Nvrtc),
            "hip" => matches!(self, Need::HipDevice | Need::AmdClang),
            _ => false,
        };
        devices.split(',').map(str::trim).any(needs)
    }

    /// Whether tests with this need may be skipped in CI. CI machines have no GPU and lack some packages, checkouts
    /// have no recorded data, and full measurements take too long.
    fn is_excusable(self) -> bool {
        matches!(
            self,
            Need::RecordedData
                | Need::Bars
                | Need::CudaDevice
                | Need::HipDevice
                | Need::HipHeaders
                | Need::HipLibrary
                | Need::SshKeygen
                | Need::Slurm
                | Need::Parallel
                | Need::Faketime
                | Need::S3
                | Need::S3Server(_)
                | Need::Namespaces
        )
    }
}

/// Wraps a command, so it runs as process 1 of a new process namespace, as in a container.
pub fn process_1(command: &Command) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args([
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--mount-proc",
    ]);
    unshare.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unshare.env(name, value),
            None => unshare.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        unshare.current_dir(folder);
    }
    unshare
}

/// Whether the test can continue. If `false`, the test must return at once. The skip has been printed and counted.
///
/// # Panics
/// If a need is not met although `CI=true` and CI machines have it, or although `KILN_REQUIRE` requires it.
pub fn have(test: &str, needs: &[Need]) -> bool {
    for need in needs {
        let Err(reason) = need.probe() else { continue };
        let excusable = need.is_excusable();
        let in_ci = std::env::var("CI").as_deref() == Ok("true");
        assert!(excusable || !in_ci, "{test} needs {need:?} in CI: {reason}");
        let required = std::env::var("KILN_REQUIRE").unwrap_or_default();
        assert!(
            !need.is_required(&required),
            "{test} needs {need:?}, which KILN_REQUIRE={required} demands: {reason}"
        );
        let line = format!("skipped: {test}: {reason}");
        eprintln!("{line}");
        let path = crate::command::workspace().join("target/kiln-skips.txt");
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        if let Ok(mut file) = file {
            // The line has been printed, and the file is only for counting, so an error is ignored.
            let _ = writeln!(file, "{line}");
        }
        return false;
    }
    true
}

/// The folder with NVIDIA's `cuda_occupancy.h`: the value of `KILN_CUDA_OCCUPANCY`, or the folder into which
/// `cargo xtask setup` unpacks the header.
pub fn cuda_occupancy() -> Option<PathBuf> {
    let given = std::env::var_os("KILN_CUDA_OCCUPANCY").map(PathBuf::from);
    let unpacked = crate::command::workspace().join("target/cuda-occupancy/nvidia/cu13/include");
    given
        .into_iter()
        .chain([unpacked])
        .find(|folder| folder.join("cuda_occupancy.h").is_file())
}

/// Versions of NVRTC before the current one, with which tests compile kernels. The first one is the oldest supported
/// version.
pub const OLDER_NVRTC: [&str; 3] = ["12.1", "12.9", "13.0"];

/// The folder into which `cargo xtask setup` unpacks a version from [`OLDER_NVRTC`].
pub fn older_nvrtc(version: &str) -> PathBuf {
    crate::command::workspace().join(format!("target/nvrtc-{version}"))
}

/// A Python with Kernel Tuner: the value of `KILN_KERNEL_TUNER`, or the virtual environment that `cargo xtask setup`
/// creates.
pub fn kernel_tuner() -> Option<PathBuf> {
    let given = std::env::var_os("KILN_KERNEL_TUNER").map(PathBuf::from);
    let made = crate::command::workspace().join("target/kernel-tuner/bin/python");
    given
        .into_iter()
        .chain([made])
        .find(|python| python.is_file())
}

/// A program of the virtual environment with schemas that `cargo xtask setup` creates.
pub fn schemas(program: &str) -> PathBuf {
    crate::command::workspace()
        .join("target/schemas/bin")
        .join(program)
}

/// The folder of recorded tuning data.
pub fn recorded_data() -> Option<PathBuf> {
    let given = std::env::var_os("KILN_DATA").map(PathBuf::from);
    let beside = crate::command::workspace().join("../shared/data");
    given
        .into_iter()
        .chain([beside])
        .find(|path| path.join("spaces").is_dir())
}

/// Whether to measure the acceptance criteria in full instead of with reduced counts.
pub fn in_full() -> bool {
    std::env::var_os("KILN_BARS").is_some()
}

/// An error with the reason, if a need is not met.
fn check(is_met: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(why()) }
}

/// Checks that `cargo xtask setup` has installed something.
fn set_up(is_there: bool, what: &str) -> Result<(), String> {
    check(is_there, || format!("no {what}: run `cargo xtask setup`"))
}

/// Checks that a file of a Debian package is installed.
fn file(path: &str, package: &str) -> Result<(), String> {
    check(Path::new(path).is_file(), || {
        format!("no {path}: apt-get install {package}")
    })
}

/// Checks that a device, a compiler or a tool could be opened.
fn opened<T>(result: Result<T, impl Display>) -> Result<(), String> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => Err(first_line(&error.to_string())),
    }
}

/// Checks that a program is on the path and prints its version.
fn runs(program: &str) -> Result<(), String> {
    check(answers(program), || format!("no {program} on the path"))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Whether a program is on the path. Unlike `answers`, this check does not start the program.
fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn answers(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}
