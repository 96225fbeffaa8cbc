//! Why an analysis cannot be planned or run.

use kiln::{DeviceError, LaunchError};
use thiserror::Error;

/// Why an analysis cannot be planned or run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PacError {
    /// The budget holds not even one channel with one band of each kind.
    #[error(
        "one channel with one phase band and one amplitude band needs {needed} bytes of device memory, the budget is \
         {budget} bytes\nhelp: raise the budget, or analyse shorter pieces of the recording"
    )]
    Budget {
        /// The least that is needed.
        needed: u128,
        /// What may be used.
        budget: u64,
    },
    /// What is asked for cannot be computed.
    #[error("{0}")]
    Settings(String),
    /// A launch was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The device has no memory, or failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
