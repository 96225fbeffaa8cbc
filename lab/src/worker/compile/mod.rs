//! Compile servers: separate processes for compilers that are libraries, since a library call cannot be interrupted.
//!
//! A compile server is the same program as a worker. It opens one compiler and answers one compile request after
//! another. There is one per compile thread, and they are reused. A compile that exceeds its time or memory, or
//! crashes the library, costs only its server, which is replaced.

mod compiler;
mod job;
mod server;

pub use compiler::ProcessCompiler;
pub use job::{CompileJob, CompilerJob, JobOutcome, Refused, SentRecipe};
pub(super) use server::CompileServer;
