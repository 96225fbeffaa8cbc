//! The headers and flags with which a saved translation unit was compiled.
//!
//! A kernel that `tune bench --save` stored is rebuilt with the headers and flags that were current when it was stored.
//! A comparison with the current kernel therefore shows the effect of changes to Kiln's headers and flags too, not only
//! of changes to the source.

use kiln_spec::Hash;
use kiln_spec::prelude::prelude_hash;
use thiserror::Error;

/// The error for a header whose path is outside the include folder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}`")]
pub struct OutsideFolder {
    /// The name of the header, as the caller supplied it.
    pub name: String,
}

/// Headers and flags that replace a compiler's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Flags that replace the compiler's own. `None` if the compiler uses its own flags, because the saved flags are
    /// for another compiler.
    pub flags: Option<Vec<String>>,
    headers: Vec<(String, String)>,
}

impl Recipe {
    /// Creates a recipe from headers (names relative to the include folder, and texts) and flags.
    ///
    /// # Errors
    /// The first header whose path is outside the folder.
    pub fn new(
        headers: Vec<(String, String)>,
        flags: Option<Vec<String>>,
    ) -> Result<Recipe, OutsideFolder> {
        let outside = |name: &str| {
            let plain =
                |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
            !name.split('/').all(plain)
        };
        match headers.iter().find(|(name, _)| outside(name)) {
            Some((name, _)) => Err(OutsideFolder { name: name.clone() }),
            None => Ok(Recipe { flags, headers }),
        }
    }

    /// The names and texts of the headers.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The hash of the headers. It is computed in the same way as the hash of a prelude.
    pub fn prelude_hash(&self) -> Hash {
        prelude_hash(&self.borrowed())
    }

    /// The names and texts of the headers, in the form of a prelude.
    pub(crate) fn borrowed(&self) -> Vec<(&str, &str)> {
        let pairs = self.headers.iter();
        pairs
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_stay_inside_their_folder() {
        let named = |name: &str| Recipe::new(vec![(name.into(), String::new())], None);
        assert!(named("device/tile.h").is_ok());
        for name in [
            "/etc/passwd",
            "../up.h",
            "a/../../up.h",
            "",
            "a//b",
            "./a",
            "a\\b",
        ] {
            let name = name.to_owned();
            assert_eq!(named(&name), Err(OutsideFolder { name }));
        }
    }

    #[test]
    fn the_hash_is_that_of_the_prelude_with_the_same_headers() {
        let own = kiln_spec::codegen::Target::Cpu.prelude();
        let headers = own.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned()));
        let recipe = Recipe::new(headers.collect(), None).unwrap();
        assert_eq!(recipe.prelude_hash(), prelude_hash(own));
    }
}
