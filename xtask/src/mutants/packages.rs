//! Finds the workspace packages on which a package depends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::Table;

/// The packages of the workspace whose folders are in the root folder.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    /// For each package, its folder and the names of its dependencies.
    known: BTreeMap<String, (String, BTreeSet<String>)>,
}

impl Packages {
    /// Reads the manifests of the packages.
    ///
    /// # Errors
    /// If a `Cargo.toml` is not a valid manifest.
    pub fn read(root: &Path) -> Result<Packages, String> {
        let folders = fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
        let mut packages = Packages::default();
        for folder in folders.flatten() {
            let Ok(text) = fs::read_to_string(folder.path().join("Cargo.toml")) else {
                continue;
            };
            let folder = folder.file_name().to_string_lossy().into_owned();
            let manifest: Table =
                toml::from_str(&text).map_err(|error| format!("{folder}/Cargo.toml: {error}"))?;
            let name = manifest
                .get("package")
                .and_then(|package| package.get("name"));
            if let Some(name) = name.and_then(toml::Value::as_str) {
                let needed = ["dependencies", "dev-dependencies"]
                    .iter()
                    .filter_map(|section| manifest.get(*section)?.as_table())
                    .flat_map(|section| section.keys().cloned())
                    .collect();
                packages.known.insert(name.to_owned(), (folder, needed));
            }
        }
        Ok(packages)
    }

    /// The folder of a package.
    #[cfg(test)]
    pub fn folder(&self, package: &str) -> Option<&str> {
        self.known.get(package).map(|(folder, _)| folder.as_str())
    }

    /// Whether building the tests of a package uses the code in a folder.
    pub fn is_built_from(&self, package: &str, folder: &str) -> bool {
        let (mut seen, mut left) = (BTreeSet::new(), vec![package]);
        while let Some(name) = left.pop() {
            let Some((own, needed)) = self.known.get(name).filter(|_| seen.insert(name)) else {
                continue;
            };
            if own == folder {
                return true;
            }
            left.extend(needed.iter().map(String::as_str));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_built_from_itself_and_what_it_depends_on() {
        let packages = Packages::read(&crate::step::root()).unwrap();
        for (package, folder, is_built_from) in [
            ("kiln-spec", "spec", true),
            ("kiln-spec", "runtime", false),
            ("kiln-trials", "spec", true),
            ("kiln-trials", "runtime", false),
            ("kiln-gpu", "macros", true),
            ("kiln-tests", "kernels", true),
        ] {
            assert_eq!(
                packages.is_built_from(package, folder),
                is_built_from,
                "{package} {folder}"
            );
        }
    }
}
