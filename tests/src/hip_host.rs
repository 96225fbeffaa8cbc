//! The test library of the hip backend (`tests/hip-host`), built when a test first asks for it.

use std::path::Path;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use kiln::Device;
use kiln::backend::hip::HipDevice;

use crate::command::{built, cargo, profile, workspace};

/// The library's file.
///
/// # Panics
/// When it does not build.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut build = cargo(&workspace());
        build.args(["build", "--quiet", "--profile", profile()]);
        build.args(["--package", "kiln-hip-host"]);
        let status = build.status().expect("cargo should start");
        assert!(status.success(), "the test library should build");
        built("libkiln_hip_host.so")
    })
}

/// The host processor behind the HIP interface; one for each call.
///
/// # Panics
/// When it does not open.
pub fn device() -> Arc<dyn Device> {
    HipDevice::of_library(library(), 0).unwrap_or_else(|error| panic!("{error}"))
}
