//! A reader for the subset of MessagePack that the metadata of code objects uses.

/// Maximum nesting of values. Metadata has five levels.
const MAX_LEVELS: u32 = 16;

/// A MessagePack value, limited to the kinds that metadata contains.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Number(u64),
    Text(&'a str),
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
    /// Nil, a boolean, or a negative number.
    Other,
}

/// Reads one value. `None` if the bytes are invalid.
pub(super) fn read(bytes: &[u8]) -> Option<Value<'_>> {
    Reader(bytes).value(MAX_LEVELS)
}

impl<'a> Value<'a> {
    /// The value of a key, if this value is a map that contains the key.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        let Value::Map(entries) = self else {
            return None;
        };
        let found = entries.iter().find(|(name, _)| *name == Value::Text(key));
        found.map(|(_, value)| value)
    }
}

/// The bytes that are left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The next value. `None` if the bytes end early or have a kind that metadata does not contain.
    fn value(&mut self, levels: u32) -> Option<Value<'a>> {
        let levels = levels.checked_sub(1)?;
        let kind = *self.take(1)?.first()?;
        let low = u64::from(kind);
        match kind {
            0x00..=0x7f => Some(Value::Number(low)),
            0x80..=0x8f => self.map(low & 0xf, levels),
            0x90..=0x9f => self.array(low & 0xf, levels),
            0xa0..=0xbf => self.text(low & 0x1f),
            0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Some(Value::Other),
            0xcc..=0xcf => self.number(1 << (kind - 0xcc)).map(Value::Number),
            0xd0..=0xd3 => self.number(1 << (kind - 0xd0)).map(|_| Value::Other),
            0xd9..=0xdb => {
                let length = self.number(1 << (kind - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.number(2 << (kind - 0xdc))?;
                self.array(length, levels)
            }
            0xde | 0xdf => {
                let length = self.number(2 << (kind - 0xde))?;
                self.map(length, levels)
            }
            _ => None,
        }
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// A big-endian number of `bytes` bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let digits = self.take(bytes)?.iter();
        Some(digits.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self, length: u64) -> Option<Value<'a>> {
        let bytes = self.take(usize::try_from(length).ok()?)?;
        std::str::from_utf8(bytes).ok().map(Value::Text)
    }

    fn array(&mut self, length: u64, levels: u32) -> Option<Value<'a>> {
        let values = (0..length).map(|_| self.value(levels));
        values.collect::<Option<_>>().map(Value::Array)
    }

    fn map(&mut self, length: u64, levels: u32) -> Option<Value<'a>> {
        let entries = (0..length).map(|_| Some((self.value(levels)?, self.value(levels)?)));
        entries.collect::<Option<_>>().map(Value::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read() {
        let bytes = [
            0x86, 0xa1, b'a', 0x07, 0xa1, b'b', 0xcd, 0x04, 0x00, 0xa1, b'c', 0x92, 0xc3, 0xff,
            0xa1, b'd', 0xd9, 0x02, b'x', b'y', 0xa1, b'e', 0xdc, 0x00, 0x01, 0xc0, 0xa1, b'f',
            0xde, 0x00, 0x00,
        ];
        let root = Reader(&bytes)
            .value(MAX_LEVELS)
            .expect("the bytes are whole");
        assert_eq!(root.get("a"), Some(&Value::Number(7)));
        assert_eq!(root.get("b"), Some(&Value::Number(1024)));
        assert_eq!(root.get("c"), Some(&Value::Array(vec![Value::Other; 2])));
        assert_eq!(root.get("d"), Some(&Value::Text("xy")));
        assert_eq!(root.get("e"), Some(&Value::Array(vec![Value::Other])));
        assert_eq!(root.get("f"), Some(&Value::Map(vec![])));
        assert_eq!(root.get("g"), None);
        for end in 0..bytes.len() {
            assert_eq!(Reader(&bytes[..end]).value(MAX_LEVELS), None, "{end}");
        }
    }

    #[test]
    fn nesting_without_end_and_lengths_without_bytes_are_refused() {
        assert_eq!(Reader(&[0x91; 1000]).value(MAX_LEVELS), None);
        let long = [0xdd, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Reader(&long).value(MAX_LEVELS), None);
        assert_eq!(Reader(&[0xca, 0, 0, 0, 0]).value(MAX_LEVELS), None);
    }
}
