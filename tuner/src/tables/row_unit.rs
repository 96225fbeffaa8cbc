//! Regenerates the source text (translation unit) from which a row was baked, and checks that its symbol is the symbol
//! in the row.

use kiln_spec::baked::{BakedError, Row};
use kiln_spec::codegen::{CodegenError, Symbol, Target, TranslationUnit};
use thiserror::Error;

use kiln_project::TunedKernel;

/// Why a kernel's source does not produce the source text of a row.
#[derive(Debug, Error)]
pub enum RowUnitError {
    /// The row does not match the kernel's declaration.
    #[error(transparent)]
    Row(BakedError),
    /// No text can be generated from the kernel's source.
    #[error(transparent)]
    Source(#[from] CodegenError),
    /// The generated text has another symbol than the row.
    #[error("its symbol is `{baked}`, but the source gives `{given}`; run `tune bake`")]
    OtherSymbol {
        /// The symbol in the row.
        baked: String,
        /// The symbol of the generated text.
        given: Symbol,
    },
}

/// Generates the source text of a row.
///
/// # Errors
/// If the row does not match the kernel's declaration, or the generated text has another symbol.
pub fn row_unit(kernel: &TunedKernel, row: &Row) -> Result<TranslationUnit, RowUnitError> {
    let resolved = row.resolve(&kernel.spec).map_err(RowUnitError::Row)?;
    let unit = TranslationUnit::new(
        &kernel.source,
        &kernel.scan,
        &kernel.spec,
        &row.entry,
        &resolved.config,
        &resolved.problem,
        Target::from(row.device.backend),
    )?;
    if unit.release.as_str() == row.symbol {
        return Ok(unit);
    }
    Err(RowUnitError::OtherSymbol {
        baked: row.symbol.clone(),
        given: unit.release,
    })
}
