//! Detects the format of a recording from the names at the top level of the file.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Whether a text is a T4 results file. Such a file has the member `results` and does not have the member `cache`.
pub(crate) fn is_results(text: &str) -> bool {
    let mut seen = TopLevel::default();
    // An error is ignored here. If the file is incomplete or has an error, the names before the error decide.
    let _ = seen.deserialize(&mut serde_json::Deserializer::from_str(text));
    seen.results && !seen.cache
}

/// Which of the two names that identify the format are at the top level.
#[derive(Default)]
struct TopLevel {
    results: bool,
    cache: bool,
}

impl<'de> DeserializeSeed<'de> for &mut TopLevel {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut TopLevel {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.results |= name == "results";
            self.cache |= name == "cache";
            if self.cache {
                break;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
