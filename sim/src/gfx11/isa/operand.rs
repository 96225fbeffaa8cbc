//! Operands of instructions.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 3.3 and the tables of scalar and vector operands of chapter 15.

use half::f16;

/// The low half of VCC among the scalar registers.
pub(crate) const VCC: u8 = 106;
/// The register that is always zero.
pub(crate) const NULL: u8 = 124;
/// M0 among the scalar registers.
pub(crate) const M0: u8 = 125;
/// The low half of EXEC among the scalar registers.
pub(crate) const EXEC: u8 = 126;

/// The high 32 bits of a flat address in shared memory.
pub(crate) const SHARED_APERTURE: u32 = 0x0001_0000;
/// The high 32 bits of a flat address in private memory.
pub(crate) const PRIVATE_APERTURE: u32 = 0x0002_0000;

/// What an operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// There is none.
    Nothing,
    /// 16 bits, an integer.
    B16,
    /// 16 bits, a float.
    F16,
    /// Two floats of 16 bits.
    PkF16,
    /// 32 bits, an integer.
    B32,
    /// 32 bits, a float.
    F32,
    /// 64 bits, an integer.
    B64,
    /// 64 bits, a float.
    F64,
    /// One bit per lane, in a scalar register.
    Mask,
    /// 32 bits in a scalar register.
    Scalar,
}

impl Type {
    /// The number of registers.
    pub fn registers(self) -> u8 {
        match self {
            Type::Nothing => 0,
            Type::B64 | Type::F64 => 2,
            _ => 1,
        }
    }

    /// Whether an operand is half a register.
    pub fn is_half(self) -> bool {
        matches!(self, Type::B16 | Type::F16)
    }
}

/// Where a source operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    /// A vector register; the first one of several.
    Vector(u8),
    /// A scalar register, VCC, M0 or EXEC; the first one of several.
    Scalar(u8),
    /// The scalar condition code.
    Scc,
    /// A number, in the form of the operand's type.
    Constant(u64),
}

/// Why an operand cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnknownOperand;

/// Decodes the nine bits of a source operand. `literal` follows the instruction.
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

/// An inline integer: sign-extended to the operand's size.
fn integer(value: i64, ty: Type) -> u64 {
    match ty {
        Type::B64 | Type::F64 => value as u64,
        Type::B16 | Type::F16 => u64::from(value as u16),
        _ => u64::from(value as u32),
    }
}

/// The base or limit of an aperture. As a 32-bit operand it reads as its low half.
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

/// A literal: the high half of a 64-bit float, else zero-extended.
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
