//! Executes the blocks of a PTX kernel.

mod access;
mod atomic;
mod barrier;
mod copy;
mod count;
mod matrix;
mod memory;
mod switch;
mod together;
mod warpgroup;
mod whole;

use std::ops::ControlFlow;

use access::{Surroundings, Trouble};

use super::code::{Code, Inst, Op, Room, Together};
use super::kernel::Kernel;
use super::regs::{Regs, lanes, write_pred};
use super::shared::{Shared, Wrong};
use super::space::resolve;
use super::warp::{Group, SLICE, State, Warp};
use crate::traffic::Requests;
use crate::{Block, Counters, Fault, FaultKind, Launch, MemoryView, Place, Progress};

/// A block of a PTX kernel in execution.
#[derive(Debug)]
pub struct PtxBlock<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) launch: &'a Launch,
    pub(super) memory: &'a MemoryView,
    pub(super) index: [u32; 3],
    pub(super) warps: Vec<Warp>,
    pub(super) shared: Shared,
    pub(super) counters: Counters,
    pub(super) requests: Requests,
    pub(super) barriers: [barrier::Arrivals; 16],
}

pub(super) fn no_arrivals(warps: usize) -> [barrier::Arrivals; 16] {
    std::array::from_fn(|_| barrier::Arrivals::new(warps))
}

impl Block for PtxBlock<'_> {
    fn warps(&self) -> usize {
        self.warps.len()
    }

    fn step(&mut self, warp: usize, turn: u32) -> Result<Progress, Fault> {
        let mut left = turn;
        loop {
            let w = &mut self.warps[warp];
            if w.groups.is_empty() {
                return Ok(Progress::Done);
            }
            let runs = w
                .groups
                .get(w.current)
                .is_some_and(|group| group.state == State::Ready);
            if !runs && !w.pick() {
                if self.all_together(warp)?
                    || self.warps[warp].release()
                    || self.pass_barrier(warp)?
                {
                    continue;
                }
                let waits = |group: &Group| matches!(group.state, State::Barrier(_));
                return match self.warps[warp].groups.iter().any(waits) {
                    true => Ok(Progress::Waits),
                    false => Err(self.stuck(warp)),
                };
            }
            if left == 0 {
                return Ok(Progress::Ready);
            }
            let single = w.groups.len() == 1;
            let limit = if single { left } else { left.min(w.slice) };
            let ran = self.run(warp, limit)?;
            left -= ran.min(left);
            let w = &mut self.warps[warp];
            w.slice = if w.groups.len() < 2 {
                SLICE
            } else {
                w.slice - ran.min(w.slice)
            };
            if w.slice == 0 {
                w.rotate();
            }
            if self.counters.instructions > self.kernel.max_instructions {
                let kind = FaultKind::TooLong {
                    instructions: self.kernel.max_instructions,
                };
                return Err(self.fault(warp, kind, None));
            }
        }
    }

    fn deadlock(&self) -> Fault {
        let waiting = self
            .warps
            .iter()
            .position(|warp| !warp.groups.is_empty())
            .unwrap_or(0);
        let arrived = self
            .warps
            .iter()
            .filter(|warp| !warp.groups.is_empty())
            .count();
        let what = format!(
            "{arrived} of {} warps are at a barrier that others do not reach",
            self.warps.len()
        );
        self.fault(waiting, FaultKind::Deadlock { what }, None)
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl PtxBlock<'_> {
    /// A fault at the instruction of the warp's current group, or of its first group if there is no current one.
    fn fault(&self, warp: usize, kind: FaultKind, lane: Option<u32>) -> Fault {
        let w = &self.warps[warp];
        let pc = w
            .groups
            .get(w.current)
            .or(w.groups.first())
            .map_or(0, |group| group.pc);
        let (instruction, line) = self.kernel.describe(pc);
        let place = Box::new(Place {
            kernel: self.kernel.code.name.clone(),
            instruction,
            offset: u64::from(pc),
            line,
            block: self.index,
            warp: warp as u32,
            lane,
        });
        Fault { kind, place }
    }

    fn trouble(&self, warp: usize, trouble: Trouble) -> Fault {
        let kind = match trouble.wrong {
            Wrong::Kind(kind) => kind,
            Wrong::Race(offset, who) => {
                let (instruction, line) = self.kernel.describe(who.pc);
                FaultKind::Race {
                    offset,
                    other: Some(who.warp.into()),
                    instruction,
                    line,
                }
            }
        };
        self.fault(warp, kind, trouble.lane)
    }

    fn stuck(&self, warp: usize) -> Fault {
        let what = "lanes of the warp are at different `.sync` instructions, and each waits for the others".to_owned();
        self.fault(warp, FaultKind::Deadlock { what }, None)
    }

    /// Runs the current group until it waits or has executed `limit` instructions. Returns the number of instructions.
    fn run(&mut self, warp: usize, limit: u32) -> Result<u32, Fault> {
        let code = &*self.kernel.code;
        let mut done = 0;
        let mut result = Ok(());
        let w = &mut self.warps[warp];
        while done < limit {
            let Some(group) = w.groups.get_mut(w.current) else {
                break;
            };
            if group.state != State::Ready {
                break;
            }
            if group.pc == group.join {
                w.join();
                continue;
            }
            let mut most = limit - done;
            if code.has_warpgroups() {
                // The registers of the next instruction must be free, so it is executed alone.
                most = 1;
                let (pc, mask) = (group.pc as usize, group.mask);
                if let Some(uses) = &code.uses[pc] {
                    let active = mask & guard_of(&code.insts[pc], &w.regs);
                    if let Err(trouble) = warpgroup::check_use(w, uses, active) {
                        result = Err(trouble);
                        break;
                    }
                }
            }
            let group = &mut w.groups[w.current];
            let counters = &mut self.counters;
            let ran = on_registers(code, &mut w.regs, counters, group, most);
            if ran != 0 {
                done += ran;
                continue;
            }
            let inst = &code.insts[group.pc as usize];
            done += 1;
            let active = count(counters, inst, &w.regs, group);
            let mut s = Surroundings {
                memory: self.memory,
                shared: &mut self.shared,
                counters: &mut self.counters,
                requests: &mut self.requests,
                parameters: &self.launch.arguments,
                local_bytes: code.local_bytes as usize,
                lock: &self.kernel.lock,
                warp: warp as u8,
                group: group.id,
                pc: group.pc,
            };
            if let Op::Together { what, members } = &inst.op
                && all_are_here(w, *members, active)
            {
                let done = together::together(&mut s, w, what, &code.matrices, active);
                s.shared.warp_sync(warp as u8);
                if let Err(trouble) = done {
                    result = Err(trouble);
                    break;
                }
                w.groups[w.current].pc += 1;
                continue;
            }
            match execute(&mut s, w, code, inst, active) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(trouble) => {
                    result = Err(trouble);
                    break;
                }
            }
        }
        self.counters.instructions += u64::from(done);
        if let Err(trouble) = result {
            return Err(self.trouble(warp, trouble));
        }
        self.after(warp)?;
        Ok(done)
    }

    /// Handles the arrival of the current group at a warp-wide instruction or at a barrier.
    fn after(&mut self, warp: usize) -> Result<(), Fault> {
        let w = &self.warps[warp];
        match w.groups.get(w.current).map(|group| group.state) {
            Some(State::Together(_)) => self.one_together(warp, w.current).map(drop),
            Some(State::Barrier(lanes)) => self.arrive(warp, lanes),
            _ => Ok(()),
        }
    }

    /// Tries the warp-wide instructions at which groups wait, one after another, until one executes. Returns `false` if
    /// none can execute.
    fn all_together(&mut self, warp: usize) -> Result<bool, Fault> {
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
        let masks = &w.regs.words[*members as usize];
        let wanted = lanes(own).fold(0, |all, lane| all | masks[lane]) & w.alive;
        if wanted & !arrived != 0 {
            return Ok(false);
        }
        let taking = wanted & arrived | own;
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
            pc,
        };
        let masks = *masks;
        let mut result = Ok(());
        let mut rest = taking;
        while rest != 0 && result.is_ok() {
            let lane = rest.trailing_zeros() as usize;
            let part = lanes(rest)
                .filter(|&other| masks[other] == masks[lane])
                .fold(0, |m, other| m | 1 << other);
            rest &= !part;
            if masks[lane] & part != part {
                let what =
                    "a lane executes a `.sync` instruction whose member mask does not name it"
                        .to_owned();
                result = Err(FaultKind::Invalid { what }.into());
                break;
            }
            result = together::together(&mut s, w, what, &code.matrices, part);
        }
        s.shared.warp_sync(warp as u8);
        if let Err(trouble) = result {
            self.warps[warp].current = at;
            return Err(self.trouble(warp, trouble));
        }
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
}

/// Runs the next instructions of a group as long as they are [`Op::Alu`], and at most `limit`. Returns their number.
#[inline(always)]
fn on_registers(
    code: &Code,
    regs: &mut Regs,
    counters: &mut Counters,
    group: &mut Group,
    limit: u32,
) -> u32 {
    let mut here = *group;
    let mut done = 0;
    while done < limit && here.pc != here.join {
        let inst = &code.insts[here.pc as usize];
        let Op::Alu { run, args } = &inst.op else {
            break;
        };
        let active = count(counters, inst, regs, &here);
        run(regs, args, active);
        here.pc += 1;
        done += 1;
    }
    group.pc = here.pc;
    done
}

/// Counts an instruction of a group, and returns the mask of the active lanes.
#[inline(always)]
fn count(counters: &mut Counters, inst: &Inst, regs: &Regs, group: &Group) -> u32 {
    let active = group.mask & guard_of(inst, regs);
    counters.executed[group.pc as usize] += 1;
    counters.lanes[group.pc as usize] += crate::lanes::count(active);
    active
}

/// The lanes in which the guard of an instruction is true.
#[inline(always)]
fn guard_of(inst: &Inst, regs: &Regs) -> u32 {
    let guard = regs.preds[inst.guard as usize];
    if inst.negated { !guard } else { guard }
}

/// Whether all lanes that have not ended execute the instruction together, and their member masks are equal and contain
/// all of them.
#[inline(always)]
fn all_are_here(w: &Warp, members: u32, active: u32) -> bool {
    if active == 0 || active != w.alive || w.groups.len() != 1 {
        return false;
    }
    let masks = &w.regs.words[members as usize];
    let first = masks[active.trailing_zeros() as usize % 32];
    let mut others = 0;
    for (lane, mask) in masks.iter().enumerate() {
        others |= (mask ^ first) & 0u32.wrapping_sub(active >> lane & 1);
    }
    others == 0 && first & active == active
}

/// Executes an instruction that does more than use registers. Breaks if the group waits.
fn execute(
    s: &mut Surroundings,
    w: &mut Warp,
    code: &Code,
    inst: &Inst,
    active: u32,
) -> Result<ControlFlow<()>, Trouble> {
    let mask = w.groups[w.current].mask;
    if active == 0 {
        w.groups[w.current].pc += 1;
        return Ok(ControlFlow::Continue(()));
    }
    match &inst.op {
        Op::Branch { target, join } => {
            match active == mask {
                true => w.groups[w.current].pc = *target,
                false => w.diverge(active, *target, *join),
            }
            return Ok(ControlFlow::Continue(()));
        }
        Op::Switch {
            index,
            targets,
            join,
        } => {
            switch::switch(w, *index, targets, *join, active)?;
            return Ok(ControlFlow::Continue(()));
        }
        Op::Exit => {
            w.groups[w.current].pc += 1;
            w.end(active);
            return Ok(ControlFlow::Continue(()));
        }
        Op::Together { .. } => {
            w.groups[w.current].state = State::Together(active);
            return Ok(ControlFlow::Break(()));
        }
        Op::Barrier(_) => {
            w.groups[w.current].state = State::Barrier(active);
            return Ok(ControlFlow::Break(()));
        }
        op => data(s, w, code, op, active)?,
    }
    w.groups[w.current].pc += 1;
    Ok(ControlFlow::Continue(()))
}

fn data(s: &mut Surroundings, w: &mut Warp, _: &Code, op: &Op, active: u32) -> Result<(), Trouble> {
    match op {
        Op::Load(access) => memory::load(s, w, access, active)?,
        Op::Store(access) => memory::store(s, w, access, active)?,
        Op::Atomic(access) => atomic::atomic(s, w, access, active)?,
        Op::Copy {
            to,
            from,
            bytes,
            source_bytes,
        } => copy::copy(s, w, (to, from), *bytes, *source_bytes, active)?,
        Op::Commit => lanes(active).for_each(|lane| w.committed[lane] += 1),
        Op::Wait(left) => copy::wait(s, w, *left, active),
        Op::ActiveMask { d } => super::regs::write::<u32>(&mut w.regs, *d, active, &[active; 32]),
        Op::Clock { d, upper } => clock(s, w, *d, *upper, active),
        Op::IsSpace { d, a, room } => {
            let at = w.regs.longs[a.index as usize];
            let is = |lane: &usize| match room {
                Room::Global | Room::Generic => resolve(at[*lane]).0 == Room::Global,
                room => resolve(at[*lane]).0 == *room,
            };
            let bits = lanes(active)
                .filter(is)
                .fold(0, |bits, lane| bits | 1 << lane);
            write_pred(&mut w.regs, *d, active, bits);
        }
        Op::Fence => {}
        Op::ProxyFence => s.shared.fence_proxy(s.warp, active),
        Op::Trap => return Err(FaultKind::Trap.into()),
        Op::NotImplemented(what) => {
            return Err(FaultKind::NotImplemented {
                what: what.to_string(),
            }
            .into());
        }
        Op::Fail(what) => {
            return Err(FaultKind::Invalid {
                what: what.to_string(),
            }
            .into());
        }
        Op::Alu { .. }
        | Op::Branch { .. }
        | Op::Switch { .. }
        | Op::Exit
        | Op::Together { .. }
        | Op::Barrier(_) => {}
    }
    Ok(())
}

fn clock(s: &Surroundings, w: &mut Warp, d: super::code::Reg, upper: bool, active: u32) {
    // The clock is the number of instructions that the block executed before this turn of the warp, plus the number of
    // times that the block has executed this instruction.
    let now = s.counters.executed[s.pc as usize] + s.counters.instructions;
    match d.file {
        super::code::File::Long => {
            super::regs::write::<u64>(&mut w.regs, d.index, active, &[now; 32])
        }
        _ if upper => {
            super::regs::write::<u32>(&mut w.regs, d.index, active, &[(now >> 32) as u32; 32])
        }
        _ => super::regs::write::<u32>(&mut w.regs, d.index, active, &[now as u32; 32]),
    }
}
