//! Functions that operations on the tensors of other libraries share: a check of shapes, and a check of the launch.

use kiln::smoke::{self, Check, CheckOutcome, SmokeOptions};
use kiln::spec::Problem;
use kiln::{Device, Kernel};
use thiserror::Error;

/// Why a row-wise operation cannot run on its tensors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExtentError {
    /// The length of a weight differs from the length of a row.
    #[error("the {name} has {found} elements, a row has {cols}")]
    Length {
        /// The name of the weight.
        name: &'static str,
        /// The number of elements of the weight.
        found: usize,
        /// The number of elements of a row.
        cols: usize,
    },
    /// The number of rows or of columns does not fit into the `u32` that the kernels use.
    #[error("{rows} rows of {cols} elements: a kernel counts at most {max} of each", max = u32::MAX)]
    TooMany {
        /// The number of rows.
        rows: usize,
        /// The number of elements of a row.
        cols: usize,
    },
}

/// The number of rows and columns of an operation along the last dimension of a tensor. The other dimensions form the
/// rows. `weights` lists the name and length of each weight, and every weight must be as long as a row.
///
/// # Errors
/// If a weight has another length, or if the number of rows or columns exceeds 32 bits.
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

/// Repeats the launch that the launch function selects for a problem, on generated inputs. The check passes if the
/// device's receipt matches the intended launch and the outputs match the reference.
///
/// # Errors
/// The error says what differs, or why the kernel cannot be launched.
pub fn prove(kernel: &'static Kernel, device: &Device, problem: &Problem) -> Result<Check, String> {
    let choice = kernel.selection(device, problem).choice();
    let check = smoke::prove(kernel, device, choice, &SmokeOptions::default());
    match check.outcome {
        CheckOutcome::Passed { .. } => Ok(check),
        CheckOutcome::NotRun { .. } | CheckOutcome::Failed(_) => Err(check.to_string()),
    }
}
