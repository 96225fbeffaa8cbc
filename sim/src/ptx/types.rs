//! The types of PTX (PTX ISA 5.2, "Types").

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    /// Untyped bits, `.b8` to `.b128`. The number is the size in bits.
    B(u32),
    /// An unsigned integer of this number of bits.
    U(u32),
    /// A signed integer of this number of bits.
    S(u32),
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    Pred,
}

impl Type {
    /// The type that a suffix without its dot specifies.
    pub fn parse(suffix: &str) -> Option<Type> {
        Some(match suffix {
            "b8" => Type::B(8),
            "b16" => Type::B(16),
            "b32" => Type::B(32),
            "b64" => Type::B(64),
            "b128" => Type::B(128),
            "u8" => Type::U(8),
            "u16" => Type::U(16),
            "u32" => Type::U(32),
            "u64" => Type::U(64),
            "s8" => Type::S(8),
            "s16" => Type::S(16),
            "s32" => Type::S(32),
            "s64" => Type::S(64),
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::Bf16,
            "bf16x2" => Type::Bf16x2,
            "tf32" => Type::Tf32,
            "f32" => Type::F32,
            "f64" => Type::F64,
            "pred" => Type::Pred,
            _ => return None,
        })
    }

    /// The size in bits. A predicate has 1 bit.
    pub fn bits(self) -> u32 {
        match self {
            Type::B(bits) | Type::U(bits) | Type::S(bits) => bits,
            Type::F16 | Type::Bf16 => 16,
            Type::F16x2 | Type::Bf16x2 | Type::Tf32 | Type::F32 => 32,
            Type::F64 => 64,
            Type::Pred => 1,
        }
    }

    /// The size in bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether values of this type need a 64-bit register.
    pub fn wide(self) -> bool {
        self.bits() == 64
    }

    /// Whether this is a signed integer type.
    pub fn signed(self) -> bool {
        matches!(self, Type::S(_))
    }

    /// Whether this is an integer or a bits type.
    pub fn integer(self) -> bool {
        matches!(self, Type::B(_) | Type::U(_) | Type::S(_))
    }
}
