//! Where candidates run: a device and its compiler, worker processes, expected outputs, verification and checks.

pub mod check;
pub mod device_session;
mod error;
pub mod footprint;
pub mod listing;
pub mod machine;
pub mod peaks;
pub mod preflight;
pub mod reference;
pub mod scratch;
pub mod threads;
pub mod verify;
pub mod worker;
mod workers;

pub use error::{FootprintError, NotChecked, OracleError};
pub use workers::{Bench, Site, WorkerLab, launch_deadline};
