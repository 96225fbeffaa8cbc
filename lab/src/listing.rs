//! The text of `tune devices`: the devices of this machine, and what is missing for other devices.

use std::collections::BTreeMap;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::{BuildKind, CompileError, Compiler, CompilerIdentity};
use kiln::device::DeviceBackend;
use kiln_spec::Backend;
use kiln_spec::targets::{KnownTarget, TARGETS};
use rayon::prelude::*;
use serde::Serialize;

use crate::header_table::{self, Headers};

/// The devices of this machine, the compilers for other GPUs, the simulated GPUs, and the devices that are missing.
#[derive(Serialize)]
pub struct Listing {
    devices: Vec<ListedDevice>,
    /// For each GPU architecture in the target table, the compiler on this machine that can compile for it, or the part
    /// that is missing.
    targets: BTreeMap<&'static str, CompilerStatus>,
    /// For each compiler of a GPU, the headers that kernels can include.
    headers: BTreeMap<String, Headers>,
    /// Simulated GPUs: smoke tests can execute images for these GPUs without the hardware.
    simulated: Vec<String>,
    /// Devices that are not available, by name. The value is the reason: the backend finds no device, or the device
    /// does not open.
    missing: BTreeMap<String, String>,
}

/// The identity of a compiler, or the part that is missing for it.
#[derive(Serialize)]
enum CompilerStatus {
    #[serde(rename = "Ok")]
    Found(String),
    #[serde(rename = "Err")]
    Missing(String),
}

impl CompilerStatus {
    fn of(compiler: Result<&dyn Compiler, &CompileError>) -> CompilerStatus {
        match compiler {
            Ok(compiler) => CompilerStatus::Found(compiler.identity().to_string()),
            Err(error) => CompilerStatus::Missing(error.to_string()),
        }
    }
}

#[derive(Serialize)]
struct ListedDevice {
    name: String,
    key: String,
    compiler: CompilerStatus,
    flags: Vec<String>,
    max_threads_per_block: u32,
    shared_bytes_per_block: u32,
    multiprocessors: u32,
    fingerprint: BTreeMap<String, String>,
    instance: BTreeMap<String, String>,
}

impl Listing {
    /// Queries the devices and compilers of this machine.
    pub fn now() -> Listing {
        let devices = kiln::devices();
        let missing = kiln::devices::missing();
        let without_device = TARGETS
            .iter()
            .filter(|target| target.backend != Backend::Cpu);
        let compilers: Vec<_> = without_device
            .map(|target| (target, kiln::compile_only::compiler(target.arch)))
            .collect();
        Listing {
            devices: devices
                .iter()
                .map(|device| ListedDevice::of(&**device))
                .collect(),
            targets: compilers
                .iter()
                .map(|(target, compiler)| (target.arch, CompilerStatus::of(compiler.as_deref())))
                .collect(),
            headers: headers(&compilers),
            simulated: kiln::devices::simulated(),
            missing: missing
                .into_iter()
                .map(|(name, error)| (name, error.to_string()))
                .collect(),
        }
    }

    /// The text of `tune devices`.
    pub fn to_text(&self) -> String {
        let mut text: String = self.devices.iter().map(ListedDevice::to_text).collect();
        text += "compiled for without a device\n";
        for (arch, compiler) in &self.targets {
            text += &format!("  {arch:<10} {}\n", compiler_text(compiler));
        }
        text += &header_table::to_text(&self.headers);
        text += &format!(
            "simulated, without a clock: {}\n",
            self.simulated.join(", ")
        );
        for (name, reason) in &self.missing {
            text += &format!("{name}: none here: {reason}\n");
        }
        text
    }
}

/// A compiler, or why there is none.
type FoundCompiler = Result<Box<dyn Compiler>, CompileError>;

/// The headers that each compiler can include. A compiler of several targets is asked once.
fn headers(compilers: &[(&KnownTarget, FoundCompiler)]) -> BTreeMap<String, Headers> {
    let mut different: BTreeMap<String, (&dyn Compiler, Backend)> = BTreeMap::new();
    for (target, compiler) in compilers {
        let Ok(compiler) = compiler else { continue };
        let CompilerIdentity { name, version, .. } = compiler.identity();
        different
            .entry(format!("{name} {version}"))
            .or_insert((&**compiler, target.backend));
    }
    let cache = ArtifactCache::of_user();
    let ask = |(name, (compiler, backend))| (name, Headers::of(compiler, backend, cache.as_ref()));
    different.into_par_iter().map(ask).collect()
}

fn compiler_text(compiler: &CompilerStatus) -> String {
    match compiler {
        CompilerStatus::Found(identity) => identity.clone(),
        CompilerStatus::Missing(error) => format!("no compiler: {}", indented(error)),
    }
}

/// Indents all lines of a text except the first.
fn indented(text: &str) -> String {
    text.replace('\n', "\n             ")
}

impl ListedDevice {
    fn of(device: &dyn DeviceBackend) -> ListedDevice {
        let info = device.info();
        let compiler = device.compiler();
        ListedDevice {
            name: kiln::devices::name_of(device),
            key: info.key.to_string(),
            flags: compiler
                .as_ref()
                .map(|compiler| compiler.flags(BuildKind::Release))
                .unwrap_or_default(),
            compiler: CompilerStatus::of(compiler.as_deref()),
            max_threads_per_block: info.limits.max_threads_per_block,
            shared_bytes_per_block: info.limits.shared_bytes_per_block,
            multiprocessors: info.limits.multiprocessors,
            fingerprint: info.fingerprint.clone(),
            instance: info.instance.clone(),
        }
    }

    fn to_text(&self) -> String {
        let compiler = compiler_text(&self.compiler);
        format!(
            "{}\n  identity   {}\n  compiler   {compiler}\n  \
             limits     {} threads and {} bytes of shared memory per block, {} cores\n",
            self.name,
            self.key,
            self.max_threads_per_block,
            self.shared_bytes_per_block,
            self.multiprocessors
        )
    }
}
