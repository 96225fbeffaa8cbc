//! Writes JSON objects and keeps the order of their members.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A JSON object whose members keep their order.
pub(crate) struct Ordered<'a, V>(pub(crate) Vec<(&'a str, V)>);

impl<V: Serialize> Serialize for Ordered<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Writes a value as JSON on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with text keys and finite numbers should serialise")
}
