//! Loaded objects, and the kernels in them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use kiln_spec::{Backend, KernelLimits};

use crate::compiler::{Artifact, BuildKind};
use crate::device::{DeviceError, Function, Module};
use crate::image::{self, Wanted};
use crate::launch::checks::KernelBounds;

use super::ffi::{EntryPoint, ObjectCopy, process_has};
use super::limits::CpuTarget;
use super::lines::with_lines;
use super::object::{ObjectFacts, Use};
use super::watch::MemoryKind;

/// The version of the interface between objects and the executor that this crate supports.
const ABI: u32 = 2;

/// A loaded object. Each operating system thread that has run one of its kernels has its own copy.
#[derive(Debug)]
pub(super) struct CpuModule {
    device_index: u32,
    image: Arc<[u8]>,
    facts: ObjectFacts,
    copies: Box<[OnceLock<ObjectCopy>]>,
    /// Whether the threads of a block are coroutines, which need stacks.
    pub fibers: bool,
    /// Whether the object is a check build, which runs blocks and threads in a requested order.
    pub checks: bool,
    /// Whether the object reports every access of its kernels.
    pub watches: bool,
}

impl CpuModule {
    /// Loads an artifact for a device with `threads` threads.
    pub fn load(
        artifact: &Artifact,
        device_index: u32,
        threads: usize,
    ) -> Result<CpuModule, DeviceError> {
        let facts = facts_of(artifact)?;
        let single = facts.mutable_global.is_some();
        let mut module = CpuModule {
            device_index,
            image: artifact.image.clone(),
            facts,
            copies: (0..if single { 1 } else { threads })
                .map(|_| OnceLock::new())
                .collect(),
            fibers: false,
            checks: artifact.build != BuildKind::Release,
            watches: artifact.build == BuildKind::Check,
        };
        let first = module.copy(0)?;
        let constant = |name: &str| first.constant(name);
        let (abi, fibers) = (constant("kiln_cpu_abi"), constant("kiln_cpu_fibers"));
        if abi != Some(ABI) {
            let text = format!("its interface is {abi:?}, but this version needs interface {ABI}");
            return Err(DeviceError::Load { text });
        }
        module.fibers = fibers == Some(1);
        Ok(module)
    }

    /// Maximum number of threads that may run the object at the same time, which is the number of its copies: each
    /// thread loads its own copy. The number is 1 if kernels can write to a variable that all copies would have to
    /// share.
    pub fn most_threads(&self) -> usize {
        self.copies.len()
    }

    /// The total size of the object's shared variables, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        let shared = |variable: &&super::object::ObjectVariable| variable.usage == Use::Shared;
        let variables = self.facts.variables().iter().filter(shared);
        variables.map(|variable| variable.bytes).sum()
    }

    /// Replaces addresses in the text of a fault with files and line numbers.
    pub fn with_lines(&self, text: &str) -> String {
        with_lines(text, &self.image, |offset| self.facts.at_anchor(offset))
    }

    /// The copy that a thread uses. It is loaded on first use.
    fn copy(&self, thread: usize) -> Result<&ObjectCopy, DeviceError> {
        if let Some(copy) = self.copies[thread].get() {
            return Ok(copy);
        }
        let load_error = |text: String| DeviceError::Load { text };
        let keep_file = self.facts.needs_sanitizer;
        let mut copy = ObjectCopy::load(&self.image, keep_file)
            .map_err(|error| load_error(error.to_string()))?;
        if self.checks {
            let variables = self.facts.variables().iter().map(|variable| {
                let kind = match variable.usage {
                    Use::Shared => MemoryKind::Shared,
                    Use::Device => MemoryKind::Variable,
                    Use::Constant => MemoryKind::Constant,
                    Use::Prelude => MemoryKind::Own,
                };
                let offset = self.facts.behind_anchor(variable.address);
                (variable.name.as_str(), offset, variable.bytes, kind as u32)
            });
            let compared = MemoryKind::Variable as u32;
            if copy.set_variables(variables, compared).is_none() {
                return Err(load_error(
                    "a check build without a table of variables".into(),
                ));
            }
        }
        Ok(self.copies[thread].get_or_init(|| copy))
    }
}

/// The content of an artifact's symbol table, or an error if the artifact cannot be loaded on this processor.
fn facts_of(artifact: &Artifact) -> Result<ObjectFacts, DeviceError> {
    let load_error = |text: String| DeviceError::Load { text };
    image::check(artifact, &Wanted::of_target(Backend::Cpu, &artifact.target))?;
    if let Some(reason) = CpuTarget::refuses(&artifact.target) {
        return Err(load_error(reason));
    }
    let facts =
        ObjectFacts::read(&artifact.image).map_err(|error| load_error(error.to_string()))?;
    if facts.needs_sanitizer && !process_has("__asan_init") {
        let what = "a sanitized build in a process that was started without the sanitizers\n\
             help: start it with the variables of Compiler::sanitizer_environment";
        return Err(DeviceError::Unsupported { what: what.into() });
    }
    Ok(facts)
}

impl Module for CpuModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let first = self.copy(0)?.entry(symbol);
        let Some(first) = first else {
            return Err(DeviceError::NotFound {
                what: format!("kernel `{symbol}`"),
                text: "the object exports no such entry".into(),
            });
        };
        let static_shared_bytes = self.facts.static_shared_bytes(symbol);
        let points: Box<[OnceLock<EntryPoint>]> =
            (0..self.copies.len()).map(|_| OnceLock::new()).collect();
        // The first copy is already loaded.
        points[0].get_or_init(|| first);
        let parameters: Option<u32> = self
            .copy(0)?
            .constant(&format!("kiln_cpu_parameters_{symbol}"));
        // The entry is a separate allocation because the pool's threads share it.
        let entry = Arc::new(CpuEntry {
            symbol: symbol.into(),
            bounds: KernelBounds {
                kernel: KernelLimits {
                    static_shared_bytes,
                    ..KernelLimits::default()
                },
                parameters: parameters.map(|count| count as usize),
            },
            points,
            ns_per_block: AtomicU64::new(0),
            module: self.clone(),
        });
        Ok(Function::new(
            symbol,
            self.device_index,
            static_shared_bytes,
            Arc::new(entry),
        ))
    }
}

/// One kernel of a module.
#[derive(Debug)]
pub(super) struct CpuEntry {
    /// The symbol of the kernel.
    pub symbol: Box<str>,
    /// The limits of launches of the kernel.
    pub bounds: KernelBounds,
    /// The module of the kernel, which stays loaded as long as this entry exists.
    pub module: Arc<CpuModule>,
    points: Box<[OnceLock<EntryPoint>]>,
    ns_per_block: AtomicU64,
}

impl CpuEntry {
    /// Ensures that each of the first `threads` threads has a copy.
    pub fn prepare(&self, threads: usize) -> Result<(), DeviceError> {
        for (thread, point) in self.points.iter().enumerate().take(threads) {
            if point.get().is_some() {
                continue;
            }
            let found = self.module.copy(thread)?.entry(&self.symbol);
            point.get_or_init(|| found.expect("a copy should have every entry of its image"));
        }
        Ok(())
    }

    /// The entry in a thread's copy. [`Self::prepare`] must have loaded the copy.
    pub fn point(&self, thread: usize) -> EntryPoint {
        let point = self.points[thread].get();
        *point.expect("the copy should be loaded before a launch")
    }

    /// The time per block in the last launch, in nanoseconds; `None` before the first launch.
    pub fn ns_per_block(&self) -> Option<u64> {
        Some(self.ns_per_block.load(Ordering::Relaxed)).filter(|&ns| ns > 0)
    }

    /// Stores the time per block, in nanoseconds.
    pub fn set_ns_per_block(&self, ns: u64) {
        self.ns_per_block.store(ns.max(1), Ordering::Relaxed);
    }
}
