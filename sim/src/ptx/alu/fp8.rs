//! Conversions of pairs of 8-bit floats (PTX ISA 9.7.9, `cvt` with `.e4m3x2` and `.e5m2x2`).

use half::f16;

use super::{Alu, Mods, flagged};
use crate::ptx::regs::{Run, map1, map2};
use crate::ptx::rounding::{Format, Mode, round};
use crate::ptx::types::Type;

const E4M3: Format = Format {
    least: -6,
    fraction: 3,
    max: 448.0,
};
const E5M2: Format = Format {
    least: -14,
    fraction: 2,
    max: 57344.0,
};
/// The NaN of both formats.
const NAN: u8 = 0x7f;

/// Replaces a negative result by zero.
const RELU: u32 = 1;
/// The 8-bit floats are `.e5m2` and not `.e4m3`.
const WIDE_RANGE: u32 = 2;

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let suffixes: Vec<&str> = m.parts[1..]
        .iter()
        .copied()
        .filter(|part| *part != "relu")
        .collect();
    let relu = if m.has("relu") { RELU } else { 0 };
    let wide = if m.has("e5m2x2") { WIDE_RANGE } else { 0 };
    let flags = relu | wide;
    let pair = Type::B(16);
    match suffixes.as_slice() {
        ["rn", "satfinite", "e4m3x2" | "e5m2x2", "f32"] => {
            let run: Run = |r, x, m| {
                map2(r, x, m, |a: f32, b: f32| {
                    u16::from_le_bytes([b, a].map(|value| narrowed(value.into(), x.flags)))
                });
            };
            flagged(run, &[pair, Type::F32, Type::F32], flags)
        }
        ["rn", "satfinite", "e4m3x2" | "e5m2x2", "f16x2"] => {
            let run: Run = |r, x, m| {
                map1(r, x, m, |a: [f16; 2]| {
                    u16::from_le_bytes(a.map(|value| narrowed(value.to_f64(), x.flags)))
                });
            };
            flagged(run, &[pair, Type::B(32)], flags)
        }
        ["rn", "f16x2", "e4m3x2" | "e5m2x2"] => {
            let run: Run = |r, x, m| {
                map1(r, x, m, |a: u16| {
                    a.to_le_bytes().map(|bits| widened(bits, x.flags))
                });
            };
            flagged(run, &[Type::B(32), pair], flags)
        }
        _ => None,
    }
}

fn format(flags: u32) -> Format {
    if flags & WIDE_RANGE != 0 { E5M2 } else { E4M3 }
}

/// The nearest 8-bit float. A number that is too large becomes the largest one.
fn narrowed(x: f64, flags: u32) -> u8 {
    let format = format(flags);
    if x.is_nan() {
        return NAN;
    }
    let x = if flags & RELU != 0 && x <= 0.0 {
        0.0
    } else {
        x
    };
    let size = round(x.abs(), format, Mode::Near).min(format.max);
    let sign = u8::from(x.is_sign_negative()) << 7;
    let power = |n: i32| 2f64.powi(n);
    let exponent = (format.least..16)
        .rfind(|&n| power(n) <= size)
        .unwrap_or(format.least);
    // `fraction` includes the leading bit of a normal number, which adds 1 to the exponent field.
    let fraction = (size / power(exponent - format.fraction)) as u8;
    let field = ((exponent - format.least) as u8) << format.fraction;
    sign | (field + fraction)
}

/// The value of an 8-bit float.
fn widened(bits: u8, flags: u32) -> f16 {
    let format = format(flags);
    let (size, mask) = (bits & 0x7f, (1u8 << format.fraction) - 1);
    let (field, fraction) = (size >> format.fraction, size & mask);
    let is_nan = match flags & WIDE_RANGE != 0 {
        true => size > 0x7c,
        false => size == NAN,
    };
    let value = match (is_nan, size) {
        (true, _) => return f16::from_bits(0x7fff),
        (false, 0x7c) if flags & WIDE_RANGE != 0 => f64::INFINITY,
        _ => {
            let leading = if field == 0 { 0 } else { mask + 1 };
            let exponent = format.least + i32::from(field.max(1)) - 1 - format.fraction;
            f64::from(leading + fraction) * 2f64.powi(exponent)
        }
    };
    let value = if bits & 0x80 != 0 { -value } else { value };
    f16::from_f64(if flags & RELU != 0 && value <= 0.0 {
        0.0
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::alu::testing::on_words;

    /// The result of an instruction on two registers.
    fn of(opcode: &str, a: u32, b: u32) -> u32 {
        on_words(&decode(&Mods::new(opcode)).unwrap(), [a, b])
    }

    fn pair(format: &str, a: f32, b: f32) -> u32 {
        of(
            &format!("cvt.rn.satfinite.{format}.f32"),
            a.to_bits(),
            b.to_bits(),
        )
    }

    #[test]
    fn the_first_source_becomes_the_high_byte_and_large_numbers_the_largest() {
        assert_eq!(pair("e4m3x2", 1.0, -2.0), 0x38c0);
        assert_eq!(pair("e5m2x2", 1.0, -2.0), 0x3cc0);
        assert_eq!(pair("e4m3x2", 1e9, f32::NEG_INFINITY), 0x7efe);
        assert_eq!(pair("e5m2x2", 1e9, f32::NEG_INFINITY), 0x7bfb);
        assert_eq!(pair("e4m3x2", f32::NAN, -0.0), 0x7f80);
        // Ties go to even: 17 / 16 lies between 1 and 9 / 8.
        assert_eq!(pair("e4m3x2", 1.0625, 1.1875), 0x383a);
        // The least number is 2^-9, and half of it is rounded to zero.
        assert_eq!(pair("e4m3x2", 0.001_953_125, 0.000_976_562_5), 0x0100);
        assert_eq!(
            of(
                "cvt.rn.satfinite.relu.e4m3x2.f32",
                (-1f32).to_bits(),
                0x3f80_0000
            ),
            0x0038
        );
    }

    #[test]
    fn every_8_bit_float_is_a_16_bit_float_and_back() {
        for format in ["e4m3x2", "e5m2x2"] {
            for bits in 0..=255u32 {
                let wide = of(&format!("cvt.rn.f16x2.{format}"), bits << 8 | 0x38, 0);
                let back = of(&format!("cvt.rn.satfinite.{format}.f16x2"), wide, 0);
                let high = f16::from_bits((wide >> 16) as u16);
                let expected = match () {
                    () if high.is_nan() => 0x7f,
                    () if high.is_infinite() => bits - 1,
                    () => bits,
                };
                assert_eq!(back, expected << 8 | 0x38, "{format} {bits:#x}");
            }
        }
        // An .e5m2 float is the high byte of a 16-bit float.
        assert_eq!(of("cvt.rn.f16x2.e5m2x2", 0x3c01, 0), 0x3c00_0100);
        assert_eq!(of("cvt.rn.f16x2.e4m3x2", 0x7e01, 0), 0x5f00_1800);
        assert_eq!(of("cvt.rn.relu.f16x2.e4m3x2", 0xb838, 0), 0x3c00);
    }
}
