//! The input and output of the decoders of all formats.

use super::instruction::Instruction;
use super::operand::UnknownOperand;

/// The words of the code, from the current instruction to the end.
pub(super) struct Words<'a> {
    pub words: &'a [u32],
    /// Number of words that the instruction has used so far.
    pub used: usize,
}

impl Words<'_> {
    /// The first word of the instruction.
    pub fn first(&self) -> u32 {
        self.words[0]
    }

    /// The next word of the instruction.
    pub fn next(&mut self) -> Result<u32, UnknownOperand> {
        let word = self.words.get(self.used).copied().ok_or(UnknownOperand)?;
        self.used += 1;
        Ok(word)
    }

    /// The literal, which is the next word, if one of the operands is 255. Otherwise `None`.
    pub fn literal(&mut self, operands: &[u32]) -> Result<Option<u32>, UnknownOperand> {
        match operands.contains(&255) {
            true => self.next().map(Some),
            false => Ok(None),
        }
    }
}

/// The `count` bits of a word that begin at bit `low`.
pub(super) fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// The result of a decoder. It is an error if the bits are not a known instruction.
pub(super) type Decoded = Result<Instruction, UnknownOperand>;
