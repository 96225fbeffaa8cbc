//! Locations of buckets: `s3://bucket/prefix`.

use std::fmt;

use crate::store::S3_SCHEME;

/// A bucket, and the prefix of the keys of a store's objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub bucket: String,
    /// Words separated by slashes; empty if the store is the whole bucket.
    prefix: String,
}

impl Location {
    pub fn parse(location: &str) -> Result<Location, &'static str> {
        let rest = location.strip_prefix(S3_SCHEME);
        let rest = rest.ok_or("it does not begin with s3://")?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let of_bucket = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
        if !(3..=63).contains(&bucket.len()) || !bucket.bytes().all(of_bucket) {
            return Err("the name of a bucket has 3 to 63 characters from a-z, 0-9, `.` and `-`");
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let of_word = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        let is_word =
            |word: &str| !word.is_empty() && !word.starts_with('.') && word.bytes().all(of_word);
        if !prefix.is_empty() && !prefix.split('/').all(is_word) {
            return Err(
                "a prefix consists of words of a-z, A-Z, 0-9, `.`, `_` and `-`, separated by slashes",
            );
        }
        Ok(Location {
            bucket: bucket.into(),
            prefix: prefix.into(),
        })
    }

    /// The key of an object.
    pub fn key(&self, name: &str) -> String {
        match self.prefix.as_str() {
            "" => name.into(),
            prefix => format!("{prefix}/{name}"),
        }
    }

    /// The name of the object with this key; `None` if the key is outside this store.
    pub fn name<'k>(&self, key: &'k str) -> Option<&'k str> {
        match self.prefix.as_str() {
            "" => Some(key),
            prefix => key.strip_prefix(prefix)?.strip_prefix('/'),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{S3_SCHEME}{}/{}", self.bucket, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_has_a_bucket_and_perhaps_a_prefix() {
        for (text, key) in [
            ("s3://kiln", "a/b"),
            ("s3://kiln/", "a/b"),
            ("s3://kiln/Team_1/x", "Team_1/x/a/b"),
            ("s3://kiln/x/", "x/a/b"),
        ] {
            let location = Location::parse(text).unwrap();
            assert_eq!(
                (location.bucket.as_str(), location.key("a/b")),
                ("kiln", key.into())
            );
            assert_eq!(location.name(key), Some("a/b"));
        }
        let location = Location::parse("s3://kiln/x").unwrap();
        assert_eq!((location.name("xy/a"), location.name("y/a")), (None, None));
    }

    #[test]
    fn a_location_that_names_no_bucket_is_refused() {
        for text in [
            "s3://",
            "s3:///x",
            "s3://ab",
            "s3://Kiln",
            "s3://user:secret@kiln",
            "s3://kiln?x=1",
            "s3://kiln//x",
            "s3://kiln/../x",
            "s3://kiln/a b",
            "kiln",
        ] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
    }
}
