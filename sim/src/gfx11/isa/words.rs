//! What the decoders of all formats read and give.

use super::instruction::Instruction;
use super::operand::UnknownOperand;

/// The words of an instruction and those behind it.
pub(super) struct Words<'a> {
    pub words: &'a [u32],
    /// How many of them the instruction has.
    pub used: usize,
}

impl Words<'_> {
    /// The first word.
    pub fn first(&self) -> u32 {
        self.words[0]
    }

    /// The next word of the instruction.
    pub fn next(&mut self) -> Result<u32, UnknownOperand> {
        let word = self.words.get(self.used).copied().ok_or(UnknownOperand)?;
        self.used += 1;
        Ok(word)
    }

    /// The literal, if one of the operands is the number of a literal.
    pub fn literal(&mut self, operands: &[u32]) -> Result<Option<u32>, UnknownOperand> {
        match operands.contains(&255) {
            true => self.next().map(Some),
            false => Ok(None),
        }
    }
}

/// Some bits of a word: `count` of them from bit `low`.
pub(super) fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// What the decoder of a format gives: an error if the bits are not an instruction.
pub(super) type Decoded = Result<Instruction, UnknownOperand>;
