//! Files of expected outputs, as one worker writes them and another reads them.

use std::fs;
use std::io::Read;
use std::path::Path;

use kiln::rig::Expected;

use crate::worker::protocol::Failure;

/// Reads a file of expected outputs.
pub(super) fn read_expected(path: &Path) -> Result<Expected, Failure> {
    let internal =
        |error: &dyn std::fmt::Display| Failure::Internal(format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(|error| internal(&error))?;
    file.read_to_end(&mut bytes)
        .map_err(|error| internal(&error))?;
    Expected::from_bytes(&bytes).map_err(|error| internal(&error))
}

/// Writes a file of expected outputs, whole or not at all.
pub(super) fn write_expected(path: &Path, expected: &Expected) -> Result<(), Failure> {
    let part = path.with_extension("part");
    let written = fs::write(&part, expected.to_bytes()).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| Failure::Internal(format!("{}: {error}", path.display())))
}
