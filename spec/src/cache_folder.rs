//! The cache folder: `$KILN_CACHE`, else `$XDG_CACHE_HOME/kiln`, else `~/.cache/kiln`. `tune` and programs that
//! launch kernels share it, so both must find the same folder.

use std::ffi::OsString;
use std::path::PathBuf;

use thiserror::Error;

/// Why there is no cache folder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CacheFolderError {
    /// A variable does not name a folder.
    #[error("{variable} is {value:?}, which is {problem}")]
    Variable {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is invalid about it.
        problem: &'static str,
    },
    /// No variable is set.
    #[error("none of KILN_CACHE, XDG_CACHE_HOME and HOME is set")]
    Unset,
}

/// The cache folder, given a source of variables: usually [`std::env::var_os`].
///
/// # Errors
/// A variable that is set but empty or relative, or no variable at all.
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
