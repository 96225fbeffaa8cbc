//! `cargo xtask gpu-day`: builds a folder of programs that verify, time and tune the kernels on a machine that has a
//! GPU but neither Rust nor internet access. Also imports the results of such a machine, and compares its outputs with
//! those of simulated GPUs.

mod archive;
mod checked;
mod files;
mod folder;
mod images;
mod import;
mod manifest;
mod options;
mod outputs;
mod programs;
mod summary;

pub use options::Options;

/// Builds the folder, imports results, or compares their outputs with those of a simulated GPU.
///
/// # Errors
/// If something cannot be built, if the folder is too large, or if the results are invalid.
pub fn run(options: &Options) -> Result<(), String> {
    match (&options.import, &options.compare) {
        (Some(results), _) => import::import(results, options.into.as_deref()),
        (None, Some(results)) => outputs::compare(results, &options.profile),
        (None, None) => folder::build(options),
    }
}
