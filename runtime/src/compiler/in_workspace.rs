//! Finds tools that `cargo xtask setup` installed in the workspace in which this program was built.

use std::path::PathBuf;

/// The folder of a tool, such as `nvrtc`, in the `target` folder that contains this program. `None` if the tool is
/// not installed there.
pub fn in_workspace(tool: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program
        .ancestors()
        .filter(|folder| folder.file_name().is_some_and(|name| name == "target"))
        .map(|target| target.join(tool))
        .find(|folder| folder.is_dir())
}
