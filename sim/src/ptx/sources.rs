//! The texts to which messages about instructions refer.

use std::collections::BTreeMap;

/// The lines of the text of a module, and the file names in its `.file` directives.
#[derive(Debug)]
pub(super) struct Sources {
    pub lines: Vec<String>,
    pub files: BTreeMap<u32, String>,
}
