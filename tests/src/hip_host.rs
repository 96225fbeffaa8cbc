//! A library that implements HIP on the host processor (`tests/hip-host`), for tests of the hip backend. Cargo builds
//! the library together with the tests.

use std::path::Path;
use std::path::PathBuf;
use std::sync::OnceLock;

use kiln::Device;
use kiln::backend::hip::HipDevice;

use crate::command::built;

/// The path of the library.
///
/// # Panics
/// If the file does not exist.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library = built("deps/libkiln_hip_host.so");
        assert!(library.is_file(), "{} is missing", library.display());
        library
    })
}

/// A new device: the host processor behind the HIP interface.
///
/// # Panics
/// If the device does not open.
pub fn device() -> Device {
    let device = HipDevice::of_library(library(), 0).unwrap_or_else(|error| panic!("{error}"));
    device.into()
}
