//! The product of a matrix with 16 rows and one with 8 columns, whose elements lie in the registers of a warp as those of
//! `mma.sync` do (PTX ISA 9.7.14.5.7 to 9.7.14.5.10).

use std::ops::{AddAssign, Mul};

use super::regs::{LANES, Regs};

/// The rows of the first matrix: registers hold rows 0 to 7 and 8 to 15 in turns. The function gives the elements of a
/// register as they lie there.
#[inline(always)]
pub(super) fn rows<T: Copy + Default, const K: usize>(
    regs: &Regs,
    registers: &[u32],
    elements: impl Fn(&[u32; LANES], &mut [T]),
) -> [[T; K]; 16] {
    let mut out = [[T::default(); K]; 16];
    let mut all = [T::default(); 4 * LANES];
    // Lanes `4 i` to `4 i + 3` hold consecutive elements of row `i`.
    let run = 2 * K / registers.len();
    for (i, &register) in registers.iter().enumerate() {
        elements(&regs.words[register as usize], &mut all[..8 * run]);
        for (row, from) in all[..8 * run].chunks_exact(run).enumerate() {
            let to = &mut out[row + i % 2 * 8][i / 2 * run..][..run];
            to.copy_from_slice(from);
        }
    }
    out
}

/// The columns of the second matrix, by its rows.
#[inline(always)]
pub(super) fn columns<T: Copy + Default, const K: usize>(
    regs: &Regs,
    registers: &[u32],
    elements: impl Fn(&[u32; LANES], &mut [T]),
) -> [[T; 8]; K] {
    let mut out = [[T::default(); 8]; K];
    let mut all = [T::default(); 4 * LANES];
    // Lanes `4 i` to `4 i + 3` hold consecutive elements of column `i`.
    let run = K / registers.len();
    for (i, &register) in registers.iter().enumerate() {
        elements(&regs.words[register as usize], &mut all[..8 * run]);
        for (k, to) in out[i * run..][..run].iter_mut().enumerate() {
            for (column, to) in to.iter_mut().enumerate() {
                *to = all[column * run + k];
            }
        }
    }
    out
}

/// Sums of products by ascending `k`, row by row.
#[inline(always)]
pub(super) fn product<T: Copy + Default + AddAssign + Mul<Output = T>, const K: usize>(
    a: &[[T; K]; 16],
    b: &[[T; 8]; K],
) -> [T; 128] {
    let mut out = [T::default(); 128];
    for (a, out) in a.iter().zip(out.chunks_exact_mut(8)) {
        let mut sums = [T::default(); 8];
        for (&a, b) in a.iter().zip(b) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
        out.copy_from_slice(&sums);
    }
    out
}
