//! Scalar float instructions of RDNA 3.5.
//!
//! AMD, "RDNA3.5 Instruction Set Architecture", SOP1, SOP2 and SOPC.

use half::f16;

use super::convert::{f16_bits, toward_zero};
use super::float16::{self, narrow, wide};
use super::float32;
use crate::gfx11::isa::scalar::ScalarOp;
use crate::gfx11::wave::Wave;

/// A 32-bit float operand. Denormals are flushed if the mode requires it.
fn operand(w: &Wave, bits: u32) -> f32 {
    let flushed = w.mode.denormals & 1 == 0 && bits & 0x7f80_0000 == 0;
    f32::from_bits(if flushed { bits & 0x8000_0000 } else { bits })
}

/// The result of a float instruction, or `None` for other instructions.
pub(super) fn arithmetic(
    w: &Wave,
    op: ScalarOp,
    a: u32,
    b: u32,
    dst: u32,
    literal: u32,
) -> Option<u32> {
    use ScalarOp::*;
    let (x, y) = (operand(w, a), operand(w, b));
    let literal = operand(w, literal);
    let ieee = w.mode.ieee;
    let value = match op {
        AddF32 => x + y,
        SubF32 => x - y,
        MulF32 => x * y,
        MinF32 => float32::min(ieee, x, y),
        MaxF32 => float32::max(ieee, x, y),
        FmaakF32 => x.mul_add(y, literal),
        FmamkF32 => x.mul_add(literal, y),
        FmacF32 => x.mul_add(y, operand(w, dst)),
        CeilF32 => x.ceil(),
        FloorF32 => x.floor(),
        TruncF32 => x.trunc(),
        RndneF32 => x.round_ties_even(),
        CvtF32I32 => a as i32 as f32,
        CvtF32U32 => a as f32,
        CvtF32F16 => f16::from_bits(a as u16).to_f32(),
        CvtHiF32F16 => f16::from_bits((a >> 16) as u16).to_f32(),
        _ => return other(op, a, b, dst),
    };
    let bits = value.to_bits();
    let flushed = w.mode.denormals & 2 == 0 && bits & 0x7f80_0000 == 0;
    Some(if flushed { bits & 0x8000_0000 } else { bits })
}

fn other(op: ScalarOp, a: u32, b: u32, dst: u32) -> Option<u32> {
    use ScalarOp::*;
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (p, q) = (wide(a), wide(b));
    Some(match op {
        CvtI32F32 => x as i32 as u32,
        CvtU32F32 => x as u32,
        CvtF16F32 => f16_bits(x),
        CvtPkRtzF16F32 => u32::from(toward_zero(x)) | u32::from(toward_zero(y)) << 16,
        AddF16 => narrow(p + q),
        SubF16 => narrow(p - q),
        MulF16 => narrow(p * q),
        MinF16 => narrow(float16::min(p, q)),
        MaxF16 => narrow(float16::max(p, q)),
        FmacF16 => narrow(float16::fma(p, q, wide(dst))),
        CeilF16 => narrow(p.ceil()),
        FloorF16 => narrow(p.floor()),
        TruncF16 => narrow(p.trunc()),
        RndneF16 => narrow(p.round_ties_even()),
        _ => return None,
    })
}

/// The condition of a float comparison, or `None` for other instructions.
pub(super) fn comparison(w: &Wave, op: ScalarOp, a: u32, b: u32) -> Option<bool> {
    use ScalarOp::*;
    let narrow = op.types().1.first() == Some(&crate::gfx11::isa::operand::Type::F16);
    let (x, y) = match narrow {
        true => (wide(a), wide(b)),
        false => (operand(w, a).into(), operand(w, b).into()),
    };
    let unordered = x.is_nan() || y.is_nan();
    Some(match op {
        CmpLtF32 | CmpLtF16 => x < y,
        CmpEqF32 | CmpEqF16 => x == y,
        CmpLeF32 | CmpLeF16 => x <= y,
        CmpGtF32 | CmpGtF16 => x > y,
        CmpLgF32 | CmpLgF16 => x != y,
        CmpGeF32 | CmpGeF16 => x >= y,
        CmpOF32 | CmpOF16 => !unordered,
        CmpUF32 | CmpUF16 => unordered,
        CmpNgeF32 | CmpNgeF16 => unordered || x < y,
        CmpNlgF32 | CmpNlgF16 => unordered || x == y,
        CmpNgtF32 | CmpNgtF16 => unordered || x <= y,
        CmpNleF32 | CmpNleF16 => unordered || x > y,
        CmpNeqF32 | CmpNeqF16 => x != y,
        CmpNltF32 | CmpNltF16 => unordered || x >= y,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denormal_operands_are_flushed_if_the_mode_requires_it() {
        const ONE: u32 = 0x3f80_0000;
        let of = |denormals| {
            let w = Wave::filled(0, denormals);
            let sum = arithmetic(&w, ScalarOp::FmacF32, 0, ONE, 1, 0);
            (sum, comparison(&w, ScalarOp::CmpLgF32, 1, 0))
        };
        assert_eq!(of(15), (Some(1), Some(true)));
        assert_eq!(of(14), (Some(0), Some(false)));
        assert_eq!(of(13), (Some(0), Some(true)));
    }
}
