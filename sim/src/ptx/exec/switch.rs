//! Jumps to one of several targets (`brx.idx`).

use super::access::Trouble;
use crate::FaultKind;
use crate::ptx::regs::lanes;
use crate::ptx::shared::Wrong;
use crate::ptx::warp::Warp;

/// Executes `brx.idx`: the lanes with the first lane's target jump, and the other lanes execute the instruction again.
pub(super) fn switch(
    w: &mut Warp,
    index: u32,
    targets: &[u32],
    join: u32,
    active: u32,
) -> Result<(), Trouble> {
    let row = w.regs.words[index as usize];
    let first = active.trailing_zeros() as usize % 32;
    let same = lanes(active)
        .filter(|&lane| row[lane] == row[first])
        .fold(0, |m, lane| m | 1 << lane);
    let Some(&target) = targets.get(row[first] as usize) else {
        let what = format!(
            "`brx.idx` has {} targets, but the index is {}",
            targets.len(),
            row[first]
        );
        return Err(Trouble {
            wrong: Wrong::Kind(FaultKind::Invalid { what }),
            lane: Some(first as u32),
        });
    };
    let here = w.groups[w.current];
    match same == here.mask {
        true => w.groups[w.current].pc = target,
        // `diverge` makes the other lanes continue at the next instruction. The program counter is moved back first, so
        // the next instruction is this one again.
        false => {
            w.groups[w.current].pc = here.pc.wrapping_sub(1);
            w.diverge(same, target, join);
        }
    }
    Ok(())
}
