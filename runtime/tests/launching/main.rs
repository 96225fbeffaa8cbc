//! Tests of launches: the selected config, the errors, and memory and streams of other libraries.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod forced;
mod interop;
#[path = "../kernels/mod.rs"]
mod kernels;
mod launch;
#[path = "../rows/mod.rs"]
mod rows;
mod selection;
