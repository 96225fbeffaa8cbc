//! Instructions that involve several lanes of a warp (PTX ISA 9.7.9.5, 9.7.9.6 and 9.7.13.8 to 9.7.13.13).

use super::access::{Surroundings, Trouble, get};
use super::matrix::matrix;
use super::warpgroup;
use crate::lanes::each;
use crate::ptx::code::{Atomic, MatrixOp, Shuffle, Together};
use crate::ptx::regs::{LANES, Regs, lanes, write, write_pred};
use crate::ptx::warp::Warp;

/// Executes the instruction for the lanes in `mask`, which have arrived and have the same member mask.
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
            let values: [u64; LANES] = each(|lane| get(regs, a, lane));
            let equal = |to: usize| {
                lanes(mask)
                    .filter(|&lane| values[lane] == values[to])
                    .fold(0, |m, lane| m | 1 << lane)
            };
            let peers: [u32; LANES] = each(equal);
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
        Together::Warpgroup(what) => return warpgroup::order(s, w, what, mask),
        Together::Matrix(index) => return matrix(s, w, &matrices[index.0 as usize], mask),
    }
    Ok(())
}

/// `shfl.sync` (9.7.9.6). `c` contains a clamp value and a mask that divides the warp into segments.
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
            // In this mode, the ISA's `maxLane` (here `most`) is a lower bound.
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
        // The value of a lane that does not take part is undefined.
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
