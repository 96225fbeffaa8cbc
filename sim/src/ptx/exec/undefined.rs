//! Instructions of a warp that has undefined values. See [`crate::undefined`].

use super::access::{Surroundings, Trouble, addresses, extended, room};
use super::matrix;
use super::together;
use crate::counters::Counters;
use crate::ptx::code::{
    Access, Address, Barrier, Code, File, Inst, MatrixOp, Op, Reduction, Reg, Room, Together,
};
use crate::ptx::regs::{LANES, lanes};
use crate::ptx::shared::Wrong;
use crate::ptx::space::resolve;
use crate::ptx::warp::Warp;
use crate::ptx::wgmma::{Left, Wgmma};
use crate::undefined::{Origin, Registers, Row, bytes_of};

fn word(index: u32) -> Reg {
    Reg {
        file: File::Word,
        index,
    }
}

fn long(index: u32) -> Reg {
    Reg {
        file: File::Long,
        index,
    }
}

fn pred(index: u32) -> Reg {
    Reg {
        file: File::Pred,
        index,
    }
}

fn used(lane: usize, from: Origin) -> Trouble {
    Trouble {
        wrong: Wrong::Undefined(from),
        lane: Some(lane as u32),
    }
}

impl Registers for Warp {
    fn row(&self, register: usize) -> Row {
        self.regs.row(register)
    }

    fn put_row(&mut self, register: usize, row: &Row) {
        self.regs.put_row(register, row);
    }
}

impl Warp {
    /// It is a fault if the register has undefined bits in one of these lanes.
    fn need(&self, reg: Reg, lanes: u32) -> Result<(), Trouble> {
        let undefined = self.undefined.as_ref();
        match undefined.and_then(|undefined| undefined.first(reg.number(), lanes)) {
            Some((lane, from)) => Err(used(lane, from)),
            None => Ok(()),
        }
    }

    fn clear(&mut self, reg: Reg, lanes: u32) {
        if let Some(undefined) = &mut self.undefined {
            undefined.clear(reg.number(), lanes);
        }
    }

    fn marks(&self, reg: Reg, lane: usize) -> Option<(u64, Origin)> {
        self.undefined.as_ref()?.of(reg.number(), lane)
    }

    fn drop_if_empty(&mut self) {
        if self
            .undefined
            .as_ref()
            .is_some_and(|undefined| undefined.is_empty())
        {
            self.undefined = None;
        }
    }
}

/// Executes the next instruction of the current group if it only uses registers. Returns the number of instructions.
#[inline(never)]
pub(super) fn on_registers(code: &Code, w: &mut Warp, counters: &mut Counters) -> u32 {
    let group = w.groups[w.current];
    let inst = &code.insts[group.pc as usize];
    let Op::Alu { run, args } = &inst.op else {
        return 0;
    };
    super::count(counters, inst, &w.regs, &group);
    if let Some(undefined) = &mut w.undefined {
        let mentioned = code.mentioned(group.pc);
        let Ok(()) = undefined.execute(&mut w.regs, mentioned, false, |regs| {
            run(regs, args, group.mask & inst.guarded(regs));
            Ok::<_, std::convert::Infallible>(())
        });
    }
    w.drop_if_empty();
    w.groups[w.current].pc += 1;
    1
}

/// Checks and moves marks before an instruction that does more than use registers. The address, the guard and every
/// value that leaves the warp must be defined.
#[inline(never)]
pub(super) fn before(w: &mut Warp, inst: &Inst, active: u32) -> Result<(), Trouble> {
    w.need(pred(inst.guard), w.groups[w.current].mask)?;
    match &inst.op {
        Op::Switch { index, .. } => w.need(word(*index), active)?,
        Op::Load(access) => before_load(w, access, active)?,
        Op::Store(access) => before_store(w, access, active)?,
        Op::Atomic(access) => {
            w.need(access.address.base, active)?;
            w.need(access.b, active)?;
            access.c.map_or(Ok(()), |c| w.need(c, active))?;
            if let Some(old) = access.old {
                w.clear(old, active);
            }
        }
        Op::Together { members, .. } => w.need(word(*members), active)?,
        Op::Barrier(barrier) => before_barrier(w, barrier, active)?,
        Op::Copy {
            to,
            from,
            source_bytes,
            ..
        } => {
            w.need(to.base, active)?;
            w.need(from.base, active)?;
            source_bytes.map_or(Ok(()), |bytes| w.need(word(bytes), active))?;
        }
        Op::ActiveMask { d } => w.clear(word(*d), active),
        Op::Clock { d, .. } => w.clear(*d, active),
        Op::IsSpace { d, a, .. } => {
            w.need(*a, active)?;
            w.clear(pred(*d), active);
        }
        _ => {}
    }
    w.drop_if_empty();
    Ok(())
}

fn before_barrier(w: &mut Warp, barrier: &Barrier, active: u32) -> Result<(), Trouble> {
    w.need(word(barrier.id), active)?;
    if let Some(threads) = barrier.threads {
        w.need(word(threads), active)?;
    }
    let (d, p) = match barrier.reduction {
        Reduction::And { d, p } | Reduction::Or { d, p } => (pred(d), p),
        Reduction::Count { d, p } => (word(d), p),
        Reduction::None | Reduction::Arrive => return Ok(()),
    };
    w.need(pred(p), active)?;
    w.clear(d, active);
    Ok(())
}

/// The memory that each lane accesses, and the address in it.
fn places(w: &Warp, address: &Address, active: u32) -> impl Fn(usize) -> (Room, u64) + use<> {
    let at = addresses(&w.regs, address);
    let room = room(address, &at, active);
    move |lane| match room {
        Room::Generic => resolve(at[lane]),
        room => (room, at[lane]),
    }
}

fn before_load(w: &mut Warp, access: &Access, active: u32) -> Result<(), Trouble> {
    w.need(access.address.base, active)?;
    let place = places(w, &access.address, active);
    for &reg in &access.regs {
        w.clear(reg, active);
    }
    let Some(undefined) = &mut w.undefined else {
        return Ok(());
    };
    for lane in lanes(active) {
        let (Room::Local, address) = place(lane) else {
            continue;
        };
        for (i, reg) in (0..).zip(&access.regs) {
            let at = (address as u32).wrapping_add(i * access.bytes);
            if let Some((bits, from)) = undefined.load_private(lane, at, access.bytes) {
                undefined.set(reg.number(), lane, extended(bits, access), from);
            }
        }
    }
    Ok(())
}

/// The undefined bits of the part of a register that a store writes.
fn stored(w: &Warp, access: &Access, reg: Reg, lane: usize) -> Option<(u64, Origin)> {
    let (bits, from) = w.marks(reg, lane)?;
    let bits = bits & u64::MAX >> (64 - 8 * access.bytes);
    (bits != 0).then_some((bits, from))
}

fn before_store(w: &mut Warp, access: &Access, active: u32) -> Result<(), Trouble> {
    w.need(access.address.base, active)?;
    let place = places(w, &access.address, active);
    for lane in lanes(active) {
        let (room, address) = place(lane);
        for (i, &reg) in (0..).zip(&access.regs) {
            let marks = stored(w, access, reg, lane);
            match (room, marks) {
                // [`after_store`] marks shared memory.
                (Room::Shared | Room::Param, _) => {}
                (Room::Local, marks) => {
                    let bytes = bytes_of(marks, access.bytes);
                    if let Some(undefined) = &mut w.undefined {
                        let at = (address as u32).wrapping_add(i * access.bytes);
                        undefined.store_private(lane, at, &bytes);
                    }
                }
                (_, Some((_, from))) => return Err(used(lane, from)),
                (_, None) => {}
            }
        }
    }
    Ok(())
}

/// Marks the bytes of shared memory to which a store wrote undefined values.
#[inline(never)]
pub(super) fn after_store(s: &mut Surroundings, w: &Warp, access: &Access, active: u32) {
    let place = places(w, &access.address, active);
    for (i, &reg) in (0..).zip(&access.regs) {
        for lane in lanes(active) {
            let (Room::Shared, address) = place(lane) else {
                continue;
            };
            if let Some((_, from)) = stored(w, access, reg, lane) {
                let at = address + u64::from(i * access.bytes);
                s.shared.store_undefined(at, access.bytes, from);
            }
        }
    }
}

/// Executes an instruction that involves several lanes. Unlike [`together::together`], the warp may have undefined
/// values.
#[inline(always)]
pub(super) fn together(
    s: &mut Surroundings,
    w: &mut Warp,
    what: &Together,
    code: &Code,
    mask: u32,
) -> Result<(), Trouble> {
    match w.undefined {
        None => together::together(s, w, what, &code.matrices, mask),
        Some(_) => together_undefined(s, w, what, code, mask),
    }
}

#[inline(never)]
fn together_undefined(
    s: &mut Surroundings,
    w: &mut Warp,
    what: &Together,
    code: &Code,
    mask: u32,
) -> Result<(), Trouble> {
    let op = match what {
        Together::Matrix(index) => Some(&code.matrices[index.0 as usize]),
        _ => None,
    };
    match op {
        Some(MatrixOp::Load { address, d, .. }) => {
            w.need(address.base, row_lanes(d))?;
            d.iter().for_each(|&d| w.clear(word(d), mask));
        }
        Some(MatrixOp::Store { address, a, .. }) => w.need(address.base, row_lanes(a))?,
        Some(MatrixOp::Warpgroup(product)) => before_product(w, product)?,
        None if matches!(what, Together::Warpgroup(_)) => {}
        _ => {
            let Some(mut undefined) = w.undefined.take() else {
                return Ok(());
            };
            let mentioned = code.mentioned(s.pc);
            let done = undefined.execute(w, mentioned, false, |w| {
                together::together(s, w, what, &code.matrices, mask)
            });
            w.undefined = Some(undefined);
            w.drop_if_empty();
            return done;
        }
    }
    together::together(s, w, what, &code.matrices, mask)?;
    if let Some(MatrixOp::Store {
        address,
        transposed,
        a,
    }) = op
    {
        after_matrix_store(s, w, address, *transposed, a);
    }
    w.drop_if_empty();
    Ok(())
}

/// The lanes that supply the addresses of the rows of matrices.
fn row_lanes(matrices: &[u32]) -> u32 {
    ((1u64 << (8 * matrices.len())) - 1) as u32
}

/// A product is asynchronous, so its operands must be defined.
fn before_product(w: &mut Warp, product: &Wgmma) -> Result<(), Trouble> {
    w.need(long(product.b), !0)?;
    w.need(pred(product.adds), !0)?;
    match &product.a {
        Left::Shared(register, _) => w.need(long(*register), !0)?,
        Left::Registers(all) => all.iter().try_for_each(|&a| w.need(word(a), !0))?,
    }
    for &d in &product.d {
        match w.regs.preds[product.adds as usize] {
            0 => w.clear(word(d), !0),
            _ => w.need(word(d), !0)?,
        }
    }
    Ok(())
}

/// The undefined bits of a register in every lane, and the origin of the first ones.
fn marked_row(w: &Warp, reg: Reg) -> Option<([u32; LANES], Origin)> {
    let undefined = w.undefined.as_ref()?;
    let (_, from) = undefined.first(reg.number(), !0)?;
    let bits = |lane| {
        undefined
            .of(reg.number(), lane)
            .map_or(0, |(bits, _)| bits as u32)
    };
    Some((std::array::from_fn(bits), from))
}

/// Marks the bytes of shared memory to which `stmatrix` wrote undefined values.
fn after_matrix_store(
    s: &mut Surroundings,
    w: &Warp,
    address: &Address,
    transposed: bool,
    a: &[u32],
) {
    let at = matrix::offsets(&w.regs, address);
    for (rows, &a) in at.chunks_exact(8).zip(a) {
        let Some((bits, from)) = marked_row(w, word(a)) else {
            continue;
        };
        let bits = matrix::from_lanes(&bits, transposed);
        for (&row, bits) in rows.iter().zip(&bits) {
            for (column, &bits) in (0..).zip(bits) {
                if bits != 0 {
                    s.shared.store_undefined(row + 2 * column, 2, from);
                }
            }
        }
    }
}
