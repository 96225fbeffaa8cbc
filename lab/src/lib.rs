//! Compiles, verifies, checks and times candidates (configs that a search proposes) on a device.
//!
//! A [`device_session::DeviceSession`] opens a device for a command. A [`candidate::Workshop`] compiles the candidates
//! of a kernel for that device. A [`Bench`] holds the settings of the worker processes, which load the candidates. With
//! such processes, [`verify`] compares the candidates' outputs with the [`mod@reference`], and a [`WorkerLab`] times
//! the candidates for the races of `kiln-measure`. The process of the command itself loads a kernel only to profile it
//! on a simulated GPU.
#![forbid(unsafe_code)]

pub mod candidate;
pub mod cases;
pub mod check;
pub mod device_session;
mod error;
pub mod footprint;
mod header_table;
pub mod kept_worker;
pub mod listing;
pub mod machine;
pub mod peaks;
pub mod peer;
pub mod preflight;
pub mod reference;
pub mod regime;
pub mod scratch;
pub mod threads;
pub mod verify;
pub mod worker;
mod workers;

pub use error::{FootprintError, LabError, NotChecked, OracleError};
pub use workers::{Bench, Site, WorkerLab, launch_deadline};
