//! Integer instructions on the bytes or the 16-bit parts of a word: dot products (PTX ISA 9.7.1.23 and 9.7.1.24), and
//! the SIMD video instructions (PTX ISA, "SIMD Video Instructions").

use super::{Alu, Mods, flagged};
use crate::ptx::regs::{Run, map3};
use crate::ptx::types::Type::{self, S, U};

const SIGNED_A: u32 = 1;
const SIGNED_B: u32 = 2;
/// `dp2a` takes the two upper bytes of `b`.
const HIGH: u32 = 4;
/// The parts have 16 bits.
const HALVES: u32 = 4;
const SIGNED_RESULT: u32 = 8;
const SATURATES: u32 = 16;
/// The parts of the result are added to `c`.
const ADDS: u32 = 32;
/// The bit of `flags` at which the operation's index in [`OPERATIONS`] begins.
const OPERATION: u32 = 8;

type Operation = fn(i32, i32) -> i32;

/// The operations of the SIMD video instructions, without the number of parts.
const OPERATIONS: [(&str, Operation); 6] = [
    ("vadd", |a, b| a + b),
    ("vsub", |a, b| a - b),
    ("vavrg", |a, b| (a + b + i32::from(a + b >= 0)) >> 1),
    ("vabsdiff", |a, b| (a - b).abs()),
    ("vmin", i32::min),
    ("vmax", i32::max),
];

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    match m.name() {
        "dp4a" | "dp2a" => dots(m),
        _ => video(m),
    }
}

/// Part `i` of a word, as a number.
fn part(word: u32, i: u32, bits: u32, signed: bool) -> i32 {
    let part = word << (32 - bits * (i + 1)) >> (32 - bits);
    match signed {
        true => (part << (32 - bits)) as i32 >> (32 - bits),
        false => part as i32,
    }
}

/// `dp4a` and `dp2a`. The types in the opcode are those of `a` and `b`, in this order.
fn dots(m: &Mods) -> Option<Alu> {
    let [a, b] = m.types()[..] else { return None };
    let run: Run = match m.name() {
        "dp4a" => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, c: u32| {
                dot(a, b, c, x.flags, [8, 4, 0])
            })
        },
        _ => |r, x, m| {
            map3(r, x, m, |a: u32, b: u32, c: u32| {
                let first = if x.flags & HIGH != 0 { 2 } else { 0 };
                dot(a, b, c, x.flags, [16, 2, first])
            })
        },
    };
    let flags = signs(a, b) | if m.has("hi") { HIGH } else { 0 };
    flagged(run, &[U(32), a, b, U(32)], flags)
}

/// `c` plus the dot product of `count` parts of `a`, which have `bits` bits each, and the bytes of `b` from `first` on.
fn dot(a: u32, b: u32, c: u32, flags: u32, [bits, count, first]: [u32; 3]) -> u32 {
    let products = (0..count).map(|i| {
        part(a, i, bits, flags & SIGNED_A != 0) * part(b, first + i, 8, flags & SIGNED_B != 0)
    });
    products.fold(c, |sum, product| sum.wrapping_add(product as u32))
}

fn signs(a: Type, b: Type) -> u32 {
    (u32::from(a.signed()) * SIGNED_A) | (u32::from(b.signed()) * SIGNED_B)
}

/// `vadd4.u32.s32.s32.sat` and similar instructions on all parts, without masks and selectors.
fn video(m: &Mods) -> Option<Alu> {
    let (name, halves) = match m.name().strip_suffix('4') {
        Some(name) => (name, 0),
        None => (m.name().strip_suffix('2')?, HALVES),
    };
    let operation = OPERATIONS.iter().position(|(known, _)| *known == name)?;
    let [d @ (U(32) | S(32)), a, b] = m.types()[..] else {
        return None;
    };
    let flags = signs(a, b)
        | halves
        | (u32::from(d.signed()) * SIGNED_RESULT)
        | (u32::from(m.has("sat")) * SATURATES)
        | (u32::from(m.has("add")) * ADDS);
    let run: Run = |r, x, m| map3(r, x, m, |a, b, c| each(a, b, c, x.flags));
    flagged(run, &[d, a, b, d], flags | (operation as u32) << OPERATION)
}

fn each(a: u32, b: u32, c: u32, flags: u32) -> u32 {
    let bits = if flags & HALVES != 0 { 16 } else { 8 };
    let (_, operation) = OPERATIONS[(flags >> OPERATION) as usize];
    let limits = match flags & SIGNED_RESULT != 0 {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    let mut sum = c;
    let mut word = 0;
    for i in 0..32 / bits {
        let [a, b] = [(a, SIGNED_A), (b, SIGNED_B)]
            .map(|(word, signed)| part(word, i, bits, flags & signed != 0));
        let mut result = operation(a, b);
        if flags & SATURATES != 0 {
            result = result.clamp(limits.0, limits.1);
        }
        sum = sum.wrapping_add(result as u32);
        word |= (result as u32 & ((1 << bits) - 1)) << (bits * i);
    }
    if flags & ADDS != 0 { sum } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(opcode: &str, a: u32, b: u32, c: u32) -> u32 {
        each(a, b, c, super::video(&Mods::new(opcode)).unwrap().flags)
    }

    #[test]
    fn parts_of_words_are_combined_saturated_and_added() {
        let (a, b) = (0x80ff_0110, 0x0102_ff20);
        assert_eq!(video("vabsdiff4.u32.u32.u32", a, b, 0), 0x7ffd_fe10);
        assert_eq!(
            video("vabsdiff4.u32.u32.u32.add", a, b, 7),
            0x7f + 0xfd + 0xfe + 0x10 + 7
        );
        assert_eq!(video("vadd4.u32.u32.u32.sat", a, b, 0), 0x81ff_ff30);
        assert_eq!(video("vsub4.s32.s32.s32.sat", a, b, 0), 0x80fd_02f0);
        assert_eq!(video("vadd2.u32.u32.u32", a, b, 0), 0x8201_0030);
        assert_eq!(video("vavrg4.s32.s32.s32", a, b, 0), 0xc001_0018);
        assert_eq!(video("vmax2.s32.s32.s32", a, b, 0), 0x0102_0110);
        assert!(super::video(&Mods::new("vadd4.u32.u32")).is_none());
    }

    #[test]
    fn dot_products_take_the_bytes_that_they_name() {
        let (a, b) = (0xfffe_0003, 0x04fd_0201);
        let signed = SIGNED_A | SIGNED_B;
        assert_eq!(dot(a, b, 10, signed, [16, 2, 0]), 10 + 3 - 4);
        assert_eq!(dot(a, b, 10, signed, [16, 2, 2]), (10i32 - 9 - 8) as u32);
        assert_eq!(dot(a, b, 10, 0, [16, 2, 2]), 10 + 3 * 0xfd + 0xfffe * 4);
        assert_eq!(dot(a, b, 0, signed, [8, 4, 0]), 3 + 6 - 4);
    }
}
