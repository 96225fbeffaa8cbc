//! The folder of the cache: `$KILN_CACHE`, otherwise `$XDG_CACHE_HOME/kiln`, otherwise `~/.cache/kiln`.

use std::ffi::OsString;
use std::path::PathBuf;

use kiln_spec::cache_folder::{CacheFolderError, cache_folder};

use crate::error::CacheError;

/// The cache's folder according to the environment variables.
///
/// # Errors
/// The first of these variables that is set is empty or has a relative path, or none is set.
pub fn from_environment() -> Result<PathBuf, CacheError> {
    resolve(&|name| std::env::var_os(name))
}

/// The cache's folder according to `variable`, which returns the value of a variable.
///
/// # Errors
/// The errors of [`from_environment`].
pub fn resolve(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, CacheError> {
    cache_folder(variable).map_err(|error| match error {
        CacheFolderError::Variable {
            variable,
            value,
            problem,
        } => CacheError::Location {
            variable,
            value,
            problem,
        },
        CacheFolderError::Unset => CacheError::NoLocation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<PathBuf, CacheError> {
        let find = |name: &str| set.iter().find(|(n, _)| *n == name);
        resolve(&|name| find(name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_most_specific_variable_wins() {
        let all = [
            ("HOME", "/home/u"),
            ("XDG_CACHE_HOME", "/x"),
            ("KILN_CACHE", "/k"),
        ];
        assert_eq!(with(&all).unwrap(), PathBuf::from("/k"));
        assert_eq!(with(&all[..2]).unwrap(), PathBuf::from("/x/kiln"));
        assert_eq!(
            with(&all[..1]).unwrap(),
            PathBuf::from("/home/u/.cache/kiln")
        );
    }

    #[test]
    fn empty_and_relative_values_are_refused_by_name() {
        let empty = with(&[("KILN_CACHE", ""), ("HOME", "/h")]).unwrap_err();
        assert!(
            empty
                .to_string()
                .starts_with("KILN_CACHE is \"\", which is empty"),
            "{empty}"
        );
        let relative = with(&[("XDG_CACHE_HOME", "cache")]).unwrap_err();
        assert!(
            relative
                .to_string()
                .contains("XDG_CACHE_HOME is \"cache\", which is a relative path"),
            "{relative}"
        );
        assert!(with(&[]).is_err());
    }
}
