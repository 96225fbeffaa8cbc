//! Decodes machine code.
//!
//! AMD, "RDNA3 Instruction Set Architecture", chapter 15 ("Microcode Formats").

use super::decode_memory;
use super::decode_scalar;
use super::decode_vector;
use super::instruction::{Instruction, Placed, Unknown};
use super::operand::UnknownOperand;
use super::words::{Decoded, Words, bits};

/// Decodes one instruction. Returns the instruction and its number of words, which is at least 1.
///
/// # Panics
/// If `words` is empty.
pub(crate) fn instruction(words: &[u32]) -> (Instruction, usize) {
    let mut cursor = Words { words, used: 1 };
    match format(&mut cursor) {
        Ok(instruction) => (instruction, cursor.used),
        Err(UnknownOperand) => {
            let word = words[0];
            let length = length_of_unknown(word).min(words.len());
            let what = "an instruction";
            (Instruction::Unknown(Unknown { word, what }), length)
        }
    }
}

fn format(words: &mut Words<'_>) -> Decoded {
    let word = words.first();
    match word >> 26 {
        0..0x20 => match word >> 25 {
            0x3f => decode_vector::vop1(words),
            0x3e => decode_vector::vopc(words),
            _ => decode_vector::vop2(words),
        },
        0x20..0x30 => match word >> 23 {
            0x17d => decode_scalar::sop1(words),
            0x17e => decode_scalar::sopc(words),
            0x17f => decode_scalar::sopp(word),
            0x160..0x17d => decode_scalar::sopk(words),
            _ => decode_scalar::sop2(words),
        },
        0x32 => decode_vector::vopd(words),
        0x33 if bits(word, 24, 2) == 0 => decode_vector::vop3p(words),
        0x35 => decode_vector::vop3(words),
        0x36 => decode_memory::ds(words),
        0x37 => decode_memory::flat(words),
        0x38 => decode_memory::mubuf(words),
        0x3d => decode_memory::smem(words),
        _ => Err(UnknownOperand),
    }
}

/// The number of words of an unknown instruction, according to the formats in chapter 15.
fn length_of_unknown(word: u32) -> usize {
    match word >> 26 {
        0x32..=0x38 | 0x3d | 0x3e => 2,
        0x3c => 2 + bits(word, 0, 1) as usize,
        _ => 1,
    }
}

/// Decodes a whole section. Branch targets become indices of instructions. The second result maps each word to the
/// index of the instruction that begins there, or to [`NOT_AN_INSTRUCTION`].
pub(crate) fn section(bytes: &[u8]) -> (Vec<Placed>, Vec<u32>) {
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let mut index = vec![NOT_AN_INSTRUCTION; words.len()];
    let mut placed = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (instruction, length) = instruction(&words[at..]);
        index[at] = placed.len() as u32;
        placed.push(Placed {
            offset: at as u32 * 4,
            instruction,
        });
        at += length;
    }
    for one in &mut placed {
        if let Instruction::Flow(flow) = &mut one.instruction
            && flow.op.branches()
        {
            let target = i64::from(one.offset / 4) + 1 + i64::from(flow.immediate as i16);
            let target = usize::try_from(target).ok().and_then(|at| index.get(at));
            flow.target = target.copied().unwrap_or(NOT_AN_INSTRUCTION);
        }
    }
    (placed, index)
}

/// Marks a word at which no instruction begins.
pub(crate) const NOT_AN_INSTRUCTION: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_words_are_too_strange_for_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let (placed, index) = section(&bytes);
            prop_assert_eq!(index.len(), bytes.len() / 4);
            for one in &placed {
                prop_assert!(!one.instruction.to_string().is_empty());
            }
        }

        #[test]
        fn no_vector_instruction_is_too_strange(op in 0u32..0x400, low in any::<u16>(), words in any::<[u32; 2]>()) {
            let first = 0xd400_0000 | op << 16 | u32::from(low);
            let (instruction, length) = instruction(&[first, words[0], words[1]]);
            prop_assert!((1..=3).contains(&length));
            prop_assert!(!instruction.to_string().is_empty());
        }
    }
}
