//! Decodes vector instructions: VOP1, VOP2, VOPC, VOP3, VOP3P and VOPD.

use super::compare::CompareOp;
use super::dpp::{DPP8, DPP8_FETCH_INACTIVE, DPP16, dpp8, dpp16};
use super::instruction::{Compare, Dpp, DualOp, Half, Instruction, Modifiers, Packed, Vector};
use super::operand::{EXEC, Src, Type, UnknownOperand, VCC, source};
use super::packed::PackedOp;
use super::vector::VectorOp;
use super::words::{Decoded, Words, bits};

/// The first source of an instruction, with its DPP control if it has one.
struct First {
    bits: u32,
    dpp: Option<Box<Dpp>>,
}

/// Reads the DPP word that follows the instruction, if `source` (the code of the first source) says that there is one.
/// Adds the modifiers of DPP16 to `mods`. Returns the actual first source.
fn first(
    words: &mut Words<'_>,
    source: u32,
    mods: &mut Modifiers,
) -> Result<First, UnknownOperand> {
    let dpp = match source {
        DPP8 | DPP8_FETCH_INACTIVE => {
            let word = words.next()?;
            (word, dpp8(word, source == DPP8_FETCH_INACTIVE))
        }
        DPP16 => {
            let word = words.next()?;
            mods.neg |= (bits(word, 20, 1) | bits(word, 22, 1) << 1) as u8;
            mods.abs |= (bits(word, 21, 1) | bits(word, 23, 1) << 1) as u8;
            (word, dpp16(word)?)
        }
        _ => {
            return Ok(First {
                bits: source,
                dpp: None,
            });
        }
    };
    Ok(First {
        bits: 256 + bits(dpp.0, 0, 8),
        dpp: Some(Box::new(dpp.1)),
    })
}

/// A vector register of a short encoding. For 16-bit types, the numbers from 128 on mean the high halves of the
/// registers from 0 on.
fn halved(src: Src, ty: Type, bit: u32, mods: &mut Modifiers) -> Src {
    match src {
        Src::Vector(register) if ty.is_half() && register >= 128 => {
            mods.high |= 1 << bit;
            Src::Vector(register - 128)
        }
        _ => src,
    }
}

fn vector(
    op: VectorOp,
    dst: u8,
    sdst: u8,
    src: [Src; 3],
    mods: Modifiers,
    dpp: Option<Box<Dpp>>,
) -> Instruction {
    let modified = mods != Modifiers::default();
    Instruction::Vector(Vector {
        op,
        dst,
        sdst,
        src,
        modified,
        mods,
        dpp,
    })
}

const NONE: Src = Src::Constant(0);

pub(super) fn vop1(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    let op = VectorOp::of(0x180 + bits(word, 9, 8)).ok_or(UnknownOperand)?;
    let (dst_ty, types) = op.types();
    let mut mods = Modifiers::default();
    let Some(&ty) = types.first() else {
        return Ok(vector(op, 0, 0, [NONE; 3], mods, None));
    };
    let first = first(words, bits(word, 0, 9), &mut mods)?;
    let literal = words.literal(&[first.bits])?;
    let a = halved(source(first.bits, ty, literal)?, ty, 0, &mut mods);
    let dst = short_result(bits(word, 17, 8), dst_ty, &mut mods);
    Ok(vector(op, dst, 0, [a, NONE, NONE], mods, first.dpp))
}

/// The result register of a short encoding.
fn short_result(bits: u32, ty: Type, mods: &mut Modifiers) -> u8 {
    match ty.is_half() && bits >= 128 {
        true => {
            mods.high |= 8;
            bits as u8 - 128
        }
        false => bits as u8,
    }
}

pub(super) fn vop2(words: &mut Words<'_>) -> Decoded {
    use VectorOp::*;
    let word = words.first();
    let op = VectorOp::of(0x100 + bits(word, 25, 6)).ok_or(UnknownOperand)?;
    let (dst_ty, types) = op.types();
    let mut mods = Modifiers::default();
    let dst = short_result(bits(word, 17, 8), dst_ty, &mut mods);
    let first = first(words, bits(word, 0, 9), &mut mods)?;
    let fused = matches!(op, FmaakF32 | FmamkF32 | FmaakF16 | FmamkF16);
    let literal = match fused {
        true => Some(words.next()?),
        false => words.literal(&[first.bits])?,
    };
    let a = halved(
        source(first.bits, types[0], literal)?,
        types[0],
        0,
        &mut mods,
    );
    let b = halved(Src::Vector(bits(word, 9, 8) as u8), types[1], 1, &mut mods);
    let constant = Src::Constant(u64::from(literal.unwrap_or(0)));
    let src = match op {
        FmaakF32 | FmaakF16 => [a, b, constant],
        FmamkF32 | FmamkF16 => {
            // The addend moves to the position of the second factor, and its half selection moves with it.
            mods.high = mods.high & !2 | (mods.high & 2) << 1;
            [a, constant, b]
        }
        CndmaskB32 | AddCoCiU32 | SubCoCiU32 | SubrevCoCiU32 => [a, b, Src::Scalar(VCC)],
        _ => [a, b, NONE],
    };
    Ok(vector(op, dst, VCC, src, mods, first.dpp))
}

pub(super) fn vopc(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    let op = CompareOp::of(bits(word, 17, 8)).ok_or(UnknownOperand)?;
    let types = op.types();
    let mut mods = Modifiers::default();
    let first = first(words, bits(word, 0, 9), &mut mods)?;
    let literal = words.literal(&[first.bits])?;
    let a = halved(
        source(first.bits, types[0], literal)?,
        types[0],
        0,
        &mut mods,
    );
    let b = halved(Src::Vector(bits(word, 9, 8) as u8), types[1], 1, &mut mods);
    let sdst = if op.to_exec { EXEC } else { VCC };
    Ok(Instruction::Compare(Compare {
        op,
        sdst,
        src: [a, b],
        mods,
        dpp: first.dpp,
    }))
}

/// Whether a VOP3 instruction has a scalar result instead of the modifiers `abs` and `op_sel`.
fn has_scalar_result(op: VectorOp) -> bool {
    use VectorOp::*;
    matches!(
        op,
        AddCoU32
            | SubCoU32
            | SubrevCoU32
            | AddCoCiU32
            | SubCoCiU32
            | SubrevCoCiU32
            | DivScaleF32
            | DivScaleF64
            | MadU64U32
            | MadI64I32
    )
}

pub(super) fn vop3(words: &mut Words<'_>) -> Decoded {
    let (word, second) = (words.first(), words.next()?);
    let code = bits(word, 16, 10);
    let mut mods = Modifiers {
        abs: bits(word, 8, 3) as u8,
        neg: bits(second, 29, 3) as u8,
        high: bits(word, 11, 4) as u8,
        clamp: bits(word, 15, 1) != 0,
        omod: bits(second, 27, 2) as u8,
    };
    let sources = [bits(second, 0, 9), bits(second, 9, 9), bits(second, 18, 9)];
    let dst = bits(word, 0, 8) as u8;
    if code < 0x100 {
        let op = CompareOp::of(code).ok_or(UnknownOperand)?;
        let types = op.types();
        let first = first(words, sources[0], &mut mods)?;
        let literal = words.literal(&[first.bits, sources[1]])?;
        let src = [
            source(first.bits, types[0], literal)?,
            source(sources[1], types[1], literal)?,
        ];
        let sdst = if op.to_exec { EXEC } else { dst };
        return Ok(Instruction::Compare(Compare {
            op,
            sdst,
            src,
            mods,
            dpp: first.dpp,
        }));
    }
    let op = VectorOp::of(code).ok_or(UnknownOperand)?;
    let mut sdst = 0;
    if has_scalar_result(op) {
        sdst = bits(word, 8, 7) as u8;
        mods.abs = 0;
        mods.high = 0;
    }
    let (_, types) = op.types();
    let mut src = [NONE; 3];
    let mut dpp = None;
    if !types.is_empty() {
        let first = first(words, sources[0], &mut mods)?;
        let numbers = [first.bits, sources[1], sources[2]];
        let literal = words.literal(&numbers[..types.len()])?;
        for ((src, &ty), &number) in src.iter_mut().zip(types).zip(&numbers) {
            *src = source(number, ty, literal)?;
        }
        dpp = first.dpp;
    }
    Ok(vector(op, dst, sdst, src, mods, dpp))
}

pub(super) fn vop3p(words: &mut Words<'_>) -> Decoded {
    let (word, second) = (words.first(), words.next()?);
    let op = PackedOp::of(bits(word, 16, 7)).ok_or(UnknownOperand)?;
    let mut none = Modifiers::default();
    let first = first(words, bits(second, 0, 9), &mut none)?;
    let numbers = [first.bits, bits(second, 9, 9), bits(second, 18, 9)];
    let (_, shape) = op.shape();
    let select_high = (bits(second, 27, 2) | bits(word, 14, 1) << 2) as u8;
    let literal = words.literal(&numbers[..shape.len()])?;
    let mut src = [NONE; 3];
    for (i, &(ty, _)) in shape.iter().enumerate() {
        let mixed = matches!(
            op,
            PackedOp::FmaMixF32 | PackedOp::FmaMixloF16 | PackedOp::FmaMixhiF16
        );
        let ty = if mixed && select_high >> i & 1 != 0 {
            Type::PkF16
        } else {
            ty
        };
        src[i] = source(numbers[i], ty, literal)?;
    }
    Ok(Instruction::Packed(Packed {
        op,
        dst: bits(word, 0, 8) as u8,
        src,
        neg_low: bits(second, 29, 3) as u8,
        neg_high: bits(word, 8, 3) as u8,
        select_low: bits(word, 11, 3) as u8,
        select_high,
        clamp: bits(word, 15, 1) != 0,
        dpp: first.dpp,
    }))
}

fn dual_op(code: u32) -> Option<DualOp> {
    Some(match code {
        0 => DualOp::Fmac,
        1 => DualOp::Fmaak,
        2 => DualOp::Fmamk,
        3 => DualOp::Mul,
        4 => DualOp::Add,
        5 => DualOp::Sub,
        6 => DualOp::Subrev,
        7 => DualOp::MulDx9Zero,
        8 => DualOp::Mov,
        9 => DualOp::Cndmask,
        10 => DualOp::Max,
        11 => DualOp::Min,
        12 => DualOp::Dot2accF16,
        16 => DualOp::AddNc,
        17 => DualOp::Lshlrev,
        18 => DualOp::And,
        _ => return None,
    })
}

pub(super) fn vopd(words: &mut Words<'_>) -> Decoded {
    let (word, second) = (words.first(), words.next()?);
    let x = dual_op(bits(word, 22, 4)).ok_or(UnknownOperand)?;
    let y = dual_op(bits(word, 17, 5)).ok_or(UnknownOperand)?;
    let (a, b) = (bits(word, 0, 9), bits(second, 0, 9));
    let fused = |op| matches!(op, DualOp::Fmaak | DualOp::Fmamk);
    let literal = match fused(x) || fused(y) {
        true => Some(words.next()?),
        false => words.literal(&[a, b])?,
    };
    let dst = bits(second, 24, 8) as u8;
    let half = |op, number, b, dst| {
        let ty = match op {
            DualOp::Dot2accF16 => Type::PkF16,
            DualOp::AddNc | DualOp::Lshlrev | DualOp::And => Type::B32,
            _ => Type::F32,
        };
        let a = source(number, ty, literal)?;
        Ok(Half {
            op,
            dst,
            a,
            b: b as u8,
            literal: literal.unwrap_or(0),
        })
    };
    // One of the two result registers is even and the other is odd.
    let other = (bits(second, 17, 7) << 1) as u8 | (!dst & 1);
    Ok(Instruction::Dual(Box::new([
        half(x, a, bits(word, 9, 8), dst)?,
        half(y, b, bits(second, 9, 8), other)?,
    ])))
}
