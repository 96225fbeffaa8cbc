//! Launches of kernels in PTX.
#![allow(clippy::unwrap_used)]

mod checks;
mod control;
mod counters;
mod run;
mod warp;
mod warpgroup;
