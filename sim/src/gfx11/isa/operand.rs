//! Operands of instructions.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 3.3 and the tables of scalar and vector operands of chapter 15.

use half::f16;

/// The number of the low half of VCC among the scalar registers.
pub(crate) const VCC: u8 = 106;
/// The number of the register that is always zero.
pub(crate) const NULL: u8 = 124;
/// The number of M0 among the scalar registers.
pub(crate) const M0: u8 = 125;
/// The number of the low half of EXEC among the scalar registers.
pub(crate) const EXEC: u8 = 126;

/// The high 32 bits of a flat address in shared memory.
pub(crate) const SHARED_APERTURE: u32 = 0x0001_0000;
/// The high 32 bits of a flat address in private memory.
pub(crate) const PRIVATE_APERTURE: u32 = 0x0002_0000;

/// The type of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// The operand does not exist.
    Nothing,
    /// A 16-bit integer.
    B16,
    /// A 16-bit float.
    F16,
    /// Two 16-bit floats.
    PkF16,
    /// A 32-bit integer.
    B32,
    /// A 32-bit float.
    F32,
    /// A 64-bit integer.
    B64,
    /// A 64-bit float.
    F64,
    /// One bit per lane, in a scalar register.
    Mask,
    /// 32 bits, in a scalar register.
    Scalar,
}

impl Type {
    /// The number of registers that the operand occupies.
    pub fn registers(self) -> u8 {
        match self {
            Type::Nothing => 0,
            Type::B64 | Type::F64 => 2,
            _ => 1,
        }
    }

    /// Whether the operand occupies half a register.
    pub fn is_half(self) -> bool {
        matches!(self, Type::B16 | Type::F16)
    }
}

/// The kind of a source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    /// A vector register, or the first of several.
    Vector(u8),
    /// A scalar register, VCC, M0 or EXEC, or the first of several.
    Scalar(u8),
    /// The scalar condition code.
    Scc,
    /// A constant, as bits of the operand's type.
    Constant(u64),
}

/// The error for an operand that cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownOperand;

/// Decodes the nine bits of a source operand. `literal` is the word after the instruction, if any.
pub(crate) fn source(bits: u32, ty: Type, literal: Option<u32>) -> Result<Src, UnknownOperand> {
    Ok(match bits {
        0..=107 | 108..=123 | 125..=127 => Src::Scalar(bits as u8),
        124 => Src::Constant(0),
        128..=192 => Src::Constant(integer(bits as i64 - 128, ty)),
        193..=208 => Src::Constant(integer(192 - bits as i64, ty)),
        235 => Src::Constant(aperture(SHARED_APERTURE, 0, ty)),
        236 => Src::Constant(aperture(SHARED_APERTURE, u32::MAX, ty)),
        237 => Src::Constant(aperture(PRIVATE_APERTURE, 0, ty)),
        238 => Src::Constant(aperture(PRIVATE_APERTURE, u32::MAX, ty)),
        240..=248 => Src::Constant(float(bits - 240, ty)),
        253 => Src::Scc,
        255 => Src::Constant(long(literal.ok_or(UnknownOperand)?, ty)),
        256..=511 => Src::Vector(bits as u8),
        _ => return Err(UnknownOperand),
    })
}

/// An inline integer, sign-extended to the size of the operand.
fn integer(value: i64, ty: Type) -> u64 {
    match ty {
        Type::B64 | Type::F64 => value as u64,
        Type::B16 | Type::F16 => u64::from(value as u16),
        _ => u64::from(value as u32),
    }
}

/// The base or limit of an aperture. A 32-bit operand reads the low half.
fn aperture(high: u32, low: u32, ty: Type) -> u64 {
    match ty.registers() {
        2 => u64::from(high) << 32 | u64::from(low),
        _ => u64::from(low),
    }
}

/// An inline float: 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1 / 2π.
fn float(index: u32, ty: Type) -> u64 {
    let values = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
    match (ty, values.get(index as usize)) {
        (Type::B64 | Type::F64, Some(value)) => f64::to_bits(*value),
        (Type::B64 | Type::F64, None) => 0x3fc4_5f30_6dc9_c882,
        (Type::B16 | Type::F16 | Type::PkF16, Some(value)) => {
            u64::from(f16::from_f64(*value).to_bits())
        }
        (Type::B16 | Type::F16 | Type::PkF16, None) => 0x3118,
        (_, Some(value)) => u64::from((*value as f32).to_bits()),
        (_, None) => 0x3e22_f983,
    }
}

/// A literal. For a 64-bit float it is the high half. Other types are zero-extended.
fn long(literal: u32, ty: Type) -> u64 {
    match ty {
        Type::F64 => u64::from(literal) << 32,
        Type::B16 | Type::F16 => u64::from(literal & 0xffff),
        _ => u64::from(literal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_constants_take_the_form_of_their_type() {
        let constant = |bits, ty| source(bits, ty, None).unwrap();
        assert_eq!(constant(193, Type::B32), Src::Constant(0xffff_ffff));
        assert_eq!(constant(193, Type::B64), Src::Constant(u64::MAX));
        assert_eq!(constant(208, Type::B32), Src::Constant(0xffff_fff0));
        assert_eq!(constant(192, Type::B32), Src::Constant(64));
        assert_eq!(constant(242, Type::F32), Src::Constant(0x3f80_0000));
        assert_eq!(
            constant(242, Type::F64),
            Src::Constant(0x3ff0_0000_0000_0000)
        );
        assert_eq!(constant(243, Type::F16), Src::Constant(0xbc00));
        assert_eq!(constant(248, Type::F16), Src::Constant(0x3118));
        assert_eq!(
            constant(235, Type::B64),
            Src::Constant(0x0001_0000_0000_0000)
        );
        assert_eq!(constant(124, Type::B32), Src::Constant(0));
    }

    #[test]
    fn a_literal_is_the_high_half_of_a_double_and_must_be_there() {
        assert_eq!(
            source(255, Type::F64, Some(0x3ff0_0000)),
            Ok(Src::Constant(0x3ff0_0000 << 32))
        );
        assert_eq!(source(255, Type::B64, Some(7)), Ok(Src::Constant(7)));
        assert_eq!(source(255, Type::B32, None), Err(UnknownOperand));
        assert_eq!(source(252, Type::B32, None), Err(UnknownOperand));
    }
}
