//! What `cargo xtask mutants` is told.

use super::list::Mutation;

/// The options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only say which mutations there are.
    pub list: bool,
    /// A build for each mutation.
    pub alone: bool,
    /// Words of which a name has one; all mutations if there are none.
    pub names: Vec<String>,
}

impl Options {
    /// Reads the words after `mutants`.
    ///
    /// # Errors
    /// The option that there is not.
    pub fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options::default();
        for &word in words {
            match word {
                "--list" => options.list = true,
                "--alone" => options.alone = true,
                other if other.starts_with('-') => {
                    return Err(format!(
                        "unknown option `{other}` of mutants; it takes --list, --alone and names"
                    ));
                }
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether a mutation is to be run: its name or its file has one of the words.
    pub fn chooses(&self, mutation: &Mutation) -> bool {
        let has = |word: &String| mutation.name.contains(word) || mutation.file.contains(word);
        self.names.is_empty() || self.names.iter().any(has)
    }
}
