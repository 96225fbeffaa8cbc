//! Prepares a choice (the baseline or a baked row) for launching: loads its embedded image or compiles it, and looks up
//! its functions. This happens once per device.

pub(crate) mod error;
mod origin;
pub(crate) mod prepared;
use std::sync::Arc;

use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{Backend, Config, Problem};

pub use crate::compiler::dialect::dialect;
pub use crate::prepare::error::PrepareError;
pub use crate::prepare::prepared::{NoImage, Origin, Prepared};

use crate::compiler::artifacts::ArtifactCache;
use crate::compiler::error::CompileError;
use crate::compiler::{Artifact, BuildKind, CompileRequest};
use crate::device::{Device, DeviceBackend, DeviceError};
use crate::kernel::Kernel;
use crate::prepare::prepared::Slot;
use crate::selection::Choice;

/// Compiles the translation unit (the generated source text) of a config for a device, or takes the artifact from the
/// user's cache.
///
/// # Errors
/// If no compiler is found, or if it fails.
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

/// Loads both entries of a translation unit (the release entry and the receipt entry) from its artifact.
///
/// # Errors
/// If the device cannot load the artifact, for example because it is for another target, or if the artifact does not
/// contain both entries.
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

/// Generates the translation unit (the source text to compile) of an entry and a config for a backend.
///
/// `problem` supplies the element types of the type parameters. Its sizes do not matter.
///
/// # Errors
/// If the source or the config does not fit the spec.
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

/// The loaded entries of a choice (the baseline or a baked row) on a device: the release entry and the receipt entry.
/// The first call compiles or loads them, and they stay loaded for the rest of the process.
///
/// A program can call this function at start-up, so that no launch waits for a compiler. `problem` supplies the
/// element types of the type parameters. Its sizes do not matter.
///
/// # Errors
/// If the kernel has no such row, if the row is for other element types, or if the entry cannot be generated, compiled or
/// loaded.
pub fn get(
    kernel: &'static Kernel,
    device: &Device,
    choice: Choice,
    problem: &Problem,
) -> Result<&'static Prepared, PrepareError> {
    get_on(kernel, &**device, choice, problem)
}

/// Like [`get`], for callers that have no [`Device`] handle.
pub(crate) fn get_on(
    kernel: &'static Kernel,
    device: &dyn DeviceBackend,
    choice: Choice,
    problem: &Problem,
) -> Result<&'static Prepared, PrepareError> {
    check_row(kernel, choice, problem)?;
    let rows = kernel.rows().len();
    let slot = Slot {
        device_index: device.index(),
        number: match choice {
            Choice::Row(row) => row,
            Choice::Baseline => rows + kernel.type_combination(problem),
        },
        of: rows + kernel.type_combinations(),
    };
    let table = kernel.prepared();
    table.get_or_prepare(slot, || prepare(kernel, device, choice, problem))
}

/// Checks that the kernel has a row, and that the row is for the element types of the problem. Always succeeds for the
/// baseline.
pub(crate) fn check_row(
    kernel: &Kernel,
    choice: Choice,
    problem: &Problem,
) -> Result<(), PrepareError> {
    let Choice::Row(row) = choice else {
        return Ok(());
    };
    let Some(baked) = kernel.rows().get(row) else {
        return Err(PrepareError::NoSuchRow {
            row,
            rows: kernel.rows().len(),
        });
    };
    let tuned = kernel.row_problem(baked);
    if kernel.type_combination(&tuned) == kernel.type_combination(problem) {
        return Ok(());
    }
    Err(PrepareError::OtherTypes {
        row,
        tuned: tuned.to_string(),
        problem: problem.to_string(),
    })
}

/// Generates the code of a choice, and loads its entries from the embedded image or from the compiled code.
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
    #[cfg(feature = "testing")]
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
