//! Structs and arrays that a kernel receives by value.

use serde::{Deserialize, Serialize};

use super::{ScalarType, ScalarValue};
use crate::expr::Expr;

/// An argument that is a struct or an array of numbers, passed by value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlainArg {
    /// The argument's name.
    pub name: String,
    /// The argument's type together with its value for verification, timing and smoke tests.
    pub value: Plain,
}

/// A number, an array or a struct, with its type and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Plain {
    /// A number of this scalar type.
    Number(ScalarType, PlainNumber),
    /// An array of values of one type.
    Array(Vec<Plain>),
    /// A `#[repr(C)]` struct.
    Struct {
        /// The Rust path of the struct.
        ty: String,
        /// The struct's fields, in declared order.
        fields: Vec<PlainField>,
    },
}

/// A field of a `#[repr(C)]` struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlainField {
    /// The field's name in Rust.
    pub name: String,
    /// The field's type and value.
    pub value: Plain,
}

/// The value of a number in a struct or array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlainNumber {
    /// A literal.
    Value(ScalarValue),
    /// An expression over problem sizes.
    Size(Expr),
}

/// The memory layout of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainLayout {
    /// Size in bytes.
    pub bytes: usize,
    /// Alignment in bytes.
    pub align: usize,
}

impl Plain {
    /// The value's memory layout in C, which is also that of a `#[repr(C)]` struct.
    pub fn layout(&self) -> PlainLayout {
        match self {
            Plain::Number(ty, _) => PlainLayout {
                bytes: ty.bytes(),
                align: ty.bytes(),
            },
            Plain::Array(elements) => {
                let one = elements.first().map(Plain::layout);
                PlainLayout {
                    bytes: one.map_or(0, |one| one.bytes) * elements.len(),
                    align: one.map_or(1, |one| one.align),
                }
            }
            Plain::Struct { fields, .. } => {
                let aligns = fields.iter().map(|field| field.value.layout().align);
                let align = aligns.max().unwrap_or(1);
                let end = offsets(fields)
                    .last()
                    .map_or(0, |(offset, last)| offset + last.value.layout().bytes);
                PlainLayout {
                    bytes: end.next_multiple_of(align),
                    align,
                }
            }
        }
    }

    /// Every number of the value, with its offset in bytes from the start of the value.
    pub fn numbers(&self) -> Vec<(usize, ScalarType, &PlainNumber)> {
        let mut numbers = Vec::new();
        self.collect(0, &mut numbers);
        numbers
    }

    fn collect<'a>(&'a self, at: usize, numbers: &mut Vec<(usize, ScalarType, &'a PlainNumber)>) {
        match self {
            Plain::Number(ty, value) => numbers.push((at, *ty, value)),
            Plain::Array(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    element.collect(at + i * element.layout().bytes, numbers);
                }
            }
            Plain::Struct { fields, .. } => {
                for (offset, field) in offsets(fields) {
                    field.value.collect(at + offset, numbers);
                }
            }
        }
    }

    /// The name of the value's type, for messages: for example `[f32; 4]`.
    pub fn type_name(&self) -> String {
        match self {
            Plain::Number(ty, _) => ty.name().to_owned(),
            Plain::Array(elements) => {
                let one = elements.first().map(Plain::type_name);
                format!("[{}; {}]", one.unwrap_or_default(), elements.len())
            }
            Plain::Struct { ty, .. } => ty.clone(),
        }
    }
}

/// The fields of a struct with their offsets in bytes.
pub fn offsets(fields: &[PlainField]) -> impl Iterator<Item = (usize, &PlainField)> {
    fields.iter().scan(0_usize, |end, field| {
        let layout = field.value.layout();
        let offset = end.next_multiple_of(layout.align);
        *end = offset + layout.bytes;
        Some((offset, field))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, value: Plain) -> PlainField {
        PlainField {
            name: name.into(),
            value,
        }
    }

    fn number(ty: ScalarType) -> Plain {
        Plain::Number(ty, PlainNumber::Value(ScalarValue::Int(0)))
    }

    #[test]
    fn fields_lie_as_in_c() {
        let fields = vec![
            field("a", number(ScalarType::U8)),
            field("b", Plain::Array(vec![number(ScalarType::F32); 3])),
            field("c", number(ScalarType::F64)),
            field("d", number(ScalarType::I16)),
        ];
        let lies: Vec<usize> = offsets(&fields).map(|(offset, _)| offset).collect();
        assert_eq!(lies, [0, 4, 16, 24]);
        let value = Plain::Struct {
            ty: "Params".into(),
            fields,
        };
        let layout = value.layout();
        assert_eq!((layout.bytes, layout.align), (32, 8));
        let at: Vec<usize> = value.numbers().iter().map(|(at, ..)| *at).collect();
        assert_eq!(at, [0, 4, 8, 12, 16, 24]);
    }
}
