//! Targets that this machine need not have, with their compilers.

use std::collections::BTreeMap;
use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_spec::DeviceKey;
use kiln_spec::targets::{self, KnownTarget, Multiprocessor};

use super::error::TargetError;
use crate::error::{Failure, NoDevice};
use kiln_lab::candidate::Workshop;
use kiln_lab::machine;

/// The product name in the device keys of targets without a device. It keeps their results apart from the results of
/// real devices.
pub const PRODUCT: &str = "compile-only";

/// A target with its installed compiler.
#[derive(Debug)]
pub struct CompileTarget {
    /// The target's row of the target table.
    pub known: &'static KnownTarget,
    /// The compiler for the target.
    pub compiler: Box<dyn Compiler>,
    /// The description of a device of this architecture, with the limits from the target table instead of a driver's.
    pub info: DeviceInfo,
}

impl CompileTarget {
    /// Looks up a GPU architecture in the target table.
    ///
    /// # Errors
    /// If the table does not contain the GPU.
    pub fn known(arch: &str) -> Result<&'static KnownTarget, Failure> {
        let gpu =
            targets::target(arch).filter(|known| known.multiprocessor != Multiprocessor::Host);
        gpu.ok_or_else(|| {
            Failure::NoDevice(NoDevice::Target {
                arch: arch.to_owned(),
                known: names(),
            })
        })
    }

    /// Opens the target of a GPU architecture.
    ///
    /// # Errors
    /// If the table does not contain the architecture, or its compiler is not installed.
    pub fn open(arch: &str) -> Result<CompileTarget, Failure> {
        let known = CompileTarget::known(arch)?;
        let compiler = kiln::compile_only::compiler(arch).map_err(TargetError::NoCompiler)?;
        let info = DeviceInfo {
            key: DeviceKey {
                backend: known.backend,
                arch: arch.into(),
                name: PRODUCT.into(),
            },
            limits: known.limits,
            fingerprint: BTreeMap::from([("limits".into(), "target table".into())]),
            instance: BTreeMap::new(),
            ordinal: 0,
            timer_tick_ns: 0,
            is_simulated: false,
        };
        Ok(CompileTarget {
            known,
            compiler,
            info,
        })
    }

    /// Like [`CompileTarget::open`], but compiles run in separate processes with limited time and memory.
    ///
    /// # Errors
    /// The errors of [`CompileTarget::open`], and an error if the path of the running program, which starts these
    /// processes, cannot be found.
    pub fn isolated(arch: &str) -> Result<CompileTarget, Failure> {
        let mut target = CompileTarget::open(arch)?;
        if let Some(isolated) = machine::isolated(&*target.compiler)? {
            target.compiler = Box::new(isolated);
        }
        Ok(target)
    }

    /// Creates a workshop that compiles candidates for the target.
    pub fn workshop<'a>(&'a self, artifacts: &'a ArtifactCache, folder: &'a Path) -> Workshop<'a> {
        Workshop::new(&*self.compiler, &self.info, artifacts, folder)
    }

    /// The heading of the target: its architecture, its product and its compiler.
    pub fn title(&self) -> String {
        let compiler = self.compiler.identity();
        format!(
            "{} ({}), {} {}",
            self.known.arch, self.known.product, compiler.name, compiler.version
        )
    }
}

/// Architectures without an installed compiler, grouped by the message that says what is missing.
pub type Missing = Vec<(Vec<String>, String)>;

/// Opens the targets whose compiler is installed, and lists the others.
///
/// # Errors
/// If a name is not a GPU target, or no target has an installed compiler.
pub fn open_all(arches: &[String]) -> Result<(Vec<CompileTarget>, Missing), Failure> {
    let (mut targets, mut missing) = (Vec::new(), Missing::new());
    for arch in arches {
        CompileTarget::known(arch)?;
        match CompileTarget::isolated(arch) {
            Ok(target) => targets.push(target),
            Err(error) => {
                let why = error.to_string();
                match missing.iter_mut().find(|(_, other)| *other == why) {
                    Some((arches, _)) => arches.push(arch.clone()),
                    None => missing.push((vec![arch.clone()], why)),
                }
            }
        }
    }
    if targets.is_empty() {
        let missing = missing.into_iter().map(|(_, why)| why).collect();
        return Err(TargetError::NoneOfThem { missing }.into());
    }
    Ok((targets, missing))
}

/// The architectures of all GPU targets in the target table.
pub fn names() -> Vec<&'static str> {
    let gpus = targets::TARGETS
        .iter()
        .filter(|known| known.multiprocessor != Multiprocessor::Host);
    gpus.map(|known| known.arch).collect()
}
