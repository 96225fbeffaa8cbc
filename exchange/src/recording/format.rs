//! Which format a recording has: its top level says.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Whether a text is a results file: it has `results` and no `cache`, as far as it can be read.
pub(crate) fn is_results(text: &str) -> bool {
    let mut seen = TopLevel::default();
    // A file that was never closed, or is wrong further on, has its names before that.
    let _ = seen.deserialize(&mut serde_json::Deserializer::from_str(text));
    seen.results && !seen.cache
}

/// The names that decide.
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
