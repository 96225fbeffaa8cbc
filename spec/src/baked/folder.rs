//! The folder with the local tables of a package.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable that names a folder of local tables. Builds read these tables in addition to the tables in
/// the package. A relative path is relative to the root folder of the package.
pub const TUNED_VARIABLE: &str = "KILN_TUNED";

/// Returns the folder that contains the local tables of `package`, whose root folder is `root`. `given` is the value of
/// [`TUNED_VARIABLE`]; if it is unset or empty, the result is `None`. The folder that the variable names can contain
/// the tables of one package, or one folder for each package of a workspace, as `tune run` writes them.
pub fn local_tables_folder(given: Option<OsString>, root: &Path, package: &str) -> Option<PathBuf> {
    let given = root.join(given.filter(|given| !given.is_empty())?);
    let own = given.join(package);
    Some(if own.is_dir() { own } else { given })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_folder_is_that_of_the_package_or_holds_it() {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(base.path().join("all/alpha")).unwrap();
        let folder = |given: &str, package| {
            let found = local_tables_folder(Some(given.into()), base.path(), package)?;
            let below = found.strip_prefix(base.path()).unwrap();
            Some(below.to_str().unwrap().to_owned())
        };
        assert_eq!(folder("", "alpha"), None);
        assert_eq!(folder("all", "alpha").unwrap(), "all/alpha");
        assert_eq!(folder("all", "beta").unwrap(), "all");
        assert_eq!(folder("all/alpha", "alpha").unwrap(), "all/alpha");
        assert_eq!(folder("all", "").unwrap(), "all");
        assert_eq!(local_tables_folder(None, Path::new("/p"), "x"), None);
    }
}
