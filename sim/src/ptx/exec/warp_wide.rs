//! Warp-wide instructions: they execute when all lanes of their member masks have arrived.
//!
//! NVIDIA, "PTX ISA": `bar.warp.sync`, `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`.

use super::access::{Surroundings, Trouble};
use super::{PtxBlock, undefined};
use crate::ptx::code::{Op, Together};
use crate::ptx::regs::lanes;
use crate::ptx::warp::State;
use crate::{Fault, FaultKind};

impl PtxBlock<'_> {
    /// Handles the arrival of the current group at a warp-wide instruction or at a barrier.
    pub(super) fn after(&mut self, warp: usize) -> Result<(), Fault> {
        let w = &self.warps[warp];
        match w.groups.get(w.current).map(|group| group.state) {
            Some(State::Together(_)) => self.one_together(warp, w.current).map(drop),
            Some(State::Barrier(lanes)) => self.arrive(warp, lanes),
            _ => Ok(()),
        }
    }

    /// Tries the warp-wide instructions at which groups wait, one after another, until one executes. Returns `false` if
    /// none can execute.
    pub(super) fn all_together(&mut self, warp: usize) -> Result<bool, Fault> {
        for at in 0..self.warps[warp].groups.len() {
            let together = matches!(self.warps[warp].groups[at].state, State::Together(_));
            if together && self.one_together(warp, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Executes the warp-wide instruction of a group if all lanes of its member masks have arrived. Lanes of other
    /// groups take part if they are at the same instruction. For `bar.warp.sync`, lanes that are at another
    /// `bar.warp.sync` have arrived too.
    fn one_together(&mut self, warp: usize, at: usize) -> Result<bool, Fault> {
        let code = &*self.kernel.code;
        let w = &mut self.warps[warp];
        let pc = w.groups[at].pc;
        let Op::Together { what, members } = &code.insts[pc as usize].op else {
            return Ok(false);
        };
        let same = |other: u32| match (what, &code.insts[other as usize].op) {
            (
                Together::Sync,
                Op::Together {
                    what: Together::Sync,
                    ..
                },
            ) => true,
            _ => other == pc,
        };
        let mut arrived = 0;
        for group in &w.groups {
            if let State::Together(lanes) = group.state
                && same(group.pc)
            {
                arrived |= lanes;
            }
        }
        let State::Together(own) = w.groups[at].state else {
            return Ok(false);
        };
        let masks = w.regs.words[*members as usize];
        let wanted = lanes(own).fold(0, |all, lane| all | masks[lane]) & w.alive;
        if wanted & !arrived != 0 {
            return Ok(false);
        }
        let taking = wanted & arrived | own;
        if let Err(trouble) = self.take_part(warp, at, what, masks, taking) {
            self.warps[warp].current = at;
            return Err(self.trouble(warp, trouble));
        }
        self.judge_races()?;
        for group in &mut self.warps[warp].groups {
            if let State::Together(lanes) = group.state
                && same(group.pc)
                && lanes & taking != 0
            {
                group.pc += 1;
                group.state = State::Ready;
            }
        }
        Ok(true)
    }

    /// Executes the warp-wide instruction of a group for the lanes in `taking`, once for each of their member masks.
    fn take_part(
        &mut self,
        warp: usize,
        at: usize,
        what: &Together,
        masks: [u32; 32],
        taking: u32,
    ) -> Result<(), Trouble> {
        let code = &*self.kernel.code;
        let w = &mut self.warps[warp];
        let mut s = Surroundings {
            memory: self.memory,
            shared: &mut self.shared,
            counters: &mut self.counters,
            requests: &mut self.requests,
            parameters: &self.launch.arguments,
            local_bytes: code.local_bytes as usize,
            lock: &self.kernel.lock,
            warp: warp as u8,
            group: w.groups[at].id,
            pc: w.groups[at].pc,
        };
        let mut rest = taking;
        let mut result = Ok(());
        while rest != 0 && result.is_ok() {
            let mask = masks[rest.trailing_zeros() as usize];
            let part = lanes(rest)
                .filter(|&lane| masks[lane] == mask)
                .fold(0, |part, lane| part | 1 << lane);
            rest &= !part;
            result = match mask & part == part {
                true => undefined::together(&mut s, w, what, code, part),
                false => Err(not_named()),
            };
        }
        s.shared.warp_sync(warp as u8);
        result
    }
}

fn not_named() -> Trouble {
    let what =
        "a lane executes a `.sync` instruction whose member mask does not name it".to_owned();
    FaultKind::Invalid { what }.into()
}
