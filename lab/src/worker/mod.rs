//! Worker processes: child processes that load candidates, verify them and time them.
//!
//! A candidate can crash, hang or exhaust memory. Therefore the parent never loads a candidate itself. It only reads
//! messages from the worker, with a deadline. If a candidate misbehaves, only the worker is lost, and a new worker
//! replaces it.

mod bench;
pub mod client;
pub mod compile;
pub mod frame;
pub mod protocol;
mod referee;
pub mod server;

pub use bench::{check_inputs, reference_of};
pub use client::{OPENING, OnLaunch, SERIALIZING, Worker, WorkerError, WorkerLimits};
pub use compile::ProcessCompiler;
pub use protocol::{ArmJob, OpenJob, Reply, Request, Verified, VerifyJob};
