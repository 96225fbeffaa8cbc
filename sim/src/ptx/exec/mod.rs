//! Executes the blocks of a PTX kernel.

mod access;
mod atomic;
mod barrier;
mod copy;
mod count;
mod execute;
mod marking;
mod matrix;
mod memory;
mod races;
mod switch;
mod together;
mod undefined;
mod warp_wide;
mod warpgroup;
mod whole;

use access::{Surroundings, Trouble};
use execute::execute;

use super::code::{Code, Inst, Op};
use super::kernel::Kernel;
use super::regs::Regs;
use super::shared::{Shared, Wrong};
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
    pub(super) dropped: races::Dropped,
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
        Fault {
            kind,
            place,
            used_at: None,
        }
    }

    fn trouble(&self, warp: usize, trouble: Trouble) -> Fault {
        let kind = match trouble.wrong {
            Wrong::Kind(kind) => kind,
            Wrong::Undefined(from) => {
                let kind = from.kind(|at| self.kernel.describe(at));
                let used = self.fault(warp, kind, trouble.lane);
                let (instruction, line) = self.kernel.describe(from.at);
                let place = Box::new(Place {
                    instruction,
                    offset: u64::from(from.at),
                    line,
                    warp: from.warp.into(),
                    lane: Some(from.lane.into()),
                    ..(*used.place).clone()
                });
                return Fault {
                    place,
                    used_at: Some(used.place),
                    ..used
                };
            }
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
        let mut done = 0;
        let result = self.run_on(warp, limit, &mut done);
        self.counters.instructions += u64::from(done);
        result.map_err(|trouble| self.trouble(warp, trouble))?;
        self.judge_races()?;
        self.after(warp)?;
        Ok(done)
    }

    #[inline(always)]
    fn run_on(&mut self, warp: usize, limit: u32, done: &mut u32) -> Result<(), Trouble> {
        let code = &*self.kernel.code;
        let w = &mut self.warps[warp];
        while *done < limit {
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
            let mut most = limit - *done;
            if code.has_warpgroups() {
                // `check_registers` checks only the next instruction, so only this instruction is executed.
                most = 1;
                check_registers(code, w)?;
            }
            let group = &mut w.groups[w.current];
            let counters = &mut self.counters;
            let ran = match w.undefined {
                None => on_registers(code, &mut w.regs, counters, group, most),
                Some(_) => undefined::on_registers(code, w, counters),
            };
            if ran != 0 {
                *done += ran;
                continue;
            }
            let group = w.groups[w.current];
            let inst = &code.insts[group.pc as usize];
            *done += 1;
            let active = count(counters, inst, &w.regs, &group);
            if w.undefined.is_some() {
                undefined::before(w, inst, active)?;
            }
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
                let done = undefined::together(&mut s, w, what, code, active);
                s.shared.warp_sync(warp as u8);
                done?;
                w.groups[w.current].pc += 1;
            } else if execute(&mut s, w, inst, active)?.is_break() {
                break;
            }
            if self.shared.has_raced() {
                break;
            }
        }
        Ok(())
    }
}

/// Refuses an instruction that uses a register of a warpgroup product in flight.
fn check_registers(code: &Code, w: &mut Warp) -> Result<(), Trouble> {
    let group = &w.groups[w.current];
    let pc = group.pc as usize;
    match &code.uses[pc] {
        Some(uses) => {
            let active = group.mask & code.insts[pc].guarded(&w.regs);
            warpgroup::check_use(w, uses, active)
        }
        None => Ok(()),
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
    let active = group.mask & inst.guarded(regs);
    counters.executed[group.pc as usize] += 1;
    counters.lanes[group.pc as usize] += crate::lanes::count(active);
    active
}

/// Whether all lanes that have not ended execute the instruction together, with equal member masks that contain all of
/// these lanes.
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
