//! Tests of the cpu device and its compiler.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod barriers;
mod check;
mod compiler;
mod cuda_functions;
mod generated_units;
mod kernels;
mod launch;
#[path = "../on_cpu/mod.rs"]
mod on_cpu;
mod prelude;
