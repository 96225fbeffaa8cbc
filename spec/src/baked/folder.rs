//! The folder with the baked tables of a package.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable with a folder of tables that builds read instead of those in the package. A relative path is
/// relative to the package.
pub const TUNED_VARIABLE: &str = "KILN_TUNED";

/// The folder with the tables of a package whose root folder is `root`. `given` is the value of [`TUNED_VARIABLE`]. Its
/// folder can contain the tables of one package, or one folder for each package of a workspace, as `tune run` writes
/// them.
pub fn tables_folder(given: Option<OsString>, root: &Path, package: &str) -> PathBuf {
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return root.join("tuned");
    };
    let given = root.join(given);
    let own = given.join(package);
    if own.is_dir() { own } else { given }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_folder_is_that_of_the_package_or_holds_it() {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(base.path().join("all/alpha")).unwrap();
        let folder = |given: &str, package| {
            let found = tables_folder(Some(given.into()), base.path(), package);
            let below = found.strip_prefix(base.path()).unwrap();
            below.to_str().unwrap().to_owned()
        };
        assert_eq!(folder("", "alpha"), "tuned");
        assert_eq!(folder("all", "alpha"), "all/alpha");
        assert_eq!(folder("all", "beta"), "all");
        assert_eq!(folder("all/alpha", "alpha"), "all/alpha");
        assert_eq!(folder("all", ""), "all");
        assert_eq!(
            tables_folder(None, Path::new("/p"), "x"),
            Path::new("/p/tuned")
        );
    }
}
