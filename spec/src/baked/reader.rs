//! Reads the fields of a TOML file strictly, and reports the line of each error.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::BakedError;
use crate::text::shorten;
use crate::text::spelling::nearest;

/// Maximum size of a table or index, in bytes. The rows in `examples/tuned/row_norms.toml` have
/// about 450 bytes each, so there is room for about 37,000 rows.
pub const MAX_TABLE_BYTES: usize = 16 << 20;
/// The format number that this version reads and writes.
pub(super) const FORMAT: i64 = 1;

/// The text of a file, from which line numbers are computed.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Text<'a>, BakedError> {
        if bytes.len() > MAX_TABLE_BYTES {
            return Err(BakedError::TooLarge {
                bytes: bytes.len(),
                limit: MAX_TABLE_BYTES,
            });
        }
        std::str::from_utf8(bytes).map(Text).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            BakedError::NotUtf8 {
                line: 1 + good.iter().filter(|b| **b == b'\n').count(),
            }
        })
    }

    pub(super) fn line(self, offset: usize) -> usize {
        let before = self.0.as_bytes().get(..offset).unwrap_or_default();
        1 + before.iter().filter(|b| **b == b'\n').count()
    }

    pub(super) fn parse(self) -> Result<DeTable<'a>, BakedError> {
        let table = DeTable::parse(self.0).map_err(|error| BakedError::Syntax {
            line: self.line(error.span().map_or(0, |span| span.start)),
            message: shorten(error.message()),
        })?;
        Ok(table.into_inner())
    }
}

/// A TOML table of the file.
#[derive(Clone, Copy)]
pub(super) struct Fields<'f, 'a> {
    text: Text<'a>,
    offset: usize,
    table: &'f DeTable<'a>,
}

/// A TOML value of the file.
#[derive(Clone, Copy)]
pub(super) struct Field<'f, 'a> {
    text: Text<'a>,
    value: &'f Spanned<DeValue<'a>>,
}

impl<'f, 'a> Fields<'f, 'a> {
    /// The top-level table of the file. The key `format` is checked first, because a newer format may have changed all
    /// other keys.
    pub(super) fn root(text: Text<'a>, table: &'f DeTable<'a>) -> Result<Self, BakedError> {
        let fields = Fields {
            text,
            offset: 0,
            table,
        };
        let format = fields.get("format")?;
        let found: i64 = format.int("format")?;
        if found > FORMAT {
            return Err(BakedError::Newer {
                found,
                known: FORMAT,
            });
        }
        if found != FORMAT {
            return Err(format.value("format", &found.to_string(), "1"));
        }
        Ok(fields)
    }

    /// The line of the table.
    pub(super) fn line(self) -> usize {
        self.text.line(self.offset)
    }

    /// Checks that the table has only the keys `known`.
    pub(super) fn only(self, known: &[&'static str]) -> Result<(), BakedError> {
        for key in self.table.keys() {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let name = shorten(name);
                return Err(BakedError::UnknownKey {
                    line: self.text.line(key.span().start),
                    help: match nearest(&name, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("keys are {}", known.join(", ")),
                    },
                    key: name,
                });
            }
        }
        Ok(())
    }

    pub(super) fn find(self, key: &str) -> Option<Field<'f, 'a>> {
        let value = self.table.get(key)?;
        Some(Field {
            text: self.text,
            value,
        })
    }

    pub(super) fn get(self, key: &'static str) -> Result<Field<'f, 'a>, BakedError> {
        self.find(key).ok_or_else(|| BakedError::MissingKey {
            line: self.line(),
            key,
        })
    }

    /// Every key of the table with its value.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'f str, Field<'f, 'a>)> {
        let text = self.text;
        let entry = move |(key, value): (&'f Spanned<_>, &'f Spanned<_>)| {
            let key: &std::borrow::Cow<'a, str> = key.get_ref();
            (&**key, Field { text, value })
        };
        self.table.iter().map(entry)
    }
}

impl<'f, 'a> Field<'f, 'a> {
    pub(super) fn line(self) -> usize {
        self.text.line(self.value.span().start)
    }

    fn kind(self, key: &'static str, expected: &'static str) -> BakedError {
        BakedError::Kind {
            line: self.line(),
            key,
            expected,
        }
    }

    pub(super) fn value(
        self,
        key: &'static str,
        token: &str,
        expected: &'static str,
    ) -> BakedError {
        BakedError::Value {
            line: self.line(),
            key,
            token: shorten(token),
            expected,
        }
    }

    pub(super) fn str(self, key: &'static str) -> Result<&'f str, BakedError> {
        let text = self.value.get_ref().as_str();
        text.ok_or_else(|| self.kind(key, "a string"))
    }

    /// The value as text, parsed to the type `T`.
    pub(super) fn parsed<T: std::str::FromStr>(
        self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<T, BakedError> {
        let text = self.str(key)?;
        text.parse().map_err(|_| self.value(key, text, expected))
    }

    /// The value as a decimal integer of the type `T`.
    pub(super) fn int<T: TryFrom<i128>>(self, key: &'static str) -> Result<T, BakedError> {
        let Some(integer) = self.value.get_ref().as_integer() else {
            return Err(self.kind(key, "an integer"));
        };
        let digits = integer.as_str();
        let value = if integer.radix() == 10 {
            digits.parse::<i128>().ok()
        } else {
            None
        };
        value
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| self.value(key, digits, "a decimal integer of this field's range"))
    }

    /// The value as an array of exactly `N` integers.
    pub(super) fn ints<const N: usize, T: TryFrom<i128> + Copy + Default>(
        self,
        key: &'static str,
    ) -> Result<[T; N], BakedError> {
        let items = self.array(key)?;
        if items.len() != N {
            return Err(self.kind(key, "three integers"));
        }
        let mut ints = [T::default(); N];
        for (int, item) in ints.iter_mut().zip(items) {
            *int = item.int(key)?;
        }
        Ok(ints)
    }

    pub(super) fn array(self, key: &'static str) -> Result<Vec<Field<'f, 'a>>, BakedError> {
        let array = self.value.get_ref().as_array();
        let array = array.ok_or_else(|| self.kind(key, "an array"))?;
        let text = self.text;
        Ok(array.iter().map(|value| Field { text, value }).collect())
    }

    pub(super) fn fields(self, key: &'static str) -> Result<Fields<'f, 'a>, BakedError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Fields {
                text: self.text,
                offset: self.value.span().start,
                table,
            }),
            _ => Err(self.kind(key, "a table")),
        }
    }
}
