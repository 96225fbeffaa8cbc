//! The product of a matrix with 16 rows and a matrix with 8 columns. The elements are distributed over the registers of
//! a warp as for `mma.sync` (PTX ISA 9.7.14.5.7 to 9.7.14.5.10). In each register, four consecutive lanes have elements
//! of the same row of the first matrix, or of the same column of the second matrix.

use std::ops::{AddAssign, Mul};

use pulp::Simd;

use super::factors::Form;
use super::regs::{LANES, Regs};
use crate::lanes::{apart, over};

/// Number of rows that are summed at the same time, so additions need not wait for each other. A register has 8 rows.
const ROWS: usize = 8;

/// The first matrix in the layout of the registers, so no element moves between lanes. The indices are the register,
/// the part of a lane's word, and the lane. Registers contain rows 0 to 7 and rows 8 to 15 alternately.
pub(super) type Rows<T, const PARTS: usize, const REGISTERS: usize> =
    [[[T; LANES]; PARTS]; REGISTERS];
/// The second matrix. Its row `k` is at index `k / PARTS` of part `k % PARTS`. Even columns precede odd columns.
pub(super) type Columns<T, const PARTS: usize, const OF_PART: usize> = [[[T; 8]; OF_PART]; PARTS];
/// The product in the layout of the accumulators. Accumulator `i` of a lane is in row `lane / 4 + i / 2 * 8` and column
/// `lane % 4 * 2 + i % 2`.
pub(super) type Sums<T> = [[T; LANES]; 4];

/// The elements of the first matrix.
#[inline(always)]
pub(super) fn rows<F: Form, const PARTS: usize, const REGISTERS: usize>(
    regs: &Regs,
    registers: &[u32],
    out: &mut Rows<F::Element, PARTS, REGISTERS>,
) {
    for (out, &register) in out.iter_mut().zip(registers) {
        let words = &regs.words[register as usize];
        for (part, out) in out.iter_mut().enumerate() {
            *out = over(words, |word| F::part(word, part));
        }
    }
}

/// The elements of the second matrix.
#[inline(always)]
pub(super) fn columns<S: Simd, F: Form, const PARTS: usize, const OF_PART: usize>(
    simd: S,
    regs: &Regs,
    registers: &[u32],
    out: &mut Columns<F::Element, PARTS, OF_PART>,
) {
    let mut words = [[0; 8]; OF_PART];
    for (words, &register) in words.as_chunks_mut::<4>().0.iter_mut().zip(registers) {
        *words = apart(simd, &regs.words[register as usize]);
    }
    for (part, out) in out.iter_mut().enumerate() {
        let (words, out) = (words.as_flattened(), out.as_flattened_mut());
        for (out, word) in out.iter_mut().zip(words) {
            *out = F::part(*word, part);
        }
    }
}

/// Sums products by ascending `k`, row by row.
#[inline(always)]
pub(super) fn product<
    T: Copy + Default + AddAssign + Mul<Output = T>,
    const PARTS: usize,
    const OF_PART: usize,
    const REGISTERS: usize,
>(
    a: &Rows<T, PARTS, REGISTERS>,
    b: &Columns<T, PARTS, OF_PART>,
    out: &mut Sums<T>,
) {
    for row in 0..2 * ROWS {
        let mut sums = [T::default(); 8];
        for i in 0..OF_PART {
            for part in 0..PARTS {
                let a = a[row / ROWS + i / 4 * 2][part][row % ROWS * 4 + i % 4];
                for (sum, &b) in sums.iter_mut().zip(&b[part][i]) {
                    *sum += a * b;
                }
            }
        }
        put(row, sums, out);
    }
}

/// Stores the sums of a row in the layout of the accumulators.
#[inline(always)]
fn put<T: Copy>(row: usize, sums: [T; 8], out: &mut Sums<T>) {
    let accumulators = &mut out.as_chunks_mut::<2>().0[row / ROWS];
    for (lanes, sums) in accumulators.iter_mut().zip(sums.as_chunks::<4>().0) {
        lanes.as_chunks_mut::<4>().0[row % ROWS] = *sums;
    }
}

/// The product with fused instructions, if the processor has them. If no product overflows or is denormal, which holds
/// for all `f16` factors, products are exact, and fusing does not change the result.
#[inline(always)]
pub(super) fn fused_product<
    S: Simd,
    const PARTS: usize,
    const OF_PART: usize,
    const REGISTERS: usize,
>(
    simd: S,
    a: &Rows<f32, PARTS, REGISTERS>,
    b: &Columns<f32, PARTS, OF_PART>,
    out: &mut Sums<f32>,
) {
    const MAX_VECTORS: usize = 2;
    let vectors = 8 / S::F32_LANES;
    if S::IS_SCALAR || vectors * S::F32_LANES != 8 || vectors > MAX_VECTORS {
        return product(a, b, out);
    }
    for eight in 0..2 {
        let mut sums = [[simd.splat_f32s(0.0); MAX_VECTORS]; ROWS];
        for i in 0..OF_PART {
            let a = &a[eight + i / 4 * 2];
            for (row, sums) in sums.iter_mut().enumerate() {
                for (a, b) in a.iter().zip(b) {
                    let a = simd.splat_f32s(a[4 * row + i % 4]);
                    let b = S::as_simd_f32s(&b[i]).0;
                    for (sum, &b) in sums[..vectors].iter_mut().zip(b) {
                        *sum = simd.mul_add_f32s(a, b, *sum);
                    }
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            let mut eight_sums = [0.0; 8];
            let to = S::as_mut_simd_f32s(&mut eight_sums).0;
            to.copy_from_slice(&sums[..vectors]);
            put(ROWS * eight + row, eight_sums, out);
        }
    }
}
