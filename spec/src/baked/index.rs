//! The index `tuned/index.toml`, which lists the kernels that have a table. `tune init` writes the index before any
//! kernel has a table, so that a build can track the index and notice new tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::error::BakedError;
use super::quoted::quoted;
use super::reader::{FORMAT, Fields, Text};
use super::row::{is_file_name, is_symbol};

/// The kernels that have a baked table, each with the file of its table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index(BTreeMap<String, String>);

impl Index {
    /// An index without kernels. `tune init` writes such an index.
    pub fn new() -> Index {
        Index::default()
    }

    /// Reads an index.
    ///
    /// # Errors
    /// If the file contains anything that `tune` would not have written, such as a file name that leaves the folder.
    /// The order of the entries and the white space may differ.
    pub fn parse(bytes: &[u8]) -> Result<Index, BakedError> {
        let text = Text::new(bytes)?;
        let table = text.parse()?;
        let root = Fields::root(text, &table)?;
        root.only(&["format", "kernels"])?;
        let mut index = Index::new();
        if let Some(kernels) = root.find("kernels") {
            for (kernel, file) in kernels.fields("kernels")?.entries() {
                let name = file.str("kernels")?;
                if !is_symbol(kernel) {
                    return Err(file.value("kernels", kernel, "a C identifier"));
                }
                if !is_table_name(name) {
                    return Err(file.value("kernels", name, "a plain file name ending in `.toml`"));
                }
                index.0.insert(kernel.into(), name.into());
            }
        }
        Ok(index)
    }

    /// The file name of a kernel's table, without folders. `None` if the index does not list the kernel.
    pub fn file(&self, kernel: &str) -> Option<&str> {
        self.0.get(kernel).map(String::as_str)
    }

    /// Every kernel with the file name of its table, sorted by kernel.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(kernel, file)| (&**kernel, &**file))
    }

    /// Adds a kernel's table under the file name `<kernel>.toml`, and returns this name.
    ///
    /// # Errors
    /// If the kernel's name is not a C identifier, or is `index`.
    pub fn insert(&mut self, kernel: &str) -> Result<String, BakedError> {
        let file = format!("{kernel}.toml");
        if !is_symbol(kernel) || !is_table_name(&file) {
            return Err(BakedError::Value {
                line: 0,
                key: "kernels",
                token: crate::text::shorten(kernel),
                expected: "a C identifier other than `index`",
            });
        }
        self.0.insert(kernel.into(), file.clone());
        Ok(file)
    }

    /// Removes a kernel from the index. Returns whether the index listed it.
    pub fn remove(&mut self, kernel: &str) -> bool {
        self.0.remove(kernel).is_some()
    }

    /// The text of the index. Equal indices have equal texts.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# Written by `tune init` and `tune bake`: the kernels that have a baked table.\n\
             format = {FORMAT}\n\n[kernels]\n"
        );
        for (kernel, file) in &self.0 {
            let _ = writeln!(text, "{kernel} = {}", quoted(file));
        }
        text
    }
}

fn is_table_name(name: &str) -> bool {
    is_file_name(name) && name.ends_with(".toml") && name != "index.toml"
}
