//! Instructions on matrices (PTX ISA 9.7.14.5), which all lanes of a warp execute.

use super::access::{Surroundings, Trouble, addresses, at_lane};
use super::count;
use crate::FaultKind;
use crate::lanes::over;
use crate::ptx::cells::Intent;
use crate::ptx::code::{Address, File, MatrixOp, Room};
use crate::ptx::regs::{LANES, Regs};
use crate::ptx::space::resolve;
use crate::ptx::warp::Warp;

/// The bytes of a row of eight elements.
const ROW: usize = 16;
/// Eight rows of eight elements.
type Matrix = [[u16; 8]; 8];

/// Executes an instruction on matrices.
pub(super) fn matrix(
    s: &mut Surroundings,
    w: &mut Warp,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Trouble> {
    if mask != !0 {
        let what =
            format!("an instruction on matrices needs all lanes, and {mask:#010x} are there");
        return Err(FaultKind::Invalid { what }.into());
    }
    match op {
        MatrixOp::Mma(mma) => mma.run(&mut w.regs),
        MatrixOp::Transpose { d, a } => {
            let a = to_matrix(&w.regs.words[*a as usize]);
            w.regs.words[*d as usize] = turned_to_lanes(&a);
        }
        MatrixOp::Load {
            address,
            transposed: turns,
            d,
        } => {
            let rows = rows(s, &w.regs, address, d.len(), Intent::Read)?;
            for (rows, &d) in rows.chunks_exact(8).zip(d) {
                let mut matrix = [[0; 8]; 8];
                for (row, &at) in matrix.iter_mut().zip(rows) {
                    *row = load(s.shared.bytes(), at);
                }
                w.regs.words[d as usize] = match turns {
                    true => turned_to_lanes(&matrix),
                    false => to_lanes(&matrix),
                };
            }
        }
        MatrixOp::Store {
            address,
            transposed: turns,
            a,
        } => {
            let rows = rows(s, &w.regs, address, a.len(), Intent::Write)?;
            for (rows, &a) in rows.chunks_exact(8).zip(a) {
                let matrix = to_matrix(&w.regs.words[a as usize]);
                let matrix = if *turns { transposed(&matrix) } else { matrix };
                for (&at, row) in rows.iter().zip(&matrix) {
                    store(s.shared.bytes_mut(), at, row);
                }
            }
        }
    }
    Ok(())
}

/// A lane holds two elements of row `lane / 4` (9.7.14.5.15).
#[inline(always)]
fn to_lanes(matrix: &Matrix) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    for (lanes, row) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(matrix) {
        for (lane, [low, high]) in lanes.iter_mut().zip(row.as_chunks::<2>().0) {
            *lane = u32::from(*low) | u32::from(*high) << 16;
        }
    }
    lanes
}

/// The same of the transposed matrix.
#[inline(always)]
fn turned_to_lanes(matrix: &Matrix) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    for (i, [low, high]) in matrix.as_chunks::<2>().0.iter().enumerate() {
        for (column, (low, high)) in low.iter().zip(high).enumerate() {
            lanes[4 * column + i] = u32::from(*low) | u32::from(*high) << 16;
        }
    }
    lanes
}

#[inline(always)]
fn to_matrix(lanes: &[u32; LANES]) -> Matrix {
    let mut matrix = [[0; 8]; 8];
    for (row, lanes) in matrix.iter_mut().zip(lanes.as_chunks::<4>().0) {
        for (pair, lane) in row.as_chunks_mut::<2>().0.iter_mut().zip(lanes) {
            *pair = [*lane as u16, (*lane >> 16) as u16];
        }
    }
    matrix
}

#[inline(always)]
fn transposed(matrix: &Matrix) -> Matrix {
    let mut out = [[0; 8]; 8];
    for (row, from) in matrix.iter().enumerate() {
        for (column, from) in from.iter().enumerate() {
            out[column][row] = *from;
        }
    }
    out
}

#[inline(always)]
fn load(bytes: &[u8], at: usize) -> [u16; 8] {
    let mut row = [0; 8];
    if let Some(bytes) = bytes.get(at..at + ROW) {
        for (to, from) in row.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *to = u16::from_le_bytes(*from);
        }
    }
    row
}

#[inline(always)]
fn store(bytes: &mut [u8], at: usize, row: &[u16; 8]) {
    let to = bytes
        .get_mut(at..)
        .and_then(|rest| rest.first_chunk_mut::<ROW>());
    if let Some(to) = to {
        for (to, value) in to.chunks_exact_mut(2).zip(row) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// The rows of the matrices: lane `8 i + j` has the address of row `j` of matrix `i`; each has 16 bytes. Those of matrices
/// that are not there mean nothing.
fn rows(
    s: &mut Surroundings,
    regs: &Regs,
    address: &Address,
    matrices: usize,
    intent: Intent,
) -> Result<[usize; LANES], Trouble> {
    let given = addresses(regs, address);
    let generic = address.room == Room::Generic && address.base.file == File::Long;
    let at = match generic {
        true => over(&given, |at| resolve(at).1),
        false => given,
    };
    let mask = ((1u64 << (8 * matrices)) - 1) as u32;
    if !count::note(s, &at, ROW as u32, mask, intent) {
        for lane in crate::ptx::regs::lanes(mask) {
            let who = s.who(lane);
            let checked = s.shared.check(at[lane], ROW as u32, intent, who);
            checked.map_err(at_lane(lane))?;
        }
    }
    Ok(over(&at, |at| at as usize))
}
