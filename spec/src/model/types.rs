//! Element and scalar types of kernel arguments.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! types {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $rust:literal, $c:literal, $bytes:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $rust)] $variant,)* }

        impl $name {
            /// Every type.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The type's name in a spec.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $rust,)* }
            }

            /// The type's name in a kernel's source.
            pub fn c_name(self) -> &'static str {
                match self { $($name::$variant => $c,)* }
            }

            /// The type's size in bytes.
            pub fn bytes(self) -> usize {
                match self { $($name::$variant => $bytes,)* }
            }

            /// The type that has this name in a spec.
            pub fn from_name(name: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|ty| ty.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

types! {
    /// The type of a slice's elements.
    ElemType {
        /// IEEE binary32.
        F32 = "f32", "float", 4;
        /// IEEE binary16.
        F16 = "f16", "__half", 2;
        /// bfloat16.
        Bf16 = "bf16", "__nv_bfloat16", 2;
        /// 32-bit signed integer.
        I32 = "i32", "int", 4;
        /// 32-bit unsigned integer.
        U32 = "u32", "unsigned int", 4;
        /// 8-bit unsigned integer.
        U8 = "u8", "unsigned char", 1;
        /// IEEE binary64.
        F64 = "f64", "double", 8;
        /// 64-bit signed integer.
        I64 = "i64", "long long", 8;
        /// 64-bit unsigned integer.
        U64 = "u64", "unsigned long long", 8;
        /// 16-bit signed integer.
        I16 = "i16", "short", 2;
        /// 16-bit unsigned integer.
        U16 = "u16", "unsigned short", 2;
        /// 8-bit signed integer.
        I8 = "i8", "signed char", 1;
    }
}

types! {
    /// The type of a scalar argument.
    ScalarType {
        /// 32-bit unsigned integer.
        U32 = "u32", "unsigned int", 4;
        /// 32-bit signed integer.
        I32 = "i32", "int", 4;
        /// 64-bit unsigned integer.
        U64 = "u64", "unsigned long long", 8;
        /// 64-bit signed integer.
        I64 = "i64", "long long", 8;
        /// IEEE binary32.
        F32 = "f32", "float", 4;
        /// IEEE binary64.
        F64 = "f64", "double", 8;
        /// 16-bit signed integer.
        I16 = "i16", "short", 2;
        /// 16-bit unsigned integer.
        U16 = "u16", "unsigned short", 2;
        /// 8-bit signed integer.
        I8 = "i8", "signed char", 1;
        /// 8-bit unsigned integer.
        U8 = "u8", "unsigned char", 1;
    }
}

impl ElemType {
    /// Whether the values are real numbers, which are compared within a tolerance. Integers are compared exactly.
    pub fn is_float(self) -> bool {
        self.integer_range().is_none()
    }

    /// Whether a number is a value of this type, possibly after rounding. Numbers that round to infinity are not.
    pub fn holds(self, value: ScalarValue) -> bool {
        /// The smallest number that rounds to infinity: half a unit in the last place above the largest number.
        const F16_INFINITE: f64 = 65520.0;
        const BF16_INFINITE: f64 = 511.0 * (1_u128 << 119) as f64;
        match (self.integer_range(), value) {
            (Some((least, most)), ScalarValue::Int(x)) => (least..=most).contains(&x.into()),
            (Some(_), ScalarValue::Float(_)) => false,
            (None, ScalarValue::Int(x)) => self.holds(ScalarValue::Float(x as f64)),
            (None, ScalarValue::Float(x)) => match self {
                ElemType::F16 => x.abs() < F16_INFINITE,
                ElemType::Bf16 => x.abs() < BF16_INFINITE,
                ElemType::F32 => (x as f32).is_finite(),
                _ => x.is_finite(),
            },
        }
    }

    /// Smallest and largest value of an integer type; `None` for floating-point types.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        match self {
            ElemType::F64 | ElemType::F32 | ElemType::F16 | ElemType::Bf16 => None,
            ElemType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
            ElemType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            ElemType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            ElemType::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            ElemType::U64 => Some((0, u64::MAX.into())),
            ElemType::U32 => Some((0, u32::MAX.into())),
            ElemType::U16 => Some((0, u16::MAX.into())),
            ElemType::U8 => Some((0, u8::MAX.into())),
        }
    }
}

impl ScalarType {
    /// Whether an argument of this type can be a problem size.
    pub fn is_integer(self) -> bool {
        !matches!(self, ScalarType::F32 | ScalarType::F64)
    }

    /// The smallest and the largest integer that the type can represent, limited to the range of `i64`.
    pub fn size_range(self) -> (i64, i64) {
        let bits = 8 * self.bytes() as u32;
        if self.holds(-1) {
            let most = i64::MAX >> (64 - bits);
            (-most - 1, most)
        } else {
            (0, i64::MAX >> 63_u32.saturating_sub(bits))
        }
    }

    /// Whether this is an integer type that can represent the value.
    pub fn holds(self, value: i64) -> bool {
        match self {
            ScalarType::U32 => u32::try_from(value).is_ok(),
            ScalarType::I32 => i32::try_from(value).is_ok(),
            ScalarType::U64 => value >= 0,
            ScalarType::I64 => true,
            ScalarType::I16 => i16::try_from(value).is_ok(),
            ScalarType::U16 => u16::try_from(value).is_ok(),
            ScalarType::I8 => i8::try_from(value).is_ok(),
            ScalarType::U8 => u8::try_from(value).is_ok(),
            ScalarType::F32 | ScalarType::F64 => false,
        }
    }
}

/// A literal number in a spec.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScalarValue {
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
}
