//! Executes one instruction that does more than use registers.

use std::ops::ControlFlow;

use super::access::{Surroundings, Trouble};
use super::{atomic, copy, memory, switch, undefined};
use crate::FaultKind;
use crate::ptx::code::{File, Inst, Op, Reg, Room};
use crate::ptx::regs::{lanes, write, write_pred};
use crate::ptx::space::resolve;
use crate::ptx::warp::{State, Warp};

/// Executes an instruction that does more than use registers. Returns `Break` if the group must wait.
pub(super) fn execute(
    s: &mut Surroundings,
    w: &mut Warp,
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
        op => data(s, w, op, active)?,
    }
    w.groups[w.current].pc += 1;
    Ok(ControlFlow::Continue(()))
}

fn data(s: &mut Surroundings, w: &mut Warp, op: &Op, active: u32) -> Result<(), Trouble> {
    match op {
        Op::Load(access) => memory::load(s, w, access, active)?,
        Op::Store(access) => {
            memory::store(s, w, access, active)?;
            if w.undefined.is_some() {
                undefined::after_store(s, w, access, active);
            }
        }
        Op::Atomic(access) => atomic::atomic(s, w, access, active)?,
        Op::Copy {
            to,
            from,
            bytes,
            source_bytes,
        } => copy::copy(s, w, (to, from), *bytes, *source_bytes, active)?,
        Op::Commit => lanes(active).for_each(|lane| w.committed[lane] += 1),
        Op::Wait(left) => copy::wait(s, w, *left, active),
        Op::ActiveMask { d } => write::<u32>(&mut w.regs, *d, active, &[active; 32]),
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
            let what = what.to_string();
            return Err(FaultKind::NotImplemented { what }.into());
        }
        Op::Fail(what) => {
            let what = what.to_string();
            return Err(FaultKind::Invalid { what }.into());
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

fn clock(s: &Surroundings, w: &mut Warp, d: Reg, upper: bool, active: u32) {
    // The clock is the number of instructions that the block executed before this turn of the warp, plus the number of
    // times that the block has executed this instruction.
    let now = s.counters.executed[s.pc as usize] + s.counters.instructions;
    match d.file {
        File::Long => write::<u64>(&mut w.regs, d.index, active, &[now; 32]),
        _ if upper => write::<u32>(&mut w.regs, d.index, active, &[(now >> 32) as u32; 32]),
        _ => write::<u32>(&mut w.regs, d.index, active, &[now as u32; 32]),
    }
}
