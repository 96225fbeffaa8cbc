//! Reads and writes files of expected outputs. One worker writes a file, and other workers read it.

use std::fs;
use std::path::Path;

use kiln::rig::Expected;
use kiln_cache::Outcome;

use super::failure::of_file;
use crate::candidate::outcome::internal;
use kiln_project::atomic_file;

/// Reads a file of expected outputs.
pub(super) fn read_expected(path: &Path) -> Result<Expected, Outcome> {
    let bytes = fs::read(path).map_err(of_file(path))?;
    Expected::from_bytes(&bytes).map_err(|error| internal(format!("{}: {error}", path.display())))
}

/// Writes a file of expected outputs atomically.
pub(in crate::worker) fn write_expected(path: &Path, expected: &Expected) -> Result<(), Outcome> {
    atomic_file::write_for_run(path, &expected.to_bytes()).map_err(of_file(path))
}
