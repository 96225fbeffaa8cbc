//! `cargo xtask gpu-day`: a folder that proves, times and tunes the kernels on a machine with a GPU that has no Rust and no
//! internet; and what such a machine measured, brought back.

mod checked;
mod folder;
mod import;
mod manifest;
mod options;
mod programs;

pub use options::Options;

/// Builds the folder, or imports results.
///
/// # Errors
/// What cannot be built or does not fit; what is wrong with the results.
pub fn run(options: &Options) -> Result<(), String> {
    match &options.import {
        Some(results) => import::import(results, options.into.as_deref()),
        None => folder::build(options),
    }
}
