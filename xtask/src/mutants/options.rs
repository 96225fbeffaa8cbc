//! The options of `cargo xtask mutants`.

use super::list::Mutation;

/// The options of `cargo xtask mutants`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to only print the list of mutations.
    pub list: bool,
    /// Whether to build each mutation separately.
    pub alone: bool,
    /// Words that select mutations. Without words, all mutations are selected.
    pub names: Vec<String>,
}

impl Options {
    /// Parses the words after `mutants`.
    ///
    /// # Errors
    /// If an option is unknown.
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

    /// Whether a mutation is selected, because its name or its file contains one of the words.
    pub fn chooses(&self, mutation: &Mutation) -> bool {
        let has = |word: &String| mutation.name.contains(word) || mutation.file.contains(word);
        self.names.is_empty() || self.names.iter().any(has)
    }
}
