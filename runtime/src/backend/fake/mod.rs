//! The `fake` device, for tests. A script specifies times, wrong outputs, crashes and hangs.
//!
//! The device computes outputs with a kernel's Rust reference, so verification is real. A [`Script`] specifies which
//! configs are fast, and which configs misbehave and how. The device's clock is virtual: times come from the script
//! and its noise model, and nothing waits for them.

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
