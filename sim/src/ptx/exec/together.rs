//! What lanes of a warp do together (PTX ISA 9.7.9.5 to 9.7.9.6 and 9.7.13.8 to 9.7.13.13).

use super::memory::{Surroundings, Trouble, addresses, get};
use crate::FaultKind;
use crate::ptx::code::{Address, Atomic, File, MatrixOp, Shuffle, Together};
use crate::ptx::regs::{LANES, Regs, lanes, write, write_pred};
use crate::ptx::shared::Intent;
use crate::ptx::warp::Warp;

/// Executes it for the lanes of a member mask that arrived.
pub(super) fn together(
    s: &mut Surroundings,
    w: &mut Warp,
    what: &Together,
    matrices: &[MatrixOp],
    mask: u32,
) -> Result<(), Trouble> {
    let regs = &mut w.regs;
    match *what {
        Together::Shuffle { way, d, p, a, b, c } => shuffle(regs, way, [d, p, a, b, c], mask),
        Together::Vote { kind, d, p } => {
            let yes = regs.preds[p.index as usize] & mask;
            match kind {
                3 => write::<u32>(regs, d, mask, &[yes; LANES]),
                0 => write_pred(regs, d, mask, if yes == mask { !0 } else { 0 }),
                1 => write_pred(regs, d, mask, if yes != 0 { !0 } else { 0 }),
                _ => write_pred(regs, d, mask, if yes == mask || yes == 0 { !0 } else { 0 }),
            }
        }
        Together::Match { all, d, p, a } => {
            let values: [u64; LANES] = std::array::from_fn(|lane| get(regs, a, lane));
            let equal = |to: usize| {
                lanes(mask)
                    .filter(|&lane| values[lane] == values[to])
                    .fold(0, |m, lane| m | 1 << lane)
            };
            let peers: [u32; LANES] = std::array::from_fn(equal);
            let agree = lanes(mask).all(|lane| peers[lane] == mask);
            let out = if all && !agree { [0; LANES] } else { peers };
            write::<u32>(regs, d, mask, &out);
            write_pred(regs, p, mask, if agree { !0 } else { 0 });
        }
        Together::Redux { op, signed, d, a } => {
            let row = regs.words[a as usize];
            let flip = if signed { 1 << 31 } else { 0 };
            let values = lanes(mask).map(|lane| row[lane]);
            let reduced = values.reduce(|x, y| match op {
                Atomic::Add => x.wrapping_add(y),
                Atomic::Min => {
                    if x ^ flip < y ^ flip {
                        x
                    } else {
                        y
                    }
                }
                Atomic::Max => {
                    if x ^ flip > y ^ flip {
                        x
                    } else {
                        y
                    }
                }
                Atomic::And => x & y,
                Atomic::Or => x | y,
                _ => x ^ y,
            });
            write::<u32>(regs, d, mask, &[reduced.unwrap_or(0); LANES]);
        }
        Together::Elect { d, p } => {
            let first = mask.trailing_zeros();
            write::<u32>(regs, d, mask, &[first; LANES]);
            write_pred(regs, p, mask, 1u32.checked_shl(first).unwrap_or(0));
        }
        Together::Sync => {}
        Together::Matrix(index) => return matrix(s, w, &matrices[index.0 as usize], mask),
    }
    Ok(())
}

/// `shfl.sync` (9.7.9.6): `c` holds a clamp value and a mask that cuts the warp into segments.
fn shuffle(regs: &mut Regs, way: Shuffle, [d, p, a, b, c]: [u32; 5], mask: u32) {
    let (values, b, c) = (
        regs.words[a as usize],
        regs.words[b as usize],
        regs.words[c as usize],
    );
    let mut out = [0; LANES];
    let mut inside = 0;
    for lane in lanes(mask) {
        let (step, clamp, segment) = (b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31);
        let here = lane as u32;
        let most = here & segment | clamp & !segment;
        let least = here & segment;
        let (from, valid) = match way {
            // `maxLane` is a lower bound here.
            Shuffle::Up => (
                here.wrapping_sub(step),
                here as i32 - step as i32 >= most as i32,
            ),
            Shuffle::Down => (here + step, here + step <= most),
            Shuffle::Butterfly => (here ^ step, here ^ step <= most),
            Shuffle::Index => {
                let from = least | step & !segment;
                (from, from <= most)
            }
        };
        let from = if valid { from as usize } else { lane };
        // The value of a lane that does not take part is not defined.
        let taken = mask >> from & 1 != 0;
        out[lane] = if taken {
            values[from]
        } else {
            values[from] ^ 0x5bad_f00d
        };
        inside |= u32::from(valid) << lane;
    }
    write::<u32>(regs, d, mask, &out);
    write_pred(regs, p, mask, inside);
}

fn matrix(s: &mut Surroundings, w: &mut Warp, op: &MatrixOp, mask: u32) -> Result<(), Trouble> {
    if mask != !0 {
        let what =
            format!("an instruction on matrices needs all lanes, and {mask:#010x} are there");
        return Err(FaultKind::Invalid { what }.into());
    }
    match op {
        MatrixOp::Mma(mma) => mma.run(&mut w.regs),
        MatrixOp::Transpose { d, a } => {
            let a = w.regs.words[*a as usize];
            let half =
                |row: usize, column: usize| a[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
            w.regs.words[*d as usize] = std::array::from_fn(|lane| {
                half(lane % 4 * 2, lane / 4) | half(lane % 4 * 2 + 1, lane / 4) << 16
            });
        }
        MatrixOp::Load {
            address,
            transposed,
            d,
        } => {
            let rows = rows(s, &w.regs, address, d.len(), Intent::Read)?;
            for (matrix, &d) in d.iter().enumerate() {
                let rows = &rows[matrix * 8..];
                let half =
                    |row: usize, column: usize| s.shared.load(rows[row] + 2 * column, 2) as u32;
                // A lane holds two elements of row `lane / 4` (9.7.14.5.15), or of the column if transposed.
                let row: [u32; LANES] = std::array::from_fn(|lane| {
                    let (major, minor) = (lane / 4, lane % 4 * 2);
                    match transposed {
                        false => half(major, minor) | half(major, minor + 1) << 16,
                        true => half(minor, major) | half(minor + 1, major) << 16,
                    }
                });
                w.regs.words[d as usize] = row;
            }
        }
        MatrixOp::Store {
            address,
            transposed,
            a,
        } => {
            let rows = rows(s, &w.regs, address, a.len(), Intent::Write)?;
            for (matrix, &a) in a.iter().enumerate() {
                let values = w.regs.words[a as usize];
                for (lane, value) in values.into_iter().enumerate() {
                    for part in 0..2 {
                        let (major, minor) = (lane / 4, lane % 4 * 2 + part);
                        let (row, column) = if *transposed {
                            (minor, major)
                        } else {
                            (major, minor)
                        };
                        s.shared.store(
                            rows[matrix * 8 + row] + 2 * column,
                            2,
                            u64::from(value >> (16 * part)),
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// The rows of the matrices: lane `8 i + j` has the address of row `j` of matrix `i`; each has 16 bytes.
fn rows(
    s: &mut Surroundings,
    regs: &Regs,
    address: &Address,
    matrices: usize,
    intent: Intent,
) -> Result<Vec<usize>, Trouble> {
    let at = addresses(regs, address);
    let generic =
        address.room == crate::ptx::code::Room::Generic && address.base.file == File::Long;
    let mut found = Vec::with_capacity(8 * matrices);
    for (lane, &at) in at.iter().enumerate().take(8 * matrices) {
        let here = if generic {
            crate::ptx::space::resolve(at).1
        } else {
            at
        };
        let who = s.who(lane);
        let checked = s.shared.check(here, 16, intent, who);
        found.push(checked.map_err(|wrong| Trouble {
            wrong,
            lane: Some(lane as u32),
        })?);
    }
    for matrix in 0..matrices.min(4) {
        let mask = 0xff << (8 * matrix);
        super::count::matrix(s.traffic(), &at, mask);
    }
    s.traffic().shared_requests += 1;
    Ok(found)
}
