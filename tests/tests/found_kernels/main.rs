//! Existing kernels, without an edit: in the types and forms that their authors chose.
//!
//! The smoke test that the macro generates for each of them launches it on the cpu device.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod everywhere;
mod kernels;
mod launches;
