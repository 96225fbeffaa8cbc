//! Compiling in processes of their own: for compilers that are libraries, which no limit can interrupt.
//!
//! A compile server is the same program as a worker. It opens one compiler and answers one compile after the other; there
//! are as many as threads that compile at once, and they are kept. A compile that exceeds its time or memory, or crashes
//! the library, costs its server, which is replaced.

mod compiler;
mod job;
mod server;

pub use compiler::ProcessCompiler;
pub use job::{CompileJob, CompilerJob, JobOutcome, Refused, SentRecipe};
pub(super) use server::CompileServer;
