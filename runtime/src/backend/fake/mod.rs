//! The `fake` device: scripted times, wrong answers, crashes and hangs, for tests.
//!
//! It computes by calling a kernel's Rust reference, so that verification is real; a [`Script`] says which
//! configs are fast and which misbehave, and how. Its clock is virtual: a time is a number that the script
//! and its noise model give, and nothing waits for it.

mod compiler;
mod device;
mod execute;
mod fault;
mod ffi;
mod host_kernel;
mod memory;
mod outcome;
pub mod script;
mod timer;

pub use device::FakeDevice;
pub use host_kernel::{HostKernel, provide, provide_kernel};
pub use script::Script;
