//! Pairs of saturated integers (PTX ISA 9.7.9.23, `cvt.pack`).

use super::{Alu, Mods, flagged};
use crate::ptx::regs::{Run, map2, map3};
use crate::ptx::types::Type::{B, S};

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let (run, sources): (Run, usize) = match m.parts[1..] {
        ["pack", "sat", "s16", "s32"] => (
            |r, x, m| map2(r, x, m, |a: i32, b: i32| pair(a, b, -0x8000..=0x7fff, 16)),
            2,
        ),
        ["pack", "sat", "u16", "s32"] => (
            |r, x, m| map2(r, x, m, |a: i32, b: i32| pair(a, b, 0..=0xffff, 16)),
            2,
        ),
        ["pack", "sat", "s8", "s32", "b32"] => (
            |r, x, m| {
                map3(r, x, m, |a: i32, b: i32, c: u32| {
                    pair(a, b, -0x80..=0x7f, 8) | c << 16
                });
            },
            3,
        ),
        ["pack", "sat", "u8", "s32", "b32"] => (
            |r, x, m| {
                map3(r, x, m, |a: i32, b: i32, c: u32| {
                    pair(a, b, 0..=0xff, 8) | c << 16
                });
            },
            3,
        ),
        _ => return None,
    };
    flagged(run, &[B(32), S(32), S(32), B(32)][..=sources], 0)
}

/// `a` and `b`, limited to a range, in `bits` bits each. `b` is in the low bits.
fn pair(a: i32, b: i32, range: std::ops::RangeInclusive<i32>, bits: u32) -> u32 {
    let part = |value: i32| value.clamp(*range.start(), *range.end()) as u32 & ((1 << bits) - 1);
    part(a) << bits | part(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::alu::testing::on_words;

    #[test]
    fn saturated_integers_are_packed_above_each_other() {
        let of = |opcode: &str, sources: [i32; 3]| {
            let alu = decode(&Mods::new(opcode)).unwrap();
            on_words(&alu, sources.map(|source| source as u32))
        };
        let third = 0x7777_1234;
        assert_eq!(
            of("cvt.pack.sat.s8.s32.b32", [300, -300, third]),
            0x1234_7f80
        );
        assert_eq!(of("cvt.pack.sat.u8.s32.b32", [-1, 300, third]), 0x1234_00ff);
        assert_eq!(of("cvt.pack.sat.s16.s32", [-70000, 5, 0]), 0x8000_0005);
        assert_eq!(of("cvt.pack.sat.u16.s32", [70000, -5, 0]), 0xffff_0000);
    }
}
