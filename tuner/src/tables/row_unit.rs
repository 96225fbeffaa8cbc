//! Regenerates the unit from which a row was baked: its symbol must be the row's.

use kiln_spec::baked::{BakedError, Row};
use kiln_spec::codegen::{CodegenError, Symbol, Target, TranslationUnit};
use thiserror::Error;

use kiln_project::TunedKernel;

/// Why a kernel's source does not produce the unit of a row.
#[derive(Debug, Error)]
pub enum RowUnitError {
    /// The row does not fit the declaration.
    #[error(transparent)]
    Row(BakedError),
    /// The source produces no unit.
    #[error(transparent)]
    Source(#[from] CodegenError),
    /// The source produces another unit.
    #[error("its symbol is `{baked}`, but the source gives `{given}`; run `tune bake`")]
    OtherSymbol {
        /// The symbol in the row.
        baked: String,
        /// The symbol of the source.
        given: Symbol,
    },
}

/// The unit of a row.
///
/// # Errors
/// If the row does not fit the declaration, or the source produces another symbol.
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
