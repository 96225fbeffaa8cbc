//! Finds the cache folder: `$KILN_CACHE`, else `$XDG_CACHE_HOME/kiln`, else `~/.cache/kiln`. `tune` and the programs
//! that launch kernels share the folder, so both must find the same path.

use std::ffi::OsString;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why the cache folder cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CacheFolderError {
    /// The value of an environment variable is not a usable path.
    #[error("{variable} is {value:?}, which is {problem}")]
    Variable {
        /// The name of the variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
        /// What is wrong with the value.
        problem: &'static str,
    },
    /// None of the three variables is set.
    #[error("none of KILN_CACHE, XDG_CACHE_HOME and HOME is set")]
    Unset,
}

/// The path of the cache folder. `variable` returns the value of an environment variable; it is usually
/// [`std::env::var_os`].
///
/// # Errors
/// If a variable is set but empty or relative, or if no variable is set.
pub fn cache_folder(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, CacheFolderError> {
    let places = [
        ("KILN_CACHE", ""),
        ("XDG_CACHE_HOME", "kiln"),
        ("HOME", ".cache/kiln"),
    ];
    for (name, below) in places {
        if let Some(value) = variable(name) {
            let folder = absolute(name, value)?;
            return Ok(if below.is_empty() {
                folder
            } else {
                folder.join(below)
            });
        }
    }
    Err(CacheFolderError::Unset)
}

fn absolute(variable: &'static str, value: OsString) -> Result<PathBuf, CacheFolderError> {
    let path = PathBuf::from(&value);
    let problem = if value.is_empty() {
        "empty"
    } else if path.is_relative() {
        "a relative path"
    } else {
        return Ok(path);
    };
    Err(CacheFolderError::Variable {
        variable,
        value: value.to_string_lossy().into(),
        problem,
    })
}
