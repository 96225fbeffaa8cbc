//! Atomic operations (PTX ISA 9.7.13.5).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use half::{bf16, f16};

use super::access::{Surroundings, Trouble, addresses, aligned, get, read, write};
use super::count;
use crate::FaultKind;
use crate::ptx::cells::Intent;
use crate::ptx::code::{Atomic, AtomicAccess, File, Room};
use crate::ptx::regs::lanes;
use crate::ptx::shared::Wrong;
use crate::ptx::space::resolve;
use crate::ptx::types::Type;
use crate::ptx::warp::Warp;

/// Executes an atomic operation lane by lane, in ascending order. The ISA does not specify the order.
pub(super) fn atomic(
    s: &mut Surroundings,
    w: &mut Warp,
    x: &AtomicAccess,
    mask: u32,
) -> Result<(), Trouble> {
    let at = addresses(&w.regs, &x.address);
    let room = super::access::room(&x.address, &at, mask);
    let bytes = x.ty.bytes();
    match room {
        Room::Global => s.count_global(&at, mask, bytes),
        Room::Shared => count::shared(s.traffic(), &at, mask, bytes),
        _ => {}
    }
    for lane in lanes(mask) {
        let (room, address) = if room == Room::Generic {
            resolve(at[lane])
        } else {
            (room, at[lane])
        };
        let b = get(&w.regs, x.b, lane);
        let c = x.c.map_or(0, |c| get(&w.regs, c, lane));
        aligned(address, bytes, lane)?;
        let trouble = |wrong| Trouble {
            wrong,
            lane: Some(lane as u32),
        };
        let old = match room {
            Room::Shared => {
                let who = s.who(lane);
                // Except for `exch`, an atomic operation on memory that holds no value is a fault.
                if x.op != Atomic::Exch {
                    s.shared
                        .check(address, bytes, Intent::StrongRead, who)
                        .map_err(trouble)?;
                } else if let Some(old) = x.old {
                    let checked = s.shared.check_load(address, bytes, Intent::StrongRead, who);
                    if let (_, Some(missing)) = checked.map_err(trouble)? {
                        w.mark_missing(old, lane, bytes, &missing);
                    }
                }
                let offset = s
                    .shared
                    .check(address, bytes, Intent::StrongWrite, who)
                    .map_err(trouble)?;
                let old = s.shared.load(offset, bytes);
                s.shared.store(offset, bytes, apply(x.op, x.ty, old, b, c));
                old
            }
            Room::Local | Room::Param => {
                let what = "an atomic operation on memory that is not global or shared".to_owned();
                return Err(trouble(Wrong::Kind(FaultKind::Invalid { what })));
            }
            _ => {
                s.shared.synchronise(address, s.warp);
                global(s, x, address, b, c).map_err(|kind| trouble(Wrong::Kind(kind)))?
            }
        };
        if let Some(d) = x.old {
            match d.file {
                File::Long => w.regs.longs[d.index as usize][lane] = old,
                _ => w.regs.words[d.index as usize][lane] = old as u32,
            }
        }
    }
    Ok(())
}

fn global(
    s: &Surroundings,
    x: &AtomicAccess,
    address: u64,
    b: u64,
    c: u64,
) -> Result<u64, FaultKind> {
    let bytes = x.ty.bytes();
    let (region, offset) = s.memory.find(address, bytes)?;
    if bytes == 4 {
        let update = |old: u32| Some(apply(x.op, x.ty, old.into(), b, c) as u32);
        let word = region.word(offset);
        let (Ok(old) | Err(old)) = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, update);
        return Ok(old.into());
    }
    let _held = s.lock.lock().unwrap_or_else(PoisonError::into_inner);
    let old = read(region, offset, bytes);
    write(region, offset, bytes, apply(x.op, x.ty, old, b, c));
    Ok(old)
}

fn apply(op: Atomic, ty: Type, old: u64, b: u64, c: u64) -> u64 {
    let mask = if ty.bits() == 64 {
        !0
    } else {
        (1 << ty.bits()) - 1
    };
    let (old, b, c) = (old & mask, b & mask, c & mask);
    match op {
        Atomic::Add => add(ty, old, b) & mask,
        Atomic::Min | Atomic::Max => {
            let flip = if ty.signed() { 1 << (ty.bits() - 1) } else { 0 };
            let less = (old ^ flip) < (b ^ flip);
            if less == (op == Atomic::Min) { old } else { b }
        }
        Atomic::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        Atomic::And => old & b,
        Atomic::Or => old | b,
        Atomic::Xor => old ^ b,
        Atomic::Exch => b,
        Atomic::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
    }
}

fn add(ty: Type, old: u64, b: u64) -> u64 {
    let halves = |f: fn(u16, u16) -> u16| {
        let low = f(old as u16, b as u16);
        let high = f((old >> 16) as u16, (b >> 16) as u16);
        u64::from(low) | u64::from(high) << 16
    };
    let f16_sum = |a: u16, b: u16| {
        (f16::from_f64(f16::from_bits(a).to_f64() + f16::from_bits(b).to_f64())).to_bits()
    };
    let bf16_sum = |a: u16, b: u16| {
        (bf16::from_f64(bf16::from_bits(a).to_f64() + bf16::from_bits(b).to_f64())).to_bits()
    };
    match ty {
        Type::F32 => u64::from((f32::from_bits(old as u32) + f32::from_bits(b as u32)).to_bits()),
        Type::F64 => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        Type::F16 => f16_sum(old as u16, b as u16).into(),
        Type::Bf16 => bf16_sum(old as u16, b as u16).into(),
        Type::F16x2 => halves(f16_sum),
        Type::Bf16x2 => halves(bf16_sum),
        _ => old.wrapping_add(b),
    }
}
