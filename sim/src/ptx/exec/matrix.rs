//! Instructions on matrices (PTX ISA 9.7.14.5), which all lanes of a warp execute.

use pulp::{Simd, WithSimd};

use super::access::{Surroundings, Trouble, addresses, at_lane};
use super::marking::bits_of;
use super::{count, warpgroup};
use crate::FaultKind;
use crate::lanes::{collect, over};
use crate::ptx::cells::Intent;
use crate::ptx::code::{Address, File, MatrixOp, Reg, Room};
use crate::ptx::regs::{LANES, Regs};
use crate::ptx::shared::Missing;
use crate::ptx::space::resolve;
use crate::ptx::warp::Warp;
use crate::wide::wide;

/// Number of bytes of a row of eight elements.
const ROW: usize = 16;
/// Eight rows of eight elements.
pub(super) type Matrix = [[u16; 8]; 8];

/// Executes an instruction on matrices.
pub(super) fn matrix(
    s: &mut Surroundings,
    w: &mut Warp,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Trouble> {
    if mask != !0 {
        let what = format!("a matrix instruction needs all lanes, but the mask is {mask:#010x}");
        return Err(FaultKind::Invalid { what }.into());
    }
    match op {
        MatrixOp::Mma(mma) => mma.run(&mut w.regs),
        MatrixOp::Warpgroup(product) => warpgroup::multiply(s, w, product)?,
        MatrixOp::Transpose { d, a } => {
            let a = to_matrix(&w.regs.words[*a as usize]);
            wide(Turn {
                rows: a,
                to: &mut w.regs.words[*d as usize],
            });
        }
        MatrixOp::Load {
            address,
            transposed,
            d,
        } => {
            let rows = rows(s, w, address, d.len(), Intent::Read, |s, w, at, mask| {
                check_loads(s, w, (d, *transposed), at, mask)
            })?;
            for (rows, &d) in rows.as_chunks().0.iter().zip(d) {
                let to = &mut w.regs.words[d as usize];
                match transposed {
                    true => {
                        let rows = load(s.shared.bytes(), rows);
                        wide(Turn { rows, to });
                    }
                    false => to_lanes(s.shared.bytes(), rows, to),
                }
            }
        }
        MatrixOp::Store {
            address,
            transposed: turns,
            a,
        } => {
            let rows = rows(s, w, address, a.len(), Intent::Write, |s, _, at, mask| {
                check_stores(s, at, mask)
            })?;
            for (rows, &a) in rows.chunks_exact(8).zip(a) {
                let matrix = from_lanes(&w.regs.words[a as usize], *turns);
                for (&at, row) in rows.iter().zip(&matrix) {
                    store(s.shared.bytes_mut(), at as usize, row);
                }
            }
        }
    }
    Ok(())
}

/// Marks the registers that `ldmatrix` loaded from rows with bytes that hold no value.
#[inline(never)]
fn mark_matrices(w: &mut Warp, d: &[u32], transposed: bool, missing: &[Option<Missing>; LANES]) {
    for (missing, &index) in missing.as_chunks::<8>().0.iter().zip(d) {
        let Some(first) = missing.iter().flatten().next() else {
            continue;
        };
        let rows: Matrix = missing.map(|missing| {
            let bytes = missing.map_or(0, |missing| missing.bytes);
            std::array::from_fn(|column| bits_of(bytes >> (2 * column), 2) as u16)
        });
        let file = File::Word;
        let number = Reg { file, index }.number();
        let undefined = w.undefined.get_or_insert_default();
        for (lane, &bits) in into_lanes(&rows, transposed).iter().enumerate() {
            undefined.set(number, lane, bits.into(), first.from);
        }
    }
}

/// Loads a matrix. Each lane receives two elements of row `lane / 4` (9.7.14.5.15).
#[inline(always)]
fn to_lanes(bytes: &[u8], rows: &[u32; 8], lanes: &mut [u32; LANES]) {
    for (lanes, &at) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
        let row = bytes[at as usize..][..ROW].as_chunks().0;
        for (lane, bytes) in lanes.iter_mut().zip(row) {
            *lane = u32::from_le_bytes(*bytes);
        }
    }
}

/// Distributes the elements of the transposed matrix to the lanes.
struct Turn<'a> {
    rows: Matrix,
    to: &'a mut [u32; LANES],
}

impl WithSimd for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let pairs = self.rows.as_chunks::<2>().0;
        let pair = |i: usize| {
            let [low, high] = &pairs[i];
            let mut words = [0; 8];
            for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
                *word = u32::from(*low) | u32::from(*high) << 16;
            }
            words
        };
        collect(simd, [pair(0), pair(1), pair(2), pair(3)], self.to);
    }
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

/// The matrix of which `lanes` holds the elements.
#[inline(always)]
pub(super) fn from_lanes(lanes: &[u32; LANES], turns: bool) -> Matrix {
    let matrix = to_matrix(lanes);
    if turns { transposed(&matrix) } else { matrix }
}

/// The elements of a matrix, as the lanes hold them.
pub(super) fn into_lanes(matrix: &Matrix, turns: bool) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    // `Turn` transposes.
    let rows = if turns { *matrix } else { transposed(matrix) };
    wide(Turn {
        rows,
        to: &mut lanes,
    });
    lanes
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

/// Loads a matrix from offsets that were checked.
#[inline(always)]
fn load(bytes: &[u8], rows: &[u32; 8]) -> Matrix {
    let mut matrix = [[0; 8]; 8];
    for (row, &at) in matrix.iter_mut().zip(rows) {
        let bytes = bytes[at as usize..][..ROW].as_chunks().0;
        for (to, from) in row.iter_mut().zip(bytes) {
            *to = u16::from_le_bytes(*from);
        }
    }
    matrix
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

/// Counts and checks the accesses to the matrices' rows. Lane `8 i + j` supplies the offset of row `j` of matrix `i`,
/// and each row has 16 bytes. Offsets of matrices that the instruction does not access are meaningless. For a load,
/// `check` also marks each destination register that receives bytes that nothing has written.
#[inline(always)]
fn rows(
    s: &mut Surroundings,
    w: &mut Warp,
    address: &Address,
    matrices: usize,
    intent: Intent,
    check: impl FnOnce(&mut Surroundings, &mut Warp, &[u64; LANES], u32) -> Result<(), Trouble>,
) -> Result<[u32; LANES], Trouble> {
    let at = offsets(&w.regs, address);
    let mask = ((1u64 << (8 * matrices)) - 1) as u32;
    if !count::note(s, &at, ROW as u32, mask, intent) {
        check(s, w, &at, mask)?;
    }
    Ok(over(&at, |at| at as u32))
}

/// Checks the rows of a load one by one, and marks the registers whose bytes hold no value.
#[inline(never)]
fn check_loads(
    s: &mut Surroundings,
    w: &mut Warp,
    (d, transposed): (&[u32], bool),
    at: &[u64; LANES],
    mask: u32,
) -> Result<(), Trouble> {
    let mut missing = None;
    for lane in crate::ptx::regs::lanes(mask) {
        let who = s.who(lane);
        let checked = s.shared.check_load(at[lane], ROW as u32, Intent::Read, who);
        let (_, of_row) = checked.map_err(at_lane(lane))?;
        if of_row.is_some() {
            missing.get_or_insert([None; LANES])[lane] = of_row;
        }
    }
    if let Some(missing) = missing {
        mark_matrices(w, d, transposed, &missing);
    }
    Ok(())
}

#[inline(never)]
fn check_stores(s: &mut Surroundings, at: &[u64; LANES], mask: u32) -> Result<(), Trouble> {
    for lane in crate::ptx::regs::lanes(mask) {
        let who = s.who(lane);
        let checked = s.shared.check(at[lane], ROW as u32, Intent::Write, who);
        checked.map_err(at_lane(lane))?;
    }
    Ok(())
}

/// The offset in shared memory that each lane supplies.
pub(super) fn offsets(regs: &Regs, address: &Address) -> [u64; LANES] {
    let given = addresses(regs, address);
    let generic = address.room == Room::Generic && address.base.file == File::Long;
    match generic {
        true => over(&given, |at| resolve(at).1),
        false => given,
    }
}
