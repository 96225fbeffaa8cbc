//! Decodes memory instructions: SMEM, DS, FLAT, GLOBAL, SCRATCH, and the cache control of MUBUF.

use super::instruction::{Flat, Instruction, ScalarLoad, Segment, Share, Unknown};
use super::memory::{FlatOp, ShareOp};
use super::operand::{NULL, UnknownOperand};
use super::words::{Decoded, Words, bits};

pub(super) fn smem(words: &mut Words<'_>) -> Decoded {
    let (first, second) = (words.first(), words.next()?);
    let sign_extended = (second << 11) as i32 >> 11;
    let register = bits(second, 25, 7) as u8;
    match bits(first, 18, 8) {
        code @ 0..=4 => Ok(Instruction::ScalarLoad(ScalarLoad {
            words: 1 << code,
            dst: bits(first, 6, 7) as u8,
            base: (bits(first, 0, 6) << 1) as u8,
            offset: sign_extended,
            register: (register != NULL).then_some(register),
        })),
        0x20 => Ok(Instruction::Hint("s_gl1_inv")),
        0x21 => Ok(Instruction::Hint("s_dcache_inv")),
        code @ 8..=12 => {
            let what = [
                "s_buffer_load_b32",
                "s_buffer_load_b64",
                "s_buffer_load_b128",
                "s_buffer_load_b256",
            ];
            let what = what.get(code as usize - 8).unwrap_or(&"s_buffer_load_b512");
            Ok(Instruction::Unknown(Unknown { word: first, what }))
        }
        _ => Err(UnknownOperand),
    }
}

pub(super) fn ds(words: &mut Words<'_>) -> Decoded {
    let (first, second) = (words.first(), words.next()?);
    let op = ShareOp::of(bits(first, 18, 8)).ok_or(UnknownOperand)?;
    if bits(first, 17, 1) != 0 {
        return Ok(Instruction::Unknown(Unknown {
            word: first,
            what: "global data share",
        }));
    }
    Ok(Instruction::Share(Share {
        op,
        address: bits(second, 0, 8) as u8,
        data: [bits(second, 8, 8) as u8, bits(second, 16, 8) as u8],
        dst: bits(second, 24, 8) as u8,
        offsets: [bits(first, 0, 8) as u8, bits(first, 8, 8) as u8],
    }))
}

pub(super) fn flat(words: &mut Words<'_>) -> Decoded {
    let (first, second) = (words.first(), words.next()?);
    let op = FlatOp::of(bits(first, 18, 7)).ok_or(UnknownOperand)?;
    let segment = match bits(first, 16, 2) {
        0 => Segment::Flat,
        1 => Segment::Scratch,
        2 => Segment::Global,
        _ => return Err(UnknownOperand),
    };
    let base = bits(second, 16, 7) as u8;
    let has_address = segment != Segment::Scratch || bits(second, 23, 1) != 0;
    Ok(Instruction::Flat(Flat {
        op,
        segment,
        dst: bits(second, 24, 8) as u8,
        address: has_address.then_some(bits(second, 0, 8) as u8),
        data: bits(second, 8, 8) as u8,
        base: (segment != Segment::Flat && base != NULL).then_some(base),
        offset: (first << 19) as i32 >> 19,
        returns: bits(first, 14, 1) != 0,
    }))
}

pub(super) fn mubuf(words: &mut Words<'_>) -> Decoded {
    let (first, _) = (words.first(), words.next()?);
    match bits(first, 18, 8) {
        0x2b => Ok(Instruction::Hint("buffer_gl0_inv")),
        0x2c => Ok(Instruction::Hint("buffer_gl1_inv")),
        _ => Ok(Instruction::Unknown(Unknown {
            word: first,
            what: "a buffer instruction",
        })),
    }
}
