//! Instructions of a wave that has undefined values. See [`crate::undefined`].

use std::collections::BTreeMap;

use super::access;
use super::execute;
use super::flow::Step;
use super::isa::instruction::{Flat, Instruction, Placed, ScalarLoad, Segment, Share};
use super::isa::memory::{Access, Part, ShareKind};
use super::isa::operand::{EXEC, M0, PRIVATE_APERTURE, SHARED_APERTURE};
use super::isa::packed::PackedOp;
use super::isa::program_flow::FlowOp;
use super::isa::scalar::ScalarOp;
use super::isa::vector::VectorOp;
use super::kernel::Kernel;
use super::lane_data::{deliver_marks, lanes_of};
use super::lds::ShareFault;
use super::mentioned::{CONDITION, NEXT, SCALARS, mentioned};
use super::object::Text;
use super::private;
use super::trouble::{Shared, Trouble};
use super::wave::Wave;
use crate::undefined::{Origin, Registers, Row, Undefined, bytes_of};

/// Bytes of shared memory to which an undefined value is stored.
type Lost = BTreeMap<u64, Origin>;

impl Registers for Wave {
    fn row(&self, register: usize) -> Row {
        let mut row = [0; 32];
        match register {
            CONDITION => row[0] = self.scc.into(),
            NEXT => row[0] = self.next.into(),
            SCALARS.. => row[0] = self.scalar[register - SCALARS].into(),
            _ => row = self.vector[register].map(u64::from),
        }
        row
    }

    fn put_row(&mut self, register: usize, row: &Row) {
        match register {
            CONDITION => self.scc = row[0] & 1 != 0,
            NEXT => self.next = row[0] as u32,
            SCALARS.. => self.scalar[register - SCALARS] = row[0] as u32,
            _ => self.vector[register] = row.map(|value| value as u32),
        }
    }
}

/// Executes one instruction of a wave that has undefined values.
#[inline(never)]
pub(super) fn execute(
    kernel: &Kernel,
    text: &Text,
    number: u8,
    wave: &mut Wave,
    shared: &mut Shared,
    one: &Placed,
) -> Result<Step, Trouble> {
    let lost = match &one.instruction {
        Instruction::Share(share) if !share.op.kind.is_exchange() => before_share(wave, share)?,
        Instruction::Flat(flat) => before_flat(wave, flat)?,
        Instruction::ScalarLoad(load) => {
            before_scalar_load(wave, load)?;
            Lost::new()
        }
        instruction => {
            let mut run =
                |wave: &mut Wave| execute::execute(kernel, text, number, wave, shared, one);
            return on_registers(wave, instruction, &mut run);
        }
    };
    let step = execute::execute(kernel, text, number, wave, shared, one)?;
    if !lost.is_empty() {
        shared.lds.store_undefined(lost);
    }
    drop_if_empty(wave);
    Ok(step)
}

fn drop_if_empty(wave: &mut Wave) {
    let is_empty = |undefined: &Undefined| undefined.is_empty();
    if wave.undefined.as_deref().is_some_and(is_empty) {
        wave.undefined = None;
    }
}

fn used((lane, from): (Option<usize>, Origin)) -> Trouble {
    Trouble {
        fault: ShareFault::Undefined(from),
        lane: lane.map(|lane| lane as u32),
    }
}

/// Executes an instruction on registers.
fn on_registers(
    wave: &mut Wave,
    instruction: &Instruction,
    run: &mut dyn FnMut(&mut Wave) -> Result<Step, Trouble>,
) -> Result<Step, Trouble> {
    let Some(mut undefined) = wave.undefined.take() else {
        return run(wave);
    };
    let mut all = Vec::new();
    mentioned(instruction, wave.m0(), &mut |register| all.push(register));
    if !all.iter().any(|&register| undefined.has(register)) {
        wave.undefined = Some(undefined);
        return run(wave);
    }
    // A mode, and the number of a register, must be defined.
    if let Some(register) = selector(instruction)
        && let Some((_, from)) = undefined.first(register, !0)
    {
        return Err(used((None, from)));
    }
    all.sort_unstable();
    all.dedup();
    // The lanes 16 to 31 of a matrix instruction must hold the operands of the lanes 0 to 15.
    let alike =
        matches!(instruction, Instruction::Packed(packed) if PackedOp::is_matrix(packed.op));
    let step = undefined.execute(wave, &all, alike, run)?;
    // The lanes that execute, and the next instruction, must not depend on an undefined value.
    for register in [SCALARS + usize::from(EXEC), NEXT] {
        if let Some((_, from)) = undefined.first(register, !0) {
            return Err(used((None, from)));
        }
    }
    if !undefined.is_empty() {
        wave.undefined = Some(undefined);
    }
    Ok(step)
}

/// The register whose value selects another register, or that an instruction writes to the mode.
fn selector(instruction: &Instruction) -> Option<usize> {
    let m0 = SCALARS + usize::from(M0);
    match instruction {
        Instruction::Vector(one) => match one.op {
            VectorOp::MovreldB32 | VectorOp::MovrelsB32 | VectorOp::MovrelsdB32 => Some(m0),
            _ => None,
        },
        Instruction::Scalar(one) => match one.op {
            ScalarOp::MovrelsB32
            | ScalarOp::MovrelsB64
            | ScalarOp::MovreldB32
            | ScalarOp::MovreldB64 => Some(m0),
            _ => None,
        },
        Instruction::Flow(one) if one.op == FlowOp::SetregB32 => {
            Some(SCALARS + usize::from(one.register & 127))
        }
        _ => None,
    }
}

impl Wave {
    /// It is a fault if one of `count` vector registers from `first` on has undefined bits in an active lane.
    fn need_vectors(&self, first: u8, count: u8) -> Result<(), Trouble> {
        let Some(undefined) = &self.undefined else {
            return Ok(());
        };
        for i in 0..count {
            let register = usize::from(first.wrapping_add(i));
            if let Some((lane, from)) = undefined.first(register, self.exec()) {
                return Err(used((Some(lane), from)));
            }
        }
        Ok(())
    }

    fn need_scalars(&self, first: u8, count: u8) -> Result<(), Trouble> {
        let Some(undefined) = &self.undefined else {
            return Ok(());
        };
        for i in 0..count {
            let register = SCALARS + usize::from(first.wrapping_add(i) & 127);
            if let Some((_, from)) = undefined.first(register, !0) {
                return Err(used((None, from)));
            }
        }
        Ok(())
    }

    /// Marks the results of a load as defined, in the active lanes.
    fn clear_results(&mut self, dst: u8, access: Access) {
        for lane in lanes_of(self.exec()) {
            deliver_marks(self, dst, lane, (&[0; 4], None), access);
        }
    }

    /// Marks the previous value that an atomic operation returns as defined.
    fn clear_old(&mut self, dst: u8, bytes: u8) {
        let exec = self.exec();
        if let Some(undefined) = &mut self.undefined {
            for i in 0..bytes / 4 {
                undefined.clear(dst.wrapping_add(i).into(), exec);
            }
        }
    }

    /// The undefined bits of the words that a lane stores, and their origin.
    fn stored(&self, data: u8, lane: usize, bytes: u8, part: Part) -> ([u32; 4], Option<Origin>) {
        let (mut words, mut from) = ([0; 4], None);
        for (i, word) in (0..bytes.div_ceil(4)).zip(&mut words) {
            let (mut bits, origin) = self.undefined_bits(data.wrapping_add(i), lane);
            if part == Part::High {
                bits >>= 16;
            }
            *word = match bytes {
                1 => bits & 0xff,
                2 => bits & 0xffff,
                _ => bits,
            };
            from = from.or(origin.filter(|_| *word != 0));
        }
        (words, from)
    }

    /// Adds the bytes that a lane's store makes undefined, and removes the bytes that it makes defined.
    fn lose(&self, lost: &mut Lost, address: u32, store: (u8, u8, Part), lane: usize) {
        let (data, bytes, part) = store;
        let (words, from) = self.stored(data, lane, bytes, part);
        for i in 0..u32::from(bytes) {
            let offset = u64::from(address.wrapping_add(i));
            // If several lanes store to a byte, the last one wins.
            match from {
                Some(from) if words[i as usize / 4] >> (i % 4 * 8) & 0xff != 0 => {
                    lost.insert(offset, from);
                }
                _ => drop(lost.remove(&offset)),
            }
        }
    }
}

fn before_scalar_load(wave: &mut Wave, one: &ScalarLoad) -> Result<(), Trouble> {
    wave.need_scalars(one.base, 2)?;
    if let Some(register) = one.register {
        wave.need_scalars(register, 1)?;
    }
    if let Some(undefined) = &mut wave.undefined {
        for i in 0..one.words {
            undefined.clear(SCALARS + usize::from(one.dst.wrapping_add(i) & 127), !0);
        }
    }
    Ok(())
}

/// Checks and moves marks before an access to shared memory.
fn before_share(wave: &mut Wave, one: &Share) -> Result<Lost, Trouble> {
    wave.need_vectors(one.address, 1)?;
    let base = wave.vector[usize::from(one.address)];
    let mut lost = Lost::new();
    match one.op.kind {
        ShareKind::One(access @ Access::Load { .. }) => wave.clear_results(one.dst, access),
        ShareKind::One(Access::Store { bytes, part }) => {
            let offset = u16::from_le_bytes(one.offsets);
            for lane in lanes_of(wave.exec()) {
                let at = base[lane].wrapping_add(offset.into());
                wave.lose(&mut lost, at, (one.data[0], bytes, part), lane);
            }
        }
        ShareKind::One(Access::Atomic { op, bytes }) => {
            need_operands(wave, one.data, bytes, op.operands())?;
        }
        ShareKind::Returning(Access::Atomic { op, bytes }) => {
            need_operands(wave, one.data, bytes, op.operands())?;
            wave.clear_old(one.dst, bytes);
        }
        ShareKind::Two {
            load,
            bytes,
            stride,
        } => {
            for i in 0..2 {
                if load {
                    wave.clear_old(one.dst.wrapping_add(i as u8 * bytes / 4), bytes);
                    continue;
                }
                let offset = u32::from(one.offsets[i]) * u32::from(bytes) * u32::from(stride);
                for lane in lanes_of(wave.exec()) {
                    let at = base[lane].wrapping_add(offset);
                    wave.lose(&mut lost, at, (one.data[i], bytes, Part::Whole), lane);
                }
            }
        }
        _ => {}
    }
    Ok(lost)
}

fn need_operands(wave: &Wave, data: [u8; 2], bytes: u8, count: u8) -> Result<(), Trouble> {
    let mut used = data.iter().take(count.into());
    used.try_for_each(|&register| wave.need_vectors(register, bytes / 4))
}

/// The memory that a lane accesses.
enum Place {
    Global,
    Shared(u32),
    Private(u32),
}

/// Checks and moves marks before an access to flat, global or private memory.
fn before_flat(wave: &mut Wave, one: &Flat) -> Result<Lost, Trouble> {
    let is_scratch = one.segment == Segment::Scratch;
    if let Some(base) = one.base {
        wave.need_scalars(base, if is_scratch { 1 } else { 2 })?;
    }
    if let Some(address) = one.address {
        let is_wide = !is_scratch && one.base.is_none();
        wave.need_vectors(address, if is_wide { 2 } else { 1 })?;
    }
    let addresses = match is_scratch {
        true => private::addresses(wave, one)
            .map(|at| u64::from(PRIVATE_APERTURE) << 32 | u64::from(at)),
        false => access::addresses(wave, one),
    };
    let place = |lane: usize| match (addresses[lane] >> 32) as u32 {
        PRIVATE_APERTURE if one.segment != Segment::Global => {
            Place::Private(addresses[lane] as u32)
        }
        SHARED_APERTURE if one.segment == Segment::Flat => Place::Shared(addresses[lane] as u32),
        _ => Place::Global,
    };
    let mut lost = Lost::new();
    match one.op.access {
        access @ Access::Load { bytes, .. } => {
            for lane in lanes_of(wave.exec()) {
                let (mut words, mut from) = ([0; 4], None);
                if let (Place::Private(at), Some(undefined)) = (place(lane), &wave.undefined) {
                    for (i, word) in (0..)
                        .step_by(4)
                        .take(bytes.div_ceil(4).into())
                        .zip(&mut words)
                    {
                        let count = u32::from(bytes).min(4);
                        let marks = undefined.load_private(lane, at.wrapping_add(i), count);
                        *word = marks.map_or(0, |(bits, _)| bits as u32);
                        from = from.or(marks.map(|(_, from)| from));
                    }
                }
                deliver_marks(wave, one.dst, lane, (&words, from), access);
            }
        }
        Access::Store { bytes, part } => {
            for lane in lanes_of(wave.exec()) {
                match place(lane) {
                    Place::Private(at) => store_private(wave, (one.data, bytes, part), lane, at),
                    Place::Shared(at) => {
                        wave.lose(&mut lost, at, (one.data, bytes, part), lane);
                    }
                    Place::Global => {
                        if let (_, Some(from)) = wave.stored(one.data, lane, bytes, part) {
                            return Err(used((Some(lane), from)));
                        }
                    }
                }
            }
        }
        Access::Atomic { op, bytes } => {
            let second = one.data.wrapping_add(bytes / 4);
            need_operands(wave, [one.data, second], bytes, op.operands())?;
            if one.returns {
                wave.clear_old(one.dst, bytes);
            }
        }
    }
    Ok(lost)
}

fn store_private(wave: &mut Wave, store: (u8, u8, Part), lane: usize, address: u32) {
    let (data, bytes, part) = store;
    let (words, from) = wave.stored(data, lane, bytes, part);
    let Some(undefined) = &mut wave.undefined else {
        return;
    };
    for (i, &word) in (0..).step_by(4).zip(&words).take(bytes.div_ceil(4).into()) {
        let marks = from.map(|from| (word.into(), from));
        let bytes = bytes_of(marks, u32::from(bytes).min(4));
        undefined.store_private(lane, address.wrapping_add(i), &bytes);
    }
}
