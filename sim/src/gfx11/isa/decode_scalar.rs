//! Decodes scalar instructions: SOP1, SOP2, SOPC, SOPK and SOPP.

use super::instruction::{Flow, Instruction, Scalar};
use super::operand::{NULL, Src, Type, UnknownOperand, source};
use super::program_flow::FlowOp;
use super::scalar::ScalarOp;
use super::words::{Decoded, Words, bits};

pub(super) fn sop2(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    let op = ScalarOp::of(bits(word, 23, 7)).ok_or(UnknownOperand)?;
    two_sources(words, op, bits(word, 16, 7) as u8)
}

pub(super) fn sopc(words: &mut Words<'_>) -> Decoded {
    let op = ScalarOp::of(0x200 + bits(words.first(), 16, 7)).ok_or(UnknownOperand)?;
    two_sources(words, op, NULL)
}

fn two_sources(words: &mut Words<'_>, op: ScalarOp, dst: u8) -> Decoded {
    let word = words.first();
    let (a, b) = (bits(word, 0, 8), bits(word, 8, 8));
    let (_, types) = op.types();
    let fused = matches!(op, ScalarOp::FmaakF32 | ScalarOp::FmamkF32);
    let literal = match fused {
        true => Some(words.next()?),
        false => words.literal(&[a, b])?,
    };
    Ok(Instruction::Scalar(Scalar {
        op,
        name: op.name(),
        dst,
        a: source(a, types[0], literal)?,
        b: source(b, types[1], literal)?,
        literal: literal.unwrap_or(0),
    }))
}

pub(super) fn sop1(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    let op = ScalarOp::of(0x100 + bits(word, 8, 8)).ok_or(UnknownOperand)?;
    let a = bits(word, 0, 8);
    let (_, types) = op.types();
    let a = match types.first() {
        Some(&ty) => {
            let literal = words.literal(&[a])?;
            source(a, ty, literal)?
        }
        None => Src::Constant(0),
    };
    Ok(Instruction::Scalar(Scalar {
        op,
        name: op.name(),
        dst: bits(word, 16, 7) as u8,
        a,
        b: Src::Constant(0),
        literal: 0,
    }))
}

/// Decodes SOPK into the instruction that it abbreviates. The destination register is also the first source.
pub(super) fn sopk(words: &mut Words<'_>) -> Decoded {
    use ScalarOp::*;
    let word = words.first();
    let (code, dst, immediate) = (bits(word, 23, 5), bits(word, 16, 7) as u8, word as u16);
    let signed = Src::Constant(u64::from(immediate as i16 as u32));
    let unsigned = Src::Constant(u64::from(immediate));
    let register = source(u32::from(dst), Type::B32, None)?;
    let (op, name, a, b) = match code {
        0x00 => (MovB32, "s_movk_i32", signed, Src::Constant(0)),
        0x02 => (CmovB32, "s_cmovk_i32", signed, Src::Constant(0)),
        0x03 => (CmpEqI32, "s_cmpk_eq_i32", register, signed),
        0x04 => (CmpLgI32, "s_cmpk_lg_i32", register, signed),
        0x05 => (CmpGtI32, "s_cmpk_gt_i32", register, signed),
        0x06 => (CmpGeI32, "s_cmpk_ge_i32", register, signed),
        0x07 => (CmpLtI32, "s_cmpk_lt_i32", register, signed),
        0x08 => (CmpLeI32, "s_cmpk_le_i32", register, signed),
        0x09 => (CmpEqU32, "s_cmpk_eq_u32", register, unsigned),
        0x0a => (CmpLgU32, "s_cmpk_lg_u32", register, unsigned),
        0x0b => (CmpGtU32, "s_cmpk_gt_u32", register, unsigned),
        0x0c => (CmpGeU32, "s_cmpk_ge_u32", register, unsigned),
        0x0d => (CmpLtU32, "s_cmpk_lt_u32", register, unsigned),
        0x0e => (CmpLeU32, "s_cmpk_le_u32", register, unsigned),
        0x0f => (AddI32, "s_addk_i32", register, signed),
        0x10 => (MulI32, "s_mulk_i32", register, signed),
        _ => return flow_of_sopk(words),
    };
    Ok(Instruction::Scalar(Scalar {
        op,
        name,
        dst,
        a,
        b,
        literal: 0,
    }))
}

fn flow_of_sopk(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    let op = FlowOp::of(0x100 + bits(word, 23, 5)).ok_or(UnknownOperand)?;
    // The value of `s_setreg_imm32_b32` is stored in the field that branches use for their target.
    let target = match op {
        FlowOp::SetregImm32B32 => words.next()?,
        _ => 0,
    };
    Ok(Instruction::Flow(Flow {
        op,
        immediate: word as u16,
        register: bits(word, 16, 7) as u8,
        target,
    }))
}

pub(super) fn sopp(word: u32) -> Decoded {
    let op = FlowOp::of(bits(word, 16, 7)).ok_or(UnknownOperand)?;
    Ok(Instruction::Flow(Flow {
        op,
        immediate: word as u16,
        register: NULL,
        target: 0,
    }))
}
