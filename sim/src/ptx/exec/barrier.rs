//! Barriers of the block (PTX ISA 9.7.13.1).

use super::PtxBlock;
use crate::ptx::code::{Op, Reduction};
use crate::ptx::regs::{LANES, lanes, write, write_pred};
use crate::ptx::warp::State;
use crate::{Fault, FaultKind};

/// The lanes that have arrived at a barrier.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// The mask of the arrived lanes of each warp.
    lanes: Vec<u32>,
    /// The number of threads that the barrier waits for, or `None` for all threads of the block.
    threads: Option<u32>,
}

impl Arrivals {
    pub(super) fn new(warps: usize) -> Arrivals {
        Arrivals {
            lanes: vec![0; warps],
            threads: None,
        }
    }
}

impl PtxBlock<'_> {
    /// Records that the current group of a warp has arrived at a barrier.
    pub(super) fn arrive(&mut self, warp: usize, active: u32) -> Result<(), Fault> {
        let code = &*self.kernel.code;
        let w = &mut self.warps[warp];
        let group = w.groups[w.current];
        let Op::Barrier(barrier) = &code.insts[group.pc as usize].op else {
            return Ok(());
        };
        let first = active.trailing_zeros() as usize % LANES;
        let id = w.regs.words[barrier.id as usize][first] as usize;
        let threads = barrier
            .threads
            .map(|threads| w.regs.words[threads as usize][first]);
        if id >= 16 || threads.is_some_and(|threads| !threads.is_multiple_of(32)) {
            let what = format!(
                "there is no barrier {id} for {} threads",
                threads.unwrap_or(0)
            );
            return Err(self.fault(warp, FaultKind::Invalid { what }, None));
        }
        let arrivals = &mut self.barriers[id];
        arrivals.lanes[warp] |= active;
        arrivals.threads = threads;
        if barrier.reduction == Reduction::Arrive {
            let current = w.current;
            w.groups[current].pc += 1;
            w.groups[current].state = State::Ready;
        }
        self.complete(id)?;
        Ok(())
    }

    /// Tries again to complete the barriers at which lanes of the warp wait, because the warps that they wait for may
    /// have ended since. Returns `true` if the warp can continue.
    pub(super) fn pass_barrier(&mut self, warp: usize) -> Result<bool, Fault> {
        for id in 0..self.barriers.len() {
            if self.barriers[id].lanes[warp] != 0 && self.complete(id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Completes a barrier if the specified number of threads has arrived or, if no number is specified, all warps that
    /// have not ended. A warp has arrived if all of its lanes that have not ended have arrived.
    fn complete(&mut self, id: usize) -> Result<bool, Fault> {
        let arrivals = &self.barriers[id];
        let here = |warp: usize| {
            let lanes = arrivals.lanes[warp];
            lanes != 0 && self.warps[warp].alive & !lanes == 0
        };
        let arrived: Vec<usize> = (0..self.warps.len()).filter(|&warp| here(warp)).collect();
        let all = match arrivals.threads {
            Some(threads) => arrived.len() as u64 * 32 >= u64::from(threads),
            None => (0..self.warps.len()).all(|warp| self.warps[warp].alive == 0 || here(warp)),
        };
        if !all || arrived.is_empty() {
            return Ok(false);
        }
        self.counters.barriers += arrived.len() as u64;
        let counts = self.count_predicates(id, &arrived);
        for &warp in &arrived {
            self.let_go(warp, id, counts)?;
        }
        self.shared.barrier(&arrived);
        self.barriers[id] = Arrivals::new(self.warps.len());
        Ok(true)
    }

    /// The number of arrived threads whose `bar.red` predicate is true, and the number of all arrived threads.
    fn count_predicates(&self, id: usize, arrived: &[usize]) -> (u32, u32) {
        let code = &*self.kernel.code;
        let (mut yes, mut all) = (0, 0);
        for &warp in arrived {
            let w = &self.warps[warp];
            for group in &w.groups {
                let (State::Barrier(lanes), Op::Barrier(barrier)) =
                    (group.state, &code.insts[group.pc as usize].op)
                else {
                    continue;
                };
                let first = lanes.trailing_zeros() as usize % LANES;
                if w.regs.words[barrier.id as usize][first] as usize != id {
                    continue;
                }
                if let Reduction::And { p, .. }
                | Reduction::Or { p, .. }
                | Reduction::Count { p, .. } = barrier.reduction
                {
                    yes += (w.regs.preds[p as usize] & lanes).count_ones();
                    all += lanes.count_ones();
                }
            }
        }
        (yes, all)
    }

    fn let_go(&mut self, warp: usize, id: usize, (yes, all): (u32, u32)) -> Result<(), Fault> {
        let code = &*self.kernel.code;
        let w = &mut self.warps[warp];
        let mut seen = None;
        for at in 0..w.groups.len() {
            let group = w.groups[at];
            let (State::Barrier(active), Op::Barrier(barrier)) =
                (group.state, &code.insts[group.pc as usize].op)
            else {
                continue;
            };
            let first = lanes(active).next().unwrap_or(0);
            if w.regs.words[barrier.id as usize][first] as usize != id {
                continue;
            }
            if seen.replace(group.pc).is_some_and(|pc| pc != group.pc) {
                w.current = at;
                let what = "lanes of a warp are at different barriers of the block".to_owned();
                return Err(self.fault(warp, FaultKind::Invalid { what }, None));
            }
            match barrier.reduction {
                Reduction::And { d, .. } => {
                    write_pred(&mut w.regs, d, active, if yes == all { !0 } else { 0 })
                }
                Reduction::Or { d, .. } => {
                    write_pred(&mut w.regs, d, active, if yes != 0 { !0 } else { 0 })
                }
                Reduction::Count { d, .. } => write::<u32>(&mut w.regs, d, active, &[yes; LANES]),
                Reduction::None | Reduction::Arrive => {}
            }
            w.groups[at].pc += 1;
            w.groups[at].state = State::Ready;
        }
        Ok(())
    }
}
