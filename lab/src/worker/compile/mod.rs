//! Compile servers: separate processes for compilers that are libraries, because a library call cannot be interrupted.
//!
//! A compile server runs the same program as a worker. It opens one compiler and then answers compile requests one
//! after another. Each compile thread uses one server, and servers are reused. If a compile exceeds its time or memory
//! limit or crashes the library, only its server is lost, and a new server replaces it.

mod compiler;
mod job;
mod server;

pub use compiler::ProcessCompiler;
pub use job::{CompileJob, CompilerJob, JobOutcome, Refused, SentRecipe};
pub(super) use server::CompileServer;
