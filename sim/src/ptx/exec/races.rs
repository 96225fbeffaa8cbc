//! Writes to shared memory that race with earlier loads.
//!
//! Such a race is a fault only if the loaded value is used. When the write is executed, the warp of the load may have
//! continued, but not past a barrier of all warps. If no instruction that it may have executed since then uses the
//! registers of the load, the value is still in them, and they are marked as undefined. Otherwise, the race is reported
//! at once.

use std::collections::{HashMap, HashSet};

use super::PtxBlock;
use crate::ptx::code::{Code, File, MatrixOp, Op, Reduction, Reg, Together};
use crate::ptx::regs::lanes;
use crate::ptx::shared::Raced;
use crate::undefined::{Cause, Origin};
use crate::{Fault, FaultKind, Place};

/// Cached results of [`is_unused`]. The key is the index of a load, and the index of the instruction at which a group
/// of lanes is (`None` if the lanes have ended).
pub(super) type Dropped = HashMap<(u32, Option<u32>), bool>;

impl PtxBlock<'_> {
    /// Marks the registers of loads that race with later writes, or reports these races.
    pub(super) fn judge_races(&mut self) -> Result<(), Fault> {
        if !self.shared.has_raced() {
            return Ok(());
        }
        for raced in self.shared.take_raced() {
            self.judge(raced)?;
        }
        Ok(())
    }

    fn judge(&mut self, raced: Raced) -> Result<(), Fault> {
        let reader = raced.reader;
        let code = &*self.kernel.code;
        let w = &mut self.warps[usize::from(reader.warp)];
        let registers = loaded(code, reader.pc);
        let mut groups = w.groups.iter();
        let group = groups.find(|group| group.mask >> reader.lane & 1 != 0);
        let key = (reader.pc, group.map(|group| group.pc));
        let is_dropped = *self
            .dropped
            .entry(key)
            .or_insert_with(|| is_unused(code, key.0, key.1, &registers));
        if !is_dropped {
            return Err(self.race(&raced));
        }
        let origin = Origin {
            at: reader.pc,
            warp: reader.warp,
            lane: reader.lane,
            offset: raced.offset as u32,
            cause: Cause::Race {
                warp: raced.writer.warp,
                at: raced.writer.pc,
            },
        };
        // The lane of `reader` is only one of the lanes that accessed the granule. Other lanes of its group may have
        // loaded the value too, so the registers of the whole group are marked.
        let together = group.map_or(0, |group| group.mask);
        for reg in registers {
            let undefined = w.undefined.get_or_insert_default();
            let bits = match reg.file {
                File::Long => u64::MAX,
                _ => u32::MAX.into(),
            };
            for lane in lanes(together) {
                undefined.set(reg.number(), lane, bits, origin);
            }
        }
        Ok(())
    }

    fn race(&self, raced: &Raced) -> Fault {
        let (instruction, line) = self.kernel.describe(raced.writer.pc);
        let (of_read, line_of_read) = self.kernel.describe(raced.reader.pc);
        Fault {
            kind: FaultKind::Race {
                offset: raced.offset,
                other: Some(raced.reader.warp.into()),
                instruction: of_read,
                line: line_of_read,
            },
            place: Box::new(Place {
                kernel: self.kernel.code.name.clone(),
                instruction,
                offset: u64::from(raced.writer.pc),
                line,
                block: self.index,
                warp: raced.writer.warp.into(),
                lane: Some(raced.writer.lane.into()),
            }),
            used_at: None,
        }
    }
}

/// The registers that a load writes. Empty for instructions whose results are used at once.
fn loaded(code: &Code, pc: u32) -> Vec<Reg> {
    match &code.insts[pc as usize].op {
        Op::Load(access) => access.regs.clone(),
        Op::Together {
            what: Together::Matrix(index),
            ..
        } => match &code.matrices[index.0 as usize] {
            MatrixOp::Load { d, .. } => {
                let word = |&index| Reg {
                    file: File::Word,
                    index,
                };
                d.iter().map(word).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether no instruction on a path without barriers of all warps from `load` to `here` mentions the registers of the
/// load. Without `here`, the paths lead to the end of the kernel.
fn is_unused(code: &Code, load: u32, here: Option<u32>, registers: &[Reg]) -> bool {
    let after = reachable(code, load);
    if registers.is_empty() || here.is_some_and(|here| !after.contains(&here)) {
        return false;
    }
    let before = here.map(|here| leading_to(code, &after, here));
    let between = after.iter().filter(|pc| match &before {
        Some(before) => before.contains(pc),
        None => true,
    });
    let numbers: HashSet<usize> = registers.iter().map(|reg| reg.number()).collect();
    let mut mentioned = between.flat_map(|&pc| code.mentioned(pc));
    !mentioned.any(|number| numbers.contains(number))
}

/// Whether an instruction is a barrier of all warps.
fn is_barrier(code: &Code, pc: u32) -> bool {
    match &code.insts[pc as usize].op {
        Op::Barrier(barrier) => barrier.threads.is_none() && barrier.reduction != Reduction::Arrive,
        _ => false,
    }
}

/// The instructions that may follow `load` without a barrier in between. The last ones may be barriers.
fn reachable(code: &Code, load: u32) -> HashSet<u32> {
    let mut found = HashSet::new();
    let mut open: Vec<u32> = code.next(load);
    while let Some(pc) = open.pop() {
        if found.insert(pc) && !is_barrier(code, pc) {
            open.extend(code.next(pc));
        }
    }
    found
}

/// The instructions of a set that may be executed before `here` without a barrier in between.
fn leading_to(code: &Code, among: &HashSet<u32>, here: u32) -> HashSet<u32> {
    let mut previous: HashMap<u32, Vec<u32>> = HashMap::new();
    for &pc in among {
        if !is_barrier(code, pc) {
            for next in code.next(pc) {
                previous.entry(next).or_default().push(pc);
            }
        }
    }
    let mut found = HashSet::new();
    let mut open = vec![here];
    while let Some(pc) = open.pop() {
        for &previous in previous.get(&pc).into_iter().flatten() {
            if found.insert(previous) {
                open.push(previous);
            }
        }
    }
    found
}
