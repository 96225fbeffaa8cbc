//! Opens the device, its compiler and the cache for a run of `tune`, and describes the machine.

use std::io::Write;
use std::path::{Path, PathBuf};

use kiln::backend::cpu::{CpuCompiler, CpuOptions};
use kiln::compiler::{Compiler, CompilerIdentity};
use kiln::devices::name_of;
use kiln::{Device, DeviceError, device::DeviceBackend};
use kiln_cache::{Cache, OpenOptions, ProbeCommand, Waiting};
use kiln_spec::Backend;

use crate::error::LabError;
use crate::worker::{ProcessCompiler, WorkerLimits};
use kiln_project::atomic_file::FileError;

/// An open device, with its name on the command line.
pub type Opened = (String, Device);

/// Opens the device that `--device` specifies. Without a name, opens the first GPU, or the cpu if there is no GPU.
///
/// # Errors
/// [`LabError::NoDevice`] if no device has that name, and [`LabError::Device`] if the device does not open.
pub fn open_device(name: Option<&str>) -> Result<(String, Device), LabError> {
    let name = name.map_or_else(first_device, str::to_owned);
    match kiln::open(&name) {
        Ok(device) => Ok((name, device)),
        Err(error @ DeviceError::NotFound { .. }) => Err(LabError::NoDevice(error)),
        Err(error) => Err(LabError::Device(error)),
    }
}

/// Opens several devices by name.
///
/// # Errors
/// The errors of [`open_device`], and [`LabError::NamedTwice`] if a name occurs twice.
pub fn open_devices(names: &[String]) -> Result<Vec<Opened>, LabError> {
    let mut opened: Vec<Opened> = Vec::new();
    for name in names {
        if opened.iter().any(|(other, _)| other == name) {
            return Err(LabError::NamedTwice(name.clone()));
        }
        opened.push(open_device(Some(name))?);
    }
    Ok(opened)
}

/// The name of the first GPU of this machine, or `cpu` if there is no GPU.
fn first_device() -> String {
    let gpu = kiln::devices().into_iter().find(|device| {
        let backend = device.info().key.backend;
        matches!(backend, Backend::Cuda | Backend::Hip)
    });
    gpu.map_or_else(|| "cpu".to_owned(), |gpu| name_of(&*gpu))
}

/// The device's compiler.
///
/// # Errors
/// If no compiler is installed. The error says what to install.
pub fn compiler(device: &dyn DeviceBackend) -> Result<&dyn Compiler, LabError> {
    let compiler = device.compiler();
    compiler.map_err(|error| LabError::NoCompiler { error })
}

/// The installed C++ compilers that the cpu device could use instead of the compiler `used`.
pub fn other_compilers(used: &CompilerIdentity) -> Vec<String> {
    let differs = |program: &PathBuf| {
        let compiler = CpuCompiler::at(program, &CpuOptions::default());
        compiler.is_ok_and(|compiler| compiler.identity() != used)
    };
    let others = CpuCompiler::installed().into_iter().filter(differs);
    others
        .map(|program| program.display().to_string())
        .collect()
}

/// If a compiler is a library, wraps it so that it runs in separate processes. The wrapper limits the time and memory
/// of each compile, and a crash loses only that compile. Returns `None` if the compiler already runs in its own
/// processes.
///
/// # Errors
/// If the path of the running program, which starts those processes, cannot be found.
pub fn isolated(compiler: &dyn Compiler) -> Result<Option<ProcessCompiler>, LabError> {
    let worker =
        WorkerLimits::current().map_err(FileError::of("find", "the running program".as_ref()))?;
    Ok(ProcessCompiler::around(compiler, &worker))
}

/// Opens the default cache for writing. If another `tune` holds the cache's lock, prints a message and waits.
///
/// # Errors
/// If the cache folder or its journal cannot be used.
pub fn open_cache() -> Result<Cache, LabError> {
    open_cache_in(&kiln_cache::location::from_environment()?)
}

/// Like [`open_cache`], for the cache in `folder`.
///
/// # Errors
/// If the cache folder or its journal cannot be used.
pub fn open_cache_in(folder: &Path) -> Result<Cache, LabError> {
    let mut said = false;
    let wait = |waiting: &Waiting| {
        if !said {
            // A closed standard error must not end a run.
            let _ = writeln!(std::io::stderr(), "tune: {}", waiting_for(waiting));
        }
        said = true;
    };
    let program = std::env::current_exe();
    let program = program.map_err(FileError::of("find", &PathBuf::from("the running program")))?;
    let probe = ProbeCommand {
        program,
        args: vec!["probe-store".into()],
    };
    let options = OpenOptions::new().probe(probe).wait(None, wait);
    let (cache, warnings) = Cache::open(folder, options)?;
    for warning in warnings {
        let _ = writeln!(std::io::stderr(), "tune: warning: {warning}");
    }
    Ok(cache)
}

fn waiting_for(waiting: &Waiting) -> String {
    let process = waiting
        .process
        .map_or_else(String::new, |process| format!(" (process {process})"));
    format!(
        "another tune{process} is using {}; waiting for it to end",
        waiting.folder.display()
    )
}

/// The machine in one line: processor, logical cores, memory and operating system. The host name is not included,
/// because users share reports.
pub fn describe() -> String {
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = Some(kiln::backend::cpu::processor_name().to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal");
    let memory_kib = memory.and_then(|text| text.strip_suffix(" kB")?.parse::<u64>().ok());
    let memory = memory_kib.map(|kib| format!("{:.1} GiB memory", kib as f64 / f64::from(1 << 20)));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    [
        processor,
        Some(format!("{cores} logical cores")),
        memory,
        Some(format!("{os} {} {arch}", release.trim())),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}
