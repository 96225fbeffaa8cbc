//! Errors of planning and running an analysis.

use kiln::{DeviceError, LaunchError};
use thiserror::Error;

/// Why an analysis cannot be planned or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PacError {
    /// The budget is too small even for one channel with one phase band and one amplitude band.
    #[error(
        "one channel with one phase band and one amplitude band needs {needed} bytes of device memory, the budget is \
         {budget} bytes\nhelp: raise the budget, or analyse shorter pieces of the recording"
    )]
    Budget {
        /// The required minimum in bytes.
        needed: u128,
        /// The budget in bytes.
        budget: u64,
    },
    /// The settings are invalid, or the recording does not match them.
    #[error("{0}")]
    Settings(String),
    /// A launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The device has too little memory, or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
