//! From a choice to functions that can be launched: image or compile, load, look up; once per device.

mod origin;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kiln_spec::codegen::{CodegenError, Target, TranslationUnit};
use kiln_spec::source::{SourceError, SourceScan, SourceText};
use kiln_spec::{Backend, Config, DeviceKey, Problem};
use thiserror::Error;

pub use origin::{NoImage, Origin};

use crate::artifacts::ArtifactCache;
use crate::backend::hip::host_arch::HOST_ARCH;
use crate::compiler::{Artifact, BuildKind, CompileError, CompileRequest};
use crate::device::{Device, DeviceBackend, DeviceError, Function};
use crate::kernel::Kernel;
use crate::select::Choice;

/// Why an entry cannot be launched on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The embedded source cannot be scanned.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No translation unit can be generated.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The generated entry is not the one that was baked.
    #[error(
        "the entry generated for {choice} is `{generated}`, but `{baked}` was baked\n\
         help: the program was built with another version of Kiln than its tables; rebuild it"
    )]
    Symbol {
        /// What was to be prepared.
        choice: Choice,
        /// The symbol generated now.
        generated: String,
        /// The symbol in the table.
        baked: String,
    },
    /// The compiler failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Neither an image nor a compiler is there.
    #[error("{choice} has {image}, and cannot be compiled here: {missing}\nhelp: {help}")]
    NoImageNoCompiler {
        /// What was to be prepared.
        choice: Choice,
        /// Why no image is used.
        image: NoImage,
        /// The compiler that was not found, and where it was looked for.
        missing: String,
        /// What to do.
        help: String,
    },
    /// The artifact cannot be loaded.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The two entries of one config, loaded on one device.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The release entry: nothing added.
    pub release: Function,
    /// The receipt entry: the same body, and a record of what ran.
    pub receipt: Function,
    /// The hash in both symbols.
    pub symbol_hash: u64,
    /// Hash of the config.
    pub config_hash: u64,
    /// Where they came from.
    pub origin: Origin,
}

/// The backend whose dialect the units of a device are generated in, and whose symbols its entries have: its own,
/// but for the test library of the hip backend, which runs those of the cpu device.
pub fn dialect(key: &DeviceKey) -> Backend {
    match key.backend {
        Backend::Hip if key.arch == HOST_ARCH => Backend::Cpu,
        own => own,
    }
}

/// Compiles the unit of a config for a device, through the user's artifact cache.
///
/// # Errors
/// When there is no compiler, or it fails.
pub fn compile(
    device: &dyn DeviceBackend,
    unit: &TranslationUnit,
    build: BuildKind,
) -> Result<Artifact, CompileError> {
    let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str()).with_build(build);
    let compiler = device.compiler()?;
    match ArtifactCache::of_user() {
        Some(cache) => cache.compile(compiler, device.info().key.backend, &request),
        None => compiler.compile(&request),
    }
}

/// Loads both entries of a unit from an artifact that was compiled for it.
///
/// # Errors
/// When the artifact is for another target or lacks an entry.
pub fn load(
    device: &dyn DeviceBackend,
    unit: &TranslationUnit,
    artifact: &Artifact,
) -> Result<Prepared, DeviceError> {
    let module = device.load(artifact)?;
    Ok(Prepared {
        release: Arc::clone(&module).function(unit.release.as_str())?,
        receipt: module.function(unit.receipt.as_str())?,
        symbol_hash: unit.symbol_hash,
        config_hash: unit.config_hash,
        origin: Origin::Compiler {
            instead_of: NoImage::Missing,
        },
    })
}

/// Generates the unit of an entry and config for a backend.
///
/// `problem` gives the type parameters their types; its sizes do not matter.
///
/// # Errors
/// When the source or config does not fit the spec.
pub fn generate(
    kernel: &Kernel,
    entry: &str,
    config: &Config,
    problem: &Problem,
    backend: Backend,
) -> Result<TranslationUnit, PrepareError> {
    let source = SourceText::from_expanded(kernel.source());
    let scan = SourceScan::new(&source)?;
    let unit = TranslationUnit::new(
        &source,
        &scan,
        kernel.spec(),
        entry,
        config,
        problem,
        Target::from(backend),
    )?;
    Ok(unit)
}

/// The loaded entries of a choice on a device; prepared now if they are not yet, and kept for the process.
///
/// A program can call it at start-up, so that no launch waits for a compiler. `problem` gives the type parameters
/// their types; its sizes do not matter.
///
/// # Errors
/// When the entry cannot be generated, compiled or loaded.
pub fn get(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    problem: &Problem,
) -> Result<&'static Prepared, PrepareError> {
    kernel.prepared().get(kernel, &**device, choice, problem)
}

impl Kernel {
    /// Compiles and loads what a launch on a device takes for a problem, so that no launch waits for it: for programs
    /// that do so when they start. What is prepared already is there at once.
    ///
    /// # Errors
    /// When there is neither an image nor a compiler, or one of them fails.
    pub fn prepare(
        &'static self,
        device: &Device,
        problem: &Problem,
    ) -> Result<&'static Prepared, PrepareError> {
        let choice = self.selection(device, problem).choice();
        get(self, device, choice, problem)
    }
}

/// Generates, compiles (or takes the embedded image) and loads what a choice launches.
fn prepare(
    kernel: &'static Kernel,
    device: &dyn DeviceBackend,
    choice: Choice,
    problem: &Problem,
) -> Result<Prepared, PrepareError> {
    let backend = dialect(&device.info().key);
    let config = kernel.config(choice);
    let unit = generate(kernel, kernel.entry(choice), &config, problem, backend)?;
    let baked = kernel.symbol(choice, backend, problem);
    if unit.release.as_str() != baked {
        return Err(PrepareError::Symbol {
            choice,
            generated: unit.release.to_string(),
            baked: baked.into(),
        });
    }
    if backend == Backend::Fake {
        crate::backend::fake::provide_kernel(baked, kernel);
    }
    let instead_of = match origin::from_image(kernel, device, choice, &unit) {
        Ok(prepared) => return Ok(prepared),
        Err(why) => why,
    };
    let artifact = match compile(device, &unit, BuildKind::Release) {
        Ok(artifact) => artifact,
        Err(error) => return Err(origin::not_compiled(device, choice, instead_of, error)),
    };
    let prepared = load(device, &unit, &artifact)?;
    let origin = Origin::Compiler { instead_of };
    Ok(Prepared { origin, ..prepared })
}

/// What one kernel has loaded: a slot for every choice on every device, filled at first use.
///
/// Slots are found by index, without a lock; only filling one takes a lock.
pub(crate) struct PreparedTable {
    /// Devices by index; bucket `b` has `2^b` of them, so that no slot ever moves.
    buckets: [OnceLock<Box<[DeviceSlots]>>; 32],
    filling: Mutex<()>,
}

type DeviceSlots = OnceLock<Box<[OnceLock<Prepared>]>>;

impl PreparedTable {
    pub(crate) const fn new() -> PreparedTable {
        PreparedTable {
            buckets: [const { OnceLock::new() }; 32],
            filling: Mutex::new(()),
        }
    }

    /// The loaded entries of a choice on a device, prepared now if they are not yet.
    ///
    /// A failure is not kept: the next launch tries again.
    pub(crate) fn get(
        &'static self,
        kernel: &'static Kernel,
        device: &dyn DeviceBackend,
        choice: Choice,
        problem: &Problem,
    ) -> Result<&'static Prepared, PrepareError> {
        let slot = self.slot(kernel, device.index(), choice, problem);
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let prepared = prepare(kernel, device, choice, problem)?;
        Ok(slot.get_or_init(|| prepared))
    }

    fn slot(
        &'static self,
        kernel: &'static Kernel,
        device_index: u32,
        choice: Choice,
        problem: &Problem,
    ) -> &'static OnceLock<Prepared> {
        let number = u64::from(device_index) + 1;
        let bucket = number.ilog2() as usize;
        let devices = self.buckets[bucket]
            .get_or_init(|| (0..1u64 << bucket).map(|_| OnceLock::new()).collect());
        let slots = devices[(number - (1 << bucket)) as usize].get_or_init(|| {
            let slots = kernel.rows().len() + kernel.type_combinations();
            (0..slots).map(|_| OnceLock::new()).collect()
        });
        match choice {
            Choice::Row(row) => &slots[row],
            Choice::Baseline => &slots[kernel.rows().len() + kernel.type_combination(problem)],
        }
    }
}
