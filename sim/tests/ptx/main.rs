//! Launches of kernels in PTX.
#![allow(clippy::unwrap_used)]

mod cache;
mod checks;
mod control;
mod counters;
mod run;
mod undefined;
mod warp;
mod warpgroup;
