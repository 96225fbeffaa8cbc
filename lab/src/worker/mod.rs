//! Worker processes: child processes that load candidates, verify them and time them.
//!
//! The parent never loads a kernel. If a candidate crashes, hangs or exhausts memory, only the worker is lost, and a
//! new worker replaces it. The parent only reads messages from the worker, with a deadline.

mod bench;
pub mod client;
pub mod compile;
pub mod frame;
mod patience;
pub mod protocol;
pub mod server;

pub use bench::{linked_in, reference_of};
pub use client::{SERIALIZING, Worker, WorkerError, WorkerLimits};
pub use compile::ProcessCompiler;
pub use protocol::{ArmJob, OpenJob, Reply, Request, Verified, VerifyJob};
