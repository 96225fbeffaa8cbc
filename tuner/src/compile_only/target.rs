//! A target that is not at hand, with its compiler.

use std::collections::BTreeMap;
use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_spec::DeviceKey;
use kiln_spec::targets::{self, KnownTarget, Multiprocessor};

use super::error::TargetError;
use crate::candidate::Workshop;
use crate::error::{Failure, NoDevice};
use crate::lab::machine;

/// The product name of devices that stand for a target: results under it are of no device.
pub const PRODUCT: &str = "compile-only";

/// A target with its compiler.
#[derive(Debug)]
pub struct CompileTarget {
    /// Its row of the target table.
    pub known: &'static KnownTarget,
    /// Its compiler.
    pub compiler: Box<dyn Compiler>,
    /// A device of this architecture as far as it can be known: the table's limits, no driver.
    pub info: DeviceInfo,
}

impl CompileTarget {
    /// The row of the target table of a GPU's architecture.
    ///
    /// # Errors
    /// When the table has no such GPU.
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

    /// The target of an architecture.
    ///
    /// # Errors
    /// When the table has no such GPU, or its compiler is not installed.
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
        };
        Ok(CompileTarget {
            known,
            compiler,
            info,
        })
    }

    /// As [`CompileTarget::open`], with compiles in processes of their own, whose time and memory are limited.
    ///
    /// # Errors
    /// As [`CompileTarget::open`]; when the running program, which those processes are, cannot be found.
    pub fn isolated(arch: &str) -> Result<CompileTarget, Failure> {
        let mut target = CompileTarget::open(arch)?;
        if let Some(isolated) = machine::isolated(&*target.compiler)? {
            target.compiler = Box::new(isolated);
        }
        Ok(target)
    }

    /// Where candidates for it are compiled.
    pub fn workshop<'a>(&'a self, artifacts: &'a ArtifactCache, folder: &'a Path) -> Workshop<'a> {
        Workshop::new(&*self.compiler, &self.info, artifacts, folder)
    }

    /// It, its product and its compiler, for headings.
    pub fn title(&self) -> String {
        let compiler = self.compiler.identity();
        format!(
            "{} ({}), {} {}",
            self.known.arch, self.known.product, compiler.name, compiler.version
        )
    }
}

/// Targets that there is no compiler for, and why.
pub type Missing = Vec<(Vec<String>, String)>;

/// The targets whose compiler is here, and those whose is not.
///
/// # Errors
/// When a name is of no target, or no compiler of any target is here.
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

/// The architectures of all GPU targets.
pub fn names() -> Vec<&'static str> {
    let gpus = targets::TARGETS
        .iter()
        .filter(|known| known.multiprocessor != Multiprocessor::Host);
    gpus.map(|known| known.arch).collect()
}
