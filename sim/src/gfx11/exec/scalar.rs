//! Executes scalar instructions.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of each instruction in SOP1, SOP2, SOPC and SOPK.

use super::scalar_float;
use crate::FaultKind;
use crate::gfx11::isa::instruction::Scalar;
use crate::gfx11::isa::operand::{EXEC, Type};
use crate::gfx11::isa::scalar::ScalarOp;
use crate::gfx11::wave::Wave;

/// The next instruction after a scalar instruction.
pub(in crate::gfx11) enum Jump {
    /// The following instruction.
    Next,
    /// The instruction at this address.
    To(u64),
}

/// A result, and the new condition code if the instruction writes it.
type Outcome = (u64, Option<bool>);

/// Executes a scalar instruction. `after` is the address of the following instruction.
pub(in crate::gfx11) fn scalar(w: &mut Wave, one: &Scalar, after: u64) -> Result<Jump, FaultKind> {
    use ScalarOp::*;
    let (dst_type, types) = one.op.types();
    let read = |src, n: usize| match types.get(n) {
        Some(Type::B64) => w.scalar64(src),
        _ => u64::from(w.scalar32(src)),
    };
    let (a, b) = (read(one.a, 0), read(one.b, 1));
    match one.op {
        GetpcB64 => w.put_s64(one.dst, after),
        SetpcB64 => return Ok(Jump::To(a)),
        SwappcB64 => {
            w.put_s64(one.dst, after);
            return Ok(Jump::To(a));
        }
        MovrelsB32 | MovrelsB64 | MovreldB32 | MovreldB64 => moved(w, one, a)?,
        _ => {
            let outcome = logic(one.op, a, b)
                .or_else(|| sums(w, one.op, a as u32, b as u32))
                .or_else(|| masks(w, one.op, a as u32))
                .or_else(|| fields(w, one, a, b))
                .or_else(|| compared(w, one.op, a, b))
                .or_else(|| {
                    let dst = w.s32(one.dst);
                    let value =
                        scalar_float::arithmetic(w, one.op, a as u32, b as u32, dst, one.literal)?;
                    Some((u64::from(value), None))
                });
            let Some((value, scc)) = outcome else {
                return Err(FaultKind::NotImplemented {
                    what: one.name.into(),
                });
            };
            match dst_type {
                Type::Nothing => {}
                Type::B64 => w.put_s64(one.dst, value),
                _ => w.put_s32(one.dst, value as u32),
            }
            if let Some(scc) = scc {
                w.scc = scc;
            }
        }
    }
    Ok(Jump::Next)
}

/// Moves between registers. One of the two registers is specified by its distance `m0` from an operand.
fn moved(w: &mut Wave, one: &Scalar, a: u64) -> Result<(), FaultKind> {
    use ScalarOp::*;
    let m0 = w.m0();
    let relative = |register: u8| {
        let index = u32::from(register).wrapping_add(m0);
        match index {
            0..106 => Ok(index as u8),
            _ => Err(FaultKind::Invalid {
                what: format!("{} names the scalar register {index}", one.name),
            }),
        }
    };
    let source = match one.a {
        crate::gfx11::isa::operand::Src::Scalar(register) => register,
        _ => 0,
    };
    match one.op {
        MovrelsB32 => w.put_s32(one.dst, w.s32(relative(source)?)),
        MovrelsB64 => w.put_s64(one.dst, w.s64(relative(source)?)),
        MovreldB32 => w.put_s32(relative(one.dst)?, a as u32),
        _ => w.put_s64(relative(one.dst)?, a),
    }
    Ok(())
}

/// Moves and logic operations. Logic sets the condition code if the result is not zero.
fn logic(op: ScalarOp, a: u64, b: u64) -> Option<Outcome> {
    use ScalarOp::*;
    let set32 = |value: u64| Some((value & 0xffff_ffff, Some(value as u32 != 0)));
    let set = |value: u64| Some((value, Some(value != 0)));
    match op {
        MovB32 | MovB64 => Some((a, None)),
        NotB32 => set32(!a),
        NotB64 => set(!a),
        AndB32 | AndB64 => set(a & b),
        OrB32 | OrB64 => set(a | b),
        XorB32 | XorB64 => set(a ^ b),
        NandB32 => set32(!(a & b)),
        NandB64 => set(!(a & b)),
        NorB32 => set32(!(a | b)),
        NorB64 => set(!(a | b)),
        XnorB32 => set32(!(a ^ b)),
        XnorB64 => set(!(a ^ b)),
        AndNot1B32 | AndNot1B64 => set(a & !b),
        OrNot1B32 => set32(a | !b),
        OrNot1B64 => set(a | !b),
        LshlB32 => set32(a << (b & 31)),
        LshlB64 => set(a << (b & 63)),
        LshrB32 => set32(a >> (b & 31)),
        LshrB64 => set(a >> (b & 63)),
        AshrI32 => set32((a as u32 as i32 >> (b & 31)) as u32 as u64),
        AshrI64 => set((a as i64 >> (b & 63)) as u64),
        WqmB32 => set32(
            (0..8)
                .map(|quad| 0xf << (4 * quad))
                .filter(|quad| a & quad != 0)
                .sum(),
        ),
        BrevB32 => Some((u64::from((a as u32).reverse_bits()), None)),
        BrevB64 => Some((a.reverse_bits(), None)),
        _ => None,
    }
}

/// 32-bit sums and products.
fn sums(w: &Wave, op: ScalarOp, a: u32, b: u32) -> Option<Outcome> {
    use ScalarOp::*;
    let plain = |value: u32| Some((u64::from(value), None));
    let with = |value: u32, scc: bool| Some((u64::from(value), Some(scc)));
    let (x, y) = (a as i32, b as i32);
    let shifted = |n: u32| {
        let sum = (u64::from(a) << n) + u64::from(b);
        with(sum as u32, sum >> 32 != 0)
    };
    match op {
        AddU32 => with(a.wrapping_add(b), a.checked_add(b).is_none()),
        SubU32 => with(a.wrapping_sub(b), b > a),
        AddI32 => with(a.wrapping_add(b), x.checked_add(y).is_none()),
        SubI32 => with(a.wrapping_sub(b), x.checked_sub(y).is_none()),
        AddcU32 => {
            let sum = u64::from(a) + u64::from(b) + u64::from(w.scc);
            with(sum as u32, sum >> 32 != 0)
        }
        SubbU32 => {
            let difference = i64::from(a) - i64::from(b) - i64::from(w.scc);
            with(difference as u32, difference < 0)
        }
        AbsdiffI32 => {
            let difference = x.wrapping_sub(y).wrapping_abs() as u32;
            with(difference, difference != 0)
        }
        AbsI32 => with(x.wrapping_abs() as u32, a != 0),
        Lshl1AddU32 => shifted(1),
        Lshl2AddU32 => shifted(2),
        Lshl3AddU32 => shifted(3),
        Lshl4AddU32 => shifted(4),
        MinI32 => with(x.min(y) as u32, x < y),
        MinU32 => with(a.min(b), a < b),
        MaxI32 => with(x.max(y) as u32, x >= y),
        MaxU32 => with(a.max(b), a >= b),
        MulI32 => plain(a.wrapping_mul(b)),
        MulHiU32 => plain(((u64::from(a) * u64::from(b)) >> 32) as u32),
        MulHiI32 => plain(((i64::from(x) * i64::from(y)) >> 32) as u32),
        _ => None,
    }
}

/// Operations that write EXEC. Their result is the previous value of EXEC, or the new value if the mnemonic contains
/// `wrexec`.
fn masks(w: &mut Wave, op: ScalarOp, a: u32) -> Option<Outcome> {
    use ScalarOp::*;
    let exec = w.exec();
    let new = match op {
        AndSaveexecB32 => a & exec,
        OrSaveexecB32 => a | exec,
        XorSaveexecB32 => a ^ exec,
        NandSaveexecB32 => !(a & exec),
        NorSaveexecB32 => !(a | exec),
        XnorSaveexecB32 => !(a ^ exec),
        AndNot0SaveexecB32 | AndNot0WrexecB32 => !a & exec,
        OrNot0SaveexecB32 => !a | exec,
        AndNot1SaveexecB32 | AndNot1WrexecB32 => a & !exec,
        OrNot1SaveexecB32 => a | !exec,
        _ => return None,
    };
    w.put_s32(EXEC, new);
    let result = match op {
        AndNot0WrexecB32 | AndNot1WrexecB32 => new,
        _ => exec,
    };
    Some((u64::from(result), Some(new != 0)))
}

/// Bit operations, bit fields and selections.
fn fields(w: &Wave, one: &Scalar, a: u64, b: u64) -> Option<Outcome> {
    use ScalarOp::*;
    let (x, y) = (a as u32, b as u32);
    let (offset, width) = (y & 31, y >> 16 & 0x7f);
    let low = |width: u32| 1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
    let set = |value: u64| Some((value, Some(value != 0)));
    let plain = |value: u64| Some((value, None));
    let position = |found: u32, none: u32| {
        plain(if found == none {
            0xffff_ffff
        } else {
            u64::from(found)
        })
    };
    let old = w.s64(one.dst);
    match one.op {
        BfeU32 => set(u64::from(x) >> offset & low(width)),
        BfeI32 => set(
            sign_extended(u64::from(x) >> offset & low(width), width.min(32 - offset))
                & 0xffff_ffff,
        ),
        BfeU64 => set(a >> (y & 63) & low(width)),
        BfeI64 => set(sign_extended(
            a >> (y & 63) & low(width),
            width.min(64 - (y & 63)),
        )),
        BfmB32 => plain((low(x & 31) << (y & 31)) & 0xffff_ffff),
        BfmB64 => plain(low(x & 63) << (y & 63)),
        CselectB32 | CselectB64 => plain(if w.scc { a } else { b }),
        CmovB32 => plain(if w.scc { a } else { old & 0xffff_ffff }),
        CmovB64 => plain(if w.scc { a } else { old }),
        PackLlB32B16 => plain(a & 0xffff | (b & 0xffff) << 16),
        PackLhB32B16 => plain(a & 0xffff | (b >> 16 & 0xffff) << 16),
        PackHhB32B16 => plain(a >> 16 & 0xffff | (b >> 16 & 0xffff) << 16),
        PackHlB32B16 => plain(a >> 16 & 0xffff | (b & 0xffff) << 16),
        CtzI32B32 => position(x.trailing_zeros(), 32),
        CtzI32B64 => position(a.trailing_zeros(), 64),
        ClzI32U32 => position(x.leading_zeros(), 32),
        ClzI32U64 => position(a.leading_zeros(), 64),
        ClsI32 => position((x ^ (x as i32 >> 31) as u32).leading_zeros(), 32),
        ClsI32I64 => position((a ^ (a as i64 >> 63) as u64).leading_zeros(), 64),
        SextI32I8 => plain(u64::from(x as i8 as u32)),
        SextI32I16 => plain(u64::from(x as i16 as u32)),
        Bitset0B32 => plain(old & !(1 << (x & 31)) & 0xffff_ffff),
        Bitset1B32 => plain((old | 1 << (x & 31)) & 0xffff_ffff),
        Bitset0B64 => plain(old & !(1 << (x & 63))),
        Bitset1B64 => plain(old | 1 << (x & 63)),
        Bcnt0I32B32 => set(u64::from(x.count_zeros())),
        Bcnt0I32B64 => set(u64::from(a.count_zeros())),
        Bcnt1I32B32 => set(u64::from(x.count_ones())),
        Bcnt1I32B64 => set(u64::from(a.count_ones())),
        BitreplicateB64B32 => plain((0..32).map(|bit| ((a >> bit & 1) * 3) << (2 * bit)).sum()),
        _ => None,
    }
}

fn sign_extended(value: u64, width: u32) -> u64 {
    match width {
        0 => 0,
        1..64 => ((value << (64 - width)) as i64 >> (64 - width)) as u64,
        _ => value,
    }
}

/// Comparisons. Their only result is the condition code.
fn compared(w: &Wave, op: ScalarOp, a: u64, b: u64) -> Option<Outcome> {
    use ScalarOp::*;
    let (x, y) = (a as u32 as i32, b as u32 as i32);
    let (a32, b32) = (a as u32, b as u32);
    let scc = match op {
        CmpEqI32 | CmpEqU32 => a32 == b32,
        CmpLgI32 | CmpLgU32 => a32 != b32,
        CmpGtI32 => x > y,
        CmpGeI32 => x >= y,
        CmpLtI32 => x < y,
        CmpLeI32 => x <= y,
        CmpGtU32 => a32 > b32,
        CmpGeU32 => a32 >= b32,
        CmpLtU32 => a32 < b32,
        CmpLeU32 => a32 <= b32,
        CmpEqU64 => a == b,
        CmpLgU64 => a != b,
        Bitcmp0B32 => a >> (b & 31) & 1 == 0,
        Bitcmp1B32 => a >> (b & 31) & 1 == 1,
        Bitcmp0B64 => a >> (b & 63) & 1 == 0,
        Bitcmp1B64 => a >> (b & 63) & 1 == 1,
        _ => scalar_float::comparison(w, op, a32, b32)?,
    };
    Some((0, Some(scc)))
}
