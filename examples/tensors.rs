//! What operations on the tensors of other libraries share.

use kiln::smoke::{self, Check, CheckOutcome, SmokeOptions};
use kiln::spec::Problem;
use kiln::{Device, Kernel};
use thiserror::Error;

/// Why an operation along rows does not fit its tensors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExtentError {
    /// A weight has another length than a row.
    #[error("the {name} has {found} elements, a row has {cols}")]
    Length {
        /// The weight.
        name: &'static str,
        /// Its number of elements.
        found: usize,
        /// The number of elements of a row.
        cols: usize,
    },
    /// Kernels count rows and columns in 32 bits.
    #[error("{rows} rows of {cols} elements: a kernel counts at most {max} of each", max = u32::MAX)]
    TooMany {
        /// The number of rows.
        rows: usize,
        /// The number of elements of a row.
        cols: usize,
    },
}

/// Rows and columns of an operation along the last dimension of a tensor: all other dimensions form the rows. Each of
/// `weights` has a name and as many elements as a row.
///
/// # Errors
/// If a length differs, or a number exceeds 32 bits.
pub fn extents(
    dims: &[usize],
    weights: &[(&'static str, usize)],
) -> Result<(u32, u32), ExtentError> {
    let (cols, outer) = dims.split_last().unwrap_or((&1, &[]));
    let (rows, cols) = (outer.iter().product::<usize>(), *cols);
    for &(name, found) in weights {
        if found != cols {
            return Err(ExtentError::Length { name, found, cols });
        }
    }
    match (u32::try_from(rows), u32::try_from(cols)) {
        (Ok(rows), Ok(cols)) => Ok((rows, cols)),
        _ => Err(ExtentError::TooMany { rows, cols }),
    }
}

/// Launches what the launch function chooses for a problem once more, on generated inputs: the device's receipt must
/// be that of the intended launch, and the outputs those of the reference.
///
/// # Errors
/// What differs, or why it cannot be launched.
pub fn prove(kernel: &'static Kernel, device: &Device, problem: &Problem) -> Result<Check, String> {
    let choice = kernel.selection(device, problem).choice();
    let check = smoke::prove(kernel, device, choice, &SmokeOptions::default());
    match check.outcome {
        CheckOutcome::Passed { .. } => Ok(check),
        CheckOutcome::NotRun { .. } | CheckOutcome::Failed(_) => Err(check.to_string()),
    }
}
