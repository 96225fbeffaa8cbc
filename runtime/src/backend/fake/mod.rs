//! The `fake` device, for tests: scripted times, wrong answers, crashes and hangs.
//!
//! It computes by calling a kernel's Rust reference, so verification is real. A [`Script`] says which configs are
//! fast, and which misbehave in which way. Its clock is virtual: times come from the script and its noise model, and
//! nothing waits for them.

mod compiler;
mod device;
mod execute;
mod fault;
mod host_kernel;
mod memory;
mod outcome;
pub mod script;
mod timer;

pub use device::FakeDevice;
pub use host_kernel::{HostKernel, provide, provide_kernel};
pub use script::Script;
