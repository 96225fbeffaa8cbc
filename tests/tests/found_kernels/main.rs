//! Kernels as they are found: in the types and forms that their authors chose, without an edit.
//!
//! The smoke test that the macro makes for each of them launches it on the cpu device.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod everywhere;
mod kernels;
mod launches;
