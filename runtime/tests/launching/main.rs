//! Tests of launches: the chosen config, what is refused, and memory and streams of others.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod interop;
#[path = "../kernels/mod.rs"]
mod kernels;
mod launch;
#[path = "../rows/mod.rs"]
mod rows;
mod selection;
