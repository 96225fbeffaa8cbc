//! Matrix products of a wave.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 7.9 ("Wave Matrix Multiply Accumulate"), for waves of 32 lanes.
//! In the registers of A, lane `l` has row `l % 16`. In the registers of B, it has column `l % 16`. Both halves of the
//! wave have the same values of A and B. In register `r` of C and D, lane `l` has the element in row `2 * r + l / 16`
//! and column `l % 16`. The document does not specify the order of summation. The simulator adds the products in 32
//! bits, in ascending order of `k`, the index that A's columns and B's rows share.

use pulp::{Simd, WithSimd};

use super::convert::f16_bits;
use super::packed_operands::parts;
use crate::FaultKind;
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::isa::operand::Src;
use crate::gfx11::isa::packed::PackedOp;
use crate::gfx11::wave::{Lanes, Wave};
use crate::halves::{Specials, finite_half_value, half_value};
use crate::lanes::{Aligned, over};
use crate::wide::wide;

/// Sixteen elements with the same `k`, one of each row of A or of each column of B.
type Line = [f32; 16];
/// A factor (A or B) in 32-bit floats, indexed by `k`.
type Factor = [Line; 16];
/// The registers of a factor, in the layout of the instruction.
type Registers<'a> = [&'a Lanes; 8];
/// The bits of the sums. Each register has two rows.
type Sums = [Lanes; 8];

#[inline(always)]
fn bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to bfloat16, to nearest even, and returns the bits.
fn bf16_bits(value: f32) -> u32 {
    u32::from(half::bf16::from_f32(value).to_bits())
}

/// Checks that both halves of the wave have the same values in the registers of A and B.
#[inline(always)]
fn check(one: &Packed, factors: [&[&Lanes]; 2]) -> Result<(), FaultKind> {
    let mut different = [0; 16];
    for lanes in factors.into_iter().flatten() {
        let (low, high) = lanes.split_at(16);
        for (different, (low, high)) in different.iter_mut().zip(low.iter().zip(high)) {
            *different |= low ^ high;
        }
    }
    match different.iter().fold(0, |all, one| all | one) {
        0 => Ok(()),
        _ => Err(differ(one, factors)),
    }
}

#[inline(never)]
fn differ(one: &Packed, factors: [&[&Lanes]; 2]) -> FaultKind {
    let places = (0..2).flat_map(|n| (0..factors[n].len()).map(move |r| (n, r)));
    let mut places = places.flat_map(|(n, r)| (0..16).map(move |lane| (n, r, lane)));
    let found = places.find(|&(n, r, lane)| factors[n][r][lane] != factors[n][r][lane + 16]);
    let (n, r, lane) = found.unwrap_or_default();
    let (name, matrix, lanes) = (one.op.name(), ["A", "B"][n], factors[n][r]);
    let what = format!(
        "{name} needs every row of A and column of B in both halves of the wave, but register {r} of {matrix} holds {:#x} in \
         lane {lane} and {:#x} in lane {}",
        lanes[lane],
        lanes[lane + 16],
        lane + 16
    );
    FaultKind::Invalid { what }
}

/// The registers of a source. If the source is not a vector register, all of them are `same`.
#[inline(always)]
fn registers<'a>(w: &'a Wave, src: Src, same: &'a Lanes) -> Registers<'a> {
    match src {
        Src::Vector(first) => {
            [0, 1, 2, 3, 4, 5, 6, 7].map(|r| &w.vector[usize::from(first.wrapping_add(r))])
        }
        _ => [same; 8],
    }
}

/// The value of a source that is not a vector register.
#[inline(always)]
fn scalar(w: &Wave, src: Src) -> Lanes {
    match src {
        Src::Vector(_) => [0; 32],
        _ => w.lanes(src),
    }
}

/// Converts A and B to 32-bit floats.
#[inline(always)]
fn to_factors(
    one: &Packed,
    registers: [&Registers; 2],
    value: impl Fn(u32) -> f32,
    factors: &mut [Factor; 2],
) {
    for (n, (registers, factor)) in registers.into_iter().zip(factors).enumerate() {
        let flips = [one.neg_low, one.neg_high].map(|neg| u32::from(neg >> n & 1) << 15);
        for (lanes, lines) in registers.iter().zip(factor.as_chunks_mut::<2>().0) {
            let words: [u32; 16] = half_wave(lanes);
            for (part, line) in lines.iter_mut().enumerate() {
                for (to, word) in line.iter_mut().zip(words) {
                    *to = value(word >> (16 * part) & 0xffff ^ flips[part]);
                }
            }
        }
    }
}

/// The values of the first 16 lanes.
#[inline(always)]
fn half_wave(lanes: &Lanes) -> [u32; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&lanes[..16]);
    half
}

/// Adds the products of A and B to the rows of C.
///
/// The sums use fused instructions if the processor has them. If no product overflows or is denormal, which holds for
/// all `f16` factors, products are exact, and fusing does not change the result.
#[inline(always)]
fn multiply<S: Simd>(simd: S, a: &Factor, b: &Factor, sums: &mut Sums) {
    const VECTORS: usize = 2;
    if S::IS_SCALAR || S::F32_LANES * VECTORS != 16 {
        return multiply_one_by_one(a, b, sums);
    }
    // Four rows at once, so additions need not wait for each other.
    for (i, four) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let rows = S::as_mut_simd_f32s(bytemuck::cast_slice_mut(four.as_flattened_mut())).0;
        let mut sums = [simd.splat_f32s(0.0); 4 * VECTORS];
        sums.copy_from_slice(rows);
        for (a, b) in a.iter().zip(b) {
            let b = S::as_simd_f32s(b).0;
            for (row, sums) in sums.as_chunks_mut::<VECTORS>().0.iter_mut().enumerate() {
                let factor = simd.splat_f32s(a[4 * i + row]);
                for (sum, &b) in sums.iter_mut().zip(b) {
                    *sum = simd.mul_add_f32s(factor, b, *sum);
                }
            }
        }
        rows.copy_from_slice(&sums);
    }
}

#[inline(always)]
fn multiply_one_by_one(a: &Factor, b: &Factor, sums: &mut Sums) {
    // Four rows at once, so additions need not wait for each other.
    for (i, four) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let rows: &mut [f32] = bytemuck::cast_slice_mut(four.as_flattened_mut());
        for (a, b) in a.iter().zip(b) {
            for (row, sums) in rows.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let factor = a[4 * i + row];
                for (sum, value) in sums.iter_mut().zip(b) {
                    *sum += factor * value;
                }
            }
        }
    }
}

/// Executes a matrix product.
pub(super) fn wmma(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    if w.exec() != u32::MAX {
        let what = format!(
            "{} needs all lanes, but the mask is {:#x}",
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
        let same = [0, 1].map(|n| scalar(w, one.src[n]));
        let [a, b] = [0, 1].map(|n| registers(w, one.src[n], &same[n]));
        check(one, [&a, &b])?;
        let half = |bits| half_value(bits as u16);
        let mut factors = Aligned([[[0.0; 16]; 16]; 2]);
        match one.op {
            PackedOp::WmmaF32F16 if are_finite([&a, &b]) => {
                let finite = |bits| finite_half_value(bits << 16);
                to_factors(one, [&a, &b], finite, &mut factors.0)
            }
            PackedOp::WmmaF32F16 | PackedOp::WmmaF16F16 => {
                to_factors(one, [&a, &b], half, &mut factors.0)
            }
            _ => to_factors(one, [&a, &b], bf16, &mut factors.0),
        }
        match one.op {
            PackedOp::WmmaF32F16 | PackedOp::WmmaF32Bf16 => to_single(simd, w, one, &factors.0),
            PackedOp::WmmaF16F16 => to_half(simd, w, one, &factors.0, half, f16_bits),
            _ => to_half(simd, w, one, &factors.0, bf16, bf16_bits),
        }
        Ok(())
    }
}

/// Whether all `f16` values in the factors are finite.
#[inline(always)]
fn are_finite(factors: [&Registers; 2]) -> bool {
    let mut specials = Specials::NONE;
    for lanes in factors.into_iter().flatten() {
        specials.look_at(&half_wave(lanes));
    }
    !specials.are_there()
}

#[inline(always)]
fn to_single<S: Simd>(simd: S, w: &mut Wave, one: &Packed, [a, b]: &[Factor; 2]) {
    let first = usize::from(one.dst);
    // C and D are usually the same registers.
    if one.src[2] == Src::Vector(one.dst)
        && (one.neg_low | one.neg_high) & 4 == 0
        && let Some(sums) = w.vector[first..].first_chunk_mut()
    {
        return multiply(simd, a, b, sums);
    }
    let mut sums = addend(w, one, f32::from_bits);
    multiply(simd, a, b, &mut sums);
    store(w, one, |r, lane, _| sums[r][lane]);
}

/// Executes a product whose C and D are halves of registers.
#[inline(always)]
fn to_half<S: Simd>(
    simd: S,
    w: &mut Wave,
    one: &Packed,
    [a, b]: &[Factor; 2],
    value: impl Fn(u32) -> f32,
    bits: impl Fn(f32) -> u32,
) {
    let shift = if one.select_low & 4 != 0 { 16 } else { 0 };
    let mut sums = addend(w, one, |bits| value(bits >> shift & 0xffff));
    multiply(simd, a, b, &mut sums);
    store(w, one, |r, lane, old| {
        old & !(0xffff << shift) | bits(f32::from_bits(sums[r][lane])) << shift
    });
}

/// C, converted to 32-bit floats.
#[inline(always)]
fn addend(w: &Wave, one: &Packed, value: impl Fn(u32) -> f32) -> Sums {
    let same = scalar(w, one.src[2]);
    let registers = registers(w, one.src[2], &same);
    let signed = |bits| {
        let value = value(bits);
        let value = if one.neg_high & 4 != 0 {
            value.abs()
        } else {
            value
        };
        if one.neg_low & 4 != 0 { -value } else { value }.to_bits()
    };
    let mut sums = [[0; 32]; 8];
    for (sums, lanes) in sums.iter_mut().zip(registers) {
        *sums = over(lanes, signed);
    }
    sums
}

/// Writes D. `value` receives the register, the lane and the previous value.
#[inline(always)]
fn store(w: &mut Wave, one: &Packed, value: impl Fn(usize, usize, u32) -> u32) {
    for r in 0..8 {
        let lanes = &mut w.vector[usize::from(one.dst.wrapping_add(r as u8))];
        for (lane, bits) in lanes.iter_mut().enumerate() {
            *bits = value(r, lane, *bits);
        }
    }
}

fn integers(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    let (bits, count) = if one.op == PackedOp::WmmaI32Iu8 {
        (8, 4)
    } else {
        (4, 2)
    };
    let same = [0, 1, 2].map(|n| scalar(w, one.src[n]));
    let [a, b, c] = [0, 1, 2].map(|n| registers(w, one.src[n], &same[n]));
    check(one, [&a[..count], &b[..count]])?;
    let line = |n: usize, lane: usize| -> Vec<i64> {
        let is_signed = one.neg_low >> n & 1 != 0;
        let words = [&a, &b][n][..count].iter().map(|lanes| lanes[lane]);
        words
            .flat_map(|word| parts(word, bits, is_signed))
            .collect()
    };
    let rows: Vec<Vec<i64>> = (0..16).map(|lane| line(0, lane)).collect();
    let columns: Vec<Vec<i64>> = (0..16).map(|lane| line(1, lane)).collect();
    let addends: Vec<Lanes> = c.into_iter().copied().collect();
    store(w, one, |r, lane, _| {
        let (row, column) = (2 * r + lane / 16, lane % 16);
        let sum: i64 = rows[row]
            .iter()
            .zip(&columns[column])
            .map(|(a, b)| a * b)
            .sum();
        let sum = sum + i64::from(addends[r][lane] as i32);
        match one.clamp {
            true => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            false => sum as u32,
        }
    });
    Ok(())
}
