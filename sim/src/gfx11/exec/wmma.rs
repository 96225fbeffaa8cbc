//! Matrix products of a wave.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 7.9 ("Wave Matrix Multiply Accumulate"), for waves of 32 lanes: lane `l`
//! holds row `l % 16` of A, or column `l % 16` of B, in both halves of the wave. Register `r` of C and D holds row
//! `2 * r + l / 16`, column `l % 16`. The document does not say in which order products are added; here each is added in 32
//! bits by its index.

use pulp::{Simd, WithSimd};

use super::convert::f16_bits;
use super::packed_operands::parts;
use crate::FaultKind;
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::isa::operand::Src;
use crate::gfx11::isa::packed::PackedOp;
use crate::gfx11::wave::{Lanes, Wave};
use crate::halves::{finite_half_value, half_value, has_special_halves};
use crate::wide::wide;

/// Sixteen elements: of the rows of A or the columns of B, those of one `k`.
type Line = [f32; 16];

#[inline(always)]
fn bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to bfloat16, to nearest even.
fn bf16_bits(value: f32) -> u32 {
    u32::from(half::bf16::from_f32(value).to_bits())
}

/// All lanes of both halves must agree in the registers of A and B.
#[inline(always)]
fn check(w: &Wave, one: &Packed, count: usize) -> Result<(), FaultKind> {
    for n in 0..2 {
        for r in 0..count {
            let lanes = register(w, one.src[n], r);
            let mut different = 0;
            for lane in 0..16 {
                different |= lanes[lane] ^ lanes[lane + 16];
            }
            if different != 0 {
                return Err(differ(one, n, r, &lanes));
            }
        }
    }
    Ok(())
}

#[inline(never)]
fn differ(one: &Packed, n: usize, r: usize, lanes: &Lanes) -> FaultKind {
    let lane = (0..16).find(|&lane| lanes[lane] != lanes[lane + 16]);
    let lane = lane.unwrap_or_default();
    let (name, matrix) = (one.op.name(), ["A", "B"][n]);
    let what = format!(
        "{name} needs every row of A and column of B in both halves of the wave, but register {r} of {matrix} holds {:#x} in \
         lane {lane} and {:#x} in lane {}",
        lanes[lane],
        lanes[lane + 16],
        lane + 16
    );
    FaultKind::Invalid { what }
}

#[inline(always)]
fn register(w: &Wave, src: Src, r: usize) -> Lanes {
    match src {
        Src::Vector(first) => w.vector[usize::from(first.wrapping_add(r as u8))],
        _ => w.lanes(src),
    }
}

/// A or B, in 32 bits.
#[inline(always)]
fn lines(w: &Wave, one: &Packed, n: usize, value: impl Fn(u32) -> f32) -> [Line; 16] {
    let mut lines = [[0.0; 16]; 16];
    let flips = [
        u32::from(one.neg_low >> n & 1) << 15,
        u32::from(one.neg_high >> n & 1) << 15,
    ];
    for r in 0..8 {
        let words = register(w, one.src[n], r);
        for i in 0..16 {
            lines[2 * r][i] = value(words[i] & 0xffff ^ flips[0]);
            lines[2 * r + 1][i] = value(words[i] >> 16 ^ flips[1]);
        }
    }
    lines
}

/// Adds the products of A and B to the rows of C.
///
/// Fused instructions add them, if there are any. If no product overflows and none is denormal, as those of `f16` never
/// do, products are exact, and fusing changes nothing.
#[inline(always)]
fn multiply<S: Simd>(simd: S, a: &[Line; 16], b: &[Line; 16], sum: &mut [Line; 16]) {
    const VECTORS: usize = 2;
    if S::IS_SCALAR || S::F32_LANES * VECTORS != 16 {
        return multiply_one_by_one(a, b, sum);
    }
    // Four rows at once, so that one sum does not wait for another.
    for (i, four) in sum.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; 4];
        for (sums, row) in sums.iter_mut().zip(&*four) {
            sums.copy_from_slice(S::as_simd_f32s(row).0);
        }
        for (a, b) in a.iter().zip(b) {
            let b = S::as_simd_f32s(b).0;
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = simd.splat_f32s(a[4 * i + row]);
                for (sum, &b) in sums.iter_mut().zip(b) {
                    *sum = simd.mul_add_f32s(factor, b, *sum);
                }
            }
        }
        for (sums, row) in sums.iter().zip(four) {
            S::as_mut_simd_f32s(row).0.copy_from_slice(sums);
        }
    }
}

#[inline(always)]
fn multiply_one_by_one(a: &[Line; 16], b: &[Line; 16], sum: &mut [Line; 16]) {
    // Four rows at once, so that one sum does not wait for another.
    for (i, four) in sum.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let mut sums = *four;
        for (a, b) in a.iter().zip(b) {
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = a[4 * i + row];
                for (sum, value) in sums.iter_mut().zip(b) {
                    *sum += factor * value;
                }
            }
        }
        *four = sums;
    }
}

/// Executes a matrix product.
pub(super) fn wmma(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    if w.exec() != u32::MAX {
        let what = format!(
            "{} needs all lanes, and the mask is {:#x}",
            one.op.name(),
            w.exec()
        );
        return Err(FaultKind::Invalid { what });
    }
    match one.op {
        PackedOp::WmmaI32Iu8 | PackedOp::WmmaI32Iu4 => integers(w, one),
        _ => wide(Floats { w, one }),
    }
}

struct Floats<'a> {
    w: &'a mut Wave,
    one: &'a Packed,
}

impl WithSimd for Floats<'_> {
    type Output = Result<(), FaultKind>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<(), FaultKind> {
        let Floats { w, one } = self;
        check(w, one, 8)?;
        let half = |bits| half_value(bits as u16);
        match one.op {
            PackedOp::WmmaF32F16 => match has_special_factors(w, one) {
                true => to_single(simd, w, one, half),
                false => to_single(simd, w, one, |bits| finite_half_value(bits << 16)),
            },
            PackedOp::WmmaF32Bf16 => to_single(simd, w, one, bf16),
            PackedOp::WmmaF16F16 => to_half(simd, w, one, half, f16_bits),
            _ => to_half(simd, w, one, bf16, bf16_bits),
        }
        Ok(())
    }
}

/// Whether A or B has an `f16` that is infinite or not a number.
#[inline(always)]
fn has_special_factors(w: &Wave, one: &Packed) -> bool {
    let mut special = false;
    for n in 0..2 {
        for r in 0..8 {
            special |= has_special_halves(&register(w, one.src[n], r)[..16]);
        }
    }
    special
}

#[inline(always)]
fn to_single<S: Simd>(simd: S, w: &mut Wave, one: &Packed, value: impl Fn(u32) -> f32) {
    let (a, b) = (lines(w, one, 0, &value), lines(w, one, 1, &value));
    let mut sum = addend(w, one, f32::from_bits);
    multiply(simd, &a, &b, &mut sum);
    store(w, one, |row, column, _| sum[row][column].to_bits());
}

/// C and D are halves of registers.
#[inline(always)]
fn to_half<S: Simd>(
    simd: S,
    w: &mut Wave,
    one: &Packed,
    value: impl Fn(u32) -> f32,
    bits: impl Fn(f32) -> u32,
) {
    let (a, b) = (lines(w, one, 0, &value), lines(w, one, 1, &value));
    let shift = if one.select_low & 4 != 0 { 16 } else { 0 };
    let mut sum = addend(w, one, |bits| value(bits >> shift & 0xffff));
    multiply(simd, &a, &b, &mut sum);
    store(w, one, |row, column, old| {
        old & !(0xffff << shift) | bits(sum[row][column]) << shift
    });
}

/// Rows of C.
#[inline(always)]
fn addend(w: &Wave, one: &Packed, value: impl Fn(u32) -> f32) -> [Line; 16] {
    let mut rows = [[0.0; 16]; 16];
    for r in 0..8 {
        let lanes = register(w, one.src[2], r);
        for (row, lanes) in rows[2 * r..].iter_mut().zip(lanes.as_chunks::<16>().0) {
            for (to, &bits) in row.iter_mut().zip(lanes) {
                let value = value(bits);
                let value = if one.neg_high & 4 != 0 {
                    value.abs()
                } else {
                    value
                };
                *to = if one.neg_low & 4 != 0 { -value } else { value };
            }
        }
    }
    rows
}

/// Writes D; the function has the row, the column and the former value.
#[inline(always)]
fn store(w: &mut Wave, one: &Packed, value: impl Fn(usize, usize, u32) -> u32) {
    for r in 0..8 {
        let lanes = &mut w.vector[usize::from(one.dst.wrapping_add(r as u8))];
        for (half, lanes) in lanes.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            for (column, bits) in lanes.iter_mut().enumerate() {
                *bits = value(2 * r + half, column, *bits);
            }
        }
    }
}

fn integers(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    let (bits, count) = if one.op == PackedOp::WmmaI32Iu8 {
        (8, 4)
    } else {
        (4, 2)
    };
    check(w, one, count)?;
    let line = |n: usize, lane: usize| -> Vec<i64> {
        let is_signed = one.neg_low >> n & 1 != 0;
        let words = (0..count).map(|r| register(w, one.src[n], r)[lane]);
        words
            .flat_map(|word| parts(word, bits, is_signed))
            .collect()
    };
    let rows: Vec<Vec<i64>> = (0..16).map(|lane| line(0, lane)).collect();
    let columns: Vec<Vec<i64>> = (0..16).map(|lane| line(1, lane)).collect();
    let addends: Vec<Lanes> = (0..8).map(|r| register(w, one.src[2], r)).collect();
    store(w, one, |row, column, _| {
        let sum: i64 = rows[row]
            .iter()
            .zip(&columns[column])
            .map(|(a, b)| a * b)
            .sum();
        let sum = sum + i64::from(addends[row / 2][row % 2 * 16 + column] as i32);
        match one.clamp {
            true => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            false => sum as u32,
        }
    });
    Ok(())
}
