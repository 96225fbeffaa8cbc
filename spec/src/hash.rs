//! Content hashes: newtypes over BLAKE3 hashes, with which the compiler distinguishes hashes of different inputs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Hashes a sequence of byte fields. Each field is prefixed with its length, so that `("ab", "c")` and `("a", "bc")`
/// have different hashes.
#[derive(Clone, Debug, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Creates a hasher for the purpose that `domain` names. Hashes for different purposes differ even if their fields
    /// are equal.
    pub fn new(domain: &str) -> Hasher {
        let mut hasher = Hasher(blake3::Hasher::new());
        hasher.field(domain.as_bytes());
        hasher
    }

    /// Appends one field.
    pub fn field(&mut self, bytes: &[u8]) -> &mut Hasher {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The hash of all fields appended so far.
    pub fn finish(&self) -> Hash {
        let mut hash = [0; 16];
        hash.copy_from_slice(&self.0.finalize().as_bytes()[..16]);
        Hash(hash)
    }
}

/// The first 128 bits of a BLAKE3 hash, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash([u8; 16]);

impl Hash {
    /// The first 64 bits of the hash. Symbols contain them, and receipts report them.
    pub fn short(self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(first)
    }

    /// The hash of one byte string, for the purpose that `domain` names.
    pub fn of(domain: &str, bytes: &[u8]) -> Hash {
        Hasher::new(domain).field(bytes).finish()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        hash.to_string()
    }
}

/// The text is not 32 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a hash of 32 hexadecimal digits")]
pub struct NotAHash {
    /// The rejected text.
    pub text: String,
}

impl TryFrom<String> for Hash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Hash, NotAHash> {
        text.parse()
    }
}

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Hash, NotAHash> {
        let bad = || NotAHash { text: text.into() };
        if text.len() != 32
            || !text
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        {
            return Err(bad());
        }
        let value = u128::from_str_radix(text, 16).map_err(|_| bad())?;
        Ok(Hash(value.to_be_bytes()))
    }
}

macro_rules! hash_newtype {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Hash);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAHash;
            fn from_str(text: &str) -> Result<Self, NotAHash> {
                text.parse().map($name)
            }
        }
    )*};
}

hash_newtype! {
    /// Hash of a kernel spec: see [`KernelSpec::hash`](crate::KernelSpec::hash). It covers everything that the author
    /// declares except the tuned problems and the configs to try first.
    SpecHash;
    /// Hash of the tokens of a kernel's expanded source: the `.cu` file and every file that it includes.
    SourceHash;
    /// Hash of the canonical text of a config.
    ConfigHash;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_split_differently_have_different_hashes() {
        let hash = |fields: &[&str]| {
            let mut hasher = Hasher::new("test");
            for field in fields {
                hasher.field(field.as_bytes());
            }
            hasher.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["ab"]), hash(&["ab", ""]));
        assert_ne!(Hash::of("tes", b"ta"), Hash::of("test", b"a"));
    }
}
