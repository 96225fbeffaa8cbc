//! Reads the list of mutations: `xtask/mutants/*.toml`, with one file for each area of the product.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A mutation: one line of the product that is broken on purpose.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// What the mutation breaks, in a short sentence.
    pub name: String,
    /// The file that the mutation changes.
    pub file: String,
    /// A text that occurs exactly once in the file. It may contain lines around the line that changes.
    pub from: String,
    /// The text that replaces `from`. It differs from `from` in exactly one line.
    pub to: String,
    /// The test that must fail with the mutation.
    pub test: Test,
    /// The name of a group. Mutations of one group may share a build, even if the rule of `batches.rs` would separate
    /// them. The author of the list vouches that none of them can make another one's test fail.
    pub group: Option<String>,
}

/// A test of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The package that contains the test.
    pub package: String,
    /// The name of the test file, or `lib`.
    pub binary: String,
    /// The full name of the test, including modules.
    pub name: String,
    /// Whether the test runs the program `tune`, which must then be built first.
    #[serde(default)]
    pub tune: bool,
}

/// The content of one file of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Area {
    mutation: Vec<Mutation>,
}

/// Reads the whole list.
///
/// # Errors
/// If a file cannot be read, or is not a list of mutations.
pub fn load(root: &Path) -> Result<Vec<Mutation>, String> {
    let folder = root.join("xtask/mutants");
    let cannot_read = |error| format!("cannot read {}: {error}", folder.display());
    let entries = fs::read_dir(&folder).map_err(cannot_read)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let mut mutations = Vec::new();
    for file in files {
        let wrong = |error: &dyn fmt::Display| format!("{}: {error}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| wrong(&error))?;
        let area: Area = toml::from_str(&text).map_err(|error| wrong(&error))?;
        mutations.extend(area.mutation);
    }
    Ok(mutations)
}

impl Mutation {
    /// The text of the file below `root` with the mutation applied.
    ///
    /// # Errors
    /// If the mutation cannot be applied to the file.
    pub fn edit(&self, root: &Path) -> Result<String, String> {
        let file = root.join(&self.file);
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", self.file))?;
        let times = text.matches(&self.from).count();
        if times != 1 {
            return Err(format!(
                "{} contains the text {times} times instead of once",
                self.file
            ));
        }
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
        let (before, after) = (lines(&self.from), lines(&self.to));
        let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        if before.len() != after.len() || changed != 1 {
            return Err("exactly one line must change".into());
        }
        Ok(text.replace(&self.from, &self.to))
    }

    /// The folder of the package that contains the file.
    pub fn folder(&self) -> &str {
        self.file.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.name, self.file, self.test)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.package, self.binary, self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use walkdir::WalkDir;

    use super::super::packages::Packages;
    use super::*;
    use crate::step::root;

    fn whole_list() -> Vec<Mutation> {
        load(&root()).unwrap()
    }

    #[test]
    fn every_mutation_changes_one_line_of_the_present_sources() {
        for mutation in whole_list() {
            if let Err(why) = mutation.edit(&root()) {
                panic!("{mutation}: {why}");
            }
        }
    }

    #[test]
    fn the_list_is_long_and_has_no_name_twice() {
        let list = whole_list();
        assert!(list.len() >= 45, "{} mutations", list.len());
        let names: BTreeSet<_> = list.iter().map(|mutation| &mutation.name).collect();
        assert_eq!(names.len(), list.len());
    }

    #[test]
    fn every_test_that_is_named_stands_in_its_package() {
        let packages = Packages::read(&root()).unwrap();
        for mutation in whole_list() {
            let test = &mutation.test;
            let folder = packages.folder(&test.package).unwrap();
            let name = test.name.rsplit("::").next().unwrap();
            let stands = WalkDir::new(root().join(folder))
                .into_iter()
                .flatten()
                .filter(|entry| entry.path().extension().is_some_and(|end| end == "rs"))
                .any(|entry| fs::read_to_string(entry.path()).unwrap().contains(name));
            assert!(stands, "{mutation}");
        }
    }

    #[test]
    fn a_text_that_stands_twice_and_two_changed_lines_do_not_apply() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "one\ntwo\nthree\ntwo\n").unwrap();
        let edit = |from: &str, to: &str| {
            let mut mutation = whole_list().remove(0);
            mutation.file = "a.rs".into();
            (mutation.from, mutation.to) = (from.into(), to.into());
            mutation.edit(folder.path())
        };
        assert_eq!(edit("one\ntwo", "one\n2").unwrap(), "one\n2\nthree\ntwo\n");
        assert!(edit("two", "2").unwrap_err().contains("2 times"));
        assert!(edit("four", "4").unwrap_err().contains("0 times"));
        for (from, to) in [("one", "one"), ("one\ntwo", "1\n2"), ("one", "one\n1")] {
            assert!(edit(from, to).unwrap_err().contains("one line"), "{to}");
        }
    }
}
