//! Existing kernels, used without an edit, in the types and forms that their authors chose.
//!
//! The macro generates a smoke test for each of them, which launches the kernel on the cpu device.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod everywhere;
mod kernels;
mod launches;
