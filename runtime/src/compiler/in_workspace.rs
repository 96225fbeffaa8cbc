//! Tools that `cargo xtask setup` installs into the workspace in which a program was built.

use std::path::PathBuf;

/// The folder of a tool below the program's `target`, such as `nvrtc`; `None` if it was not installed there.
pub fn in_workspace(tool: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program
        .ancestors()
        .filter(|folder| folder.file_name().is_some_and(|name| name == "target"))
        .map(|target| target.join(tool))
        .find(|folder| folder.is_dir())
}
