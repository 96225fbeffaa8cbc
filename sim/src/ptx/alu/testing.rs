//! Executes single instructions on registers, for tests.

use super::Alu;
use crate::ptx::regs::{Args, LANES, Regs};

/// A lane that the tests look at.
const LANE: usize = 7;

/// The indices of the destination and of up to three sources.
fn args(alu: &Alu, d: u32) -> Args {
    Args {
        d,
        a: 0,
        b: 1,
        c: 2,
        flags: alu.flags,
        ..Args::default()
    }
}

/// The result of an instruction whose sources and destination are 32-bit registers.
pub(super) fn on_words<const N: usize>(alu: &Alu, sources: [u32; N]) -> u32 {
    let mut regs = Regs::garbage(4, 0, 1, 7);
    for (row, source) in regs.words.iter_mut().zip(sources) {
        *row = [source; LANES];
    }
    (alu.run)(&mut regs, &args(alu, 3), !0);
    regs.words[3][LANE]
}

/// The result of an instruction whose sources and destination are 64-bit registers.
pub(super) fn on_longs<const N: usize>(alu: &Alu, sources: [u64; N]) -> u64 {
    let mut regs = Regs::garbage(0, 4, 1, 7);
    for (row, source) in regs.longs.iter_mut().zip(sources) {
        *row = [source; LANES];
    }
    (alu.run)(&mut regs, &args(alu, 3), !0);
    regs.longs[3][LANE]
}
