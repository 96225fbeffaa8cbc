//! `cargo xtask gpu-day`: builds a folder that proves, times and tunes the kernels on a machine with a GPU but
//! without Rust and internet access; and imports the measurements of such a machine.

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
/// If something cannot be built or does not fit, or the results are invalid.
pub fn run(options: &Options) -> Result<(), String> {
    match &options.import {
        Some(results) => import::import(results, options.into.as_deref()),
        None => folder::build(options),
    }
}
