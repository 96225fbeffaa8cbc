//! The product of a matrix with 16 rows and one with 8 columns, whose elements lie in the registers of a warp as those of
//! `mma.sync` do (PTX ISA 9.7.14.5.7 to 9.7.14.5.10): four lanes hold `RUN` consecutive elements of a row or a column.

use std::ops::{AddAssign, Mul};

use pulp::Simd;

use super::factors::Form;
use super::regs::{LANES, Regs};
use crate::lanes::{each, over};

/// Rows of the product that are summed up at once, so that one sum does not wait for another.
const AT_ONCE: usize = 8;

/// The rows of the first matrix: a list of every part of a lane, so that nothing is moved between lanes. Element `k` is at
/// `k / parts` of list `k % parts`.
pub(super) type Rows<T, const OF_PART: usize, const PARTS: usize> = [[[T; OF_PART]; 16]; PARTS];

/// The rows of the first matrix: registers hold rows 0 to 7 and 8 to 15 in turns.
#[inline(always)]
pub(super) fn rows<F: Form, const OF_PART: usize, const PARTS: usize>(
    regs: &Regs,
    registers: &[u32],
    out: &mut Rows<F::Element, OF_PART, PARTS>,
) {
    for (i, &register) in registers.iter().enumerate() {
        let words = &regs.words[register as usize];
        for (part, out) in out.iter_mut().enumerate() {
            let values = over(words, |word| F::part(word, part));
            let rows = &mut out[i % 2 * 8..][..8];
            for (row, values) in rows.iter_mut().zip(values.as_chunks::<4>().0) {
                if let Some(to) = row.as_chunks_mut::<4>().0.get_mut(i / 2) {
                    *to = *values;
                }
            }
        }
    }
}

/// The columns of the second matrix, by its rows.
#[inline(always)]
pub(super) fn columns<F: Form, const K: usize, const RUN: usize>(
    regs: &Regs,
    registers: &[u32],
    out: &mut [[F::Element; 8]; K],
) {
    for (out, &register) in out.as_chunks_mut::<RUN>().0.iter_mut().zip(registers) {
        let words = &regs.words[register as usize];
        // By elements of a column, not by columns.
        let turned: [u32; LANES] = each(|i| words[i % 8 * 4 + i / 8]);
        for part in 0..F::PARTS {
            let values = over(&turned, |word| F::part(word, part));
            for (i, values) in values.as_chunks::<8>().0.iter().enumerate() {
                out[i * F::PARTS + part] = *values;
            }
        }
    }
}

/// Sums of products by ascending `k`, row by row.
#[inline(always)]
pub(super) fn product<T, const K: usize, const OF_PART: usize, const PARTS: usize>(
    a: &Rows<T, OF_PART, PARTS>,
    b: &[[T; 8]; K],
) -> [T; 128]
where
    T: Copy + Default + AddAssign + Mul<Output = T>,
{
    let mut out = [T::default(); 128];
    for (row, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        for (k, b) in b.iter().enumerate() {
            let a = a[k % PARTS][row][k / PARTS];
            for (sum, &b) in out.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    out
}

/// The same with fused instructions, if there are any. If no product overflows and none is denormal, as those of `f16`
/// never do, products are exact, and fusing changes nothing.
#[inline(always)]
pub(super) fn fused_product<S: Simd, const K: usize, const OF_PART: usize, const PARTS: usize>(
    simd: S,
    a: &Rows<f32, OF_PART, PARTS>,
    b: &[[f32; 8]; K],
) -> [f32; 128] {
    const MAX_VECTORS: usize = 2;
    let vectors = 8 / S::F32_LANES;
    if S::IS_SCALAR || vectors * S::F32_LANES != 8 || vectors > MAX_VECTORS {
        return product(a, b);
    }
    let mut out = [0.0; 128];
    for (eight, out) in out.chunks_exact_mut(8 * AT_ONCE).enumerate() {
        let mut sums = [[simd.splat_f32s(0.0); MAX_VECTORS]; AT_ONCE];
        for (k, b) in b.iter().enumerate() {
            let b = S::as_simd_f32s(b).0;
            let list = &a[k % PARTS];
            for (row, sums) in sums.iter_mut().enumerate() {
                let a = simd.splat_f32s(list[AT_ONCE * eight + row][k / PARTS]);
                for (sum, &b) in sums[..vectors].iter_mut().zip(b) {
                    *sum = simd.mul_add_f32s(a, b, *sum);
                }
            }
        }
        let to = S::as_mut_simd_f32s(out).0.chunks_exact_mut(vectors);
        for (to, sums) in to.zip(&sums) {
            to.copy_from_slice(&sums[..vectors]);
        }
    }
    out
}
