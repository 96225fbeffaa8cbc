//! `tuned/index.toml`: lists the kernels with a table. It always exists, so that a build notices new tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::error::BakedError;
use super::quoted::quoted;
use super::reader::{FORMAT, Fields, Text};
use super::row::{is_file_name, is_symbol};

/// The kernels that have a baked table, and the file of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index(BTreeMap<String, String>);

impl Index {
    /// An index without kernels, as `tune init` writes it.
    pub fn new() -> Index {
        Index::default()
    }

    /// Reads an index.
    ///
    /// # Errors
    /// At the first thing that `tune` would not have written, except for order and white space; in particular at a
    /// file name that leaves the folder.
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

    /// The file of a kernel's table, without folders.
    pub fn file(&self, kernel: &str) -> Option<&str> {
        self.0.get(kernel).map(String::as_str)
    }

    /// Kernel and file of every table, sorted by kernel.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(kernel, file)| (&**kernel, &**file))
    }

    /// Lists a kernel's table under its usual name, `<kernel>.toml`, and returns that name.
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

    /// Removes a kernel from the list; returns whether it was listed.
    pub fn remove(&mut self, kernel: &str) -> bool {
        self.0.remove(kernel).is_some()
    }

    /// Its text, which is the same for the same kernels.
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
