//! The instructions of a warpgroup (PTX ISA 9.7.15). Each warp computes its own rows, so no warp waits for another one.

use super::access::{Surroundings, Trouble};
use crate::FaultKind;
use crate::ptx::code::{Use, Warpgroup};
use crate::ptx::descriptor::Descriptor;
use crate::ptx::proxy::WARPS;
use crate::ptx::regs::LANES;
use crate::ptx::shared::Wrong;
use crate::ptx::warp::Warp;
use crate::ptx::wgmma::{Left, Wgmma};

fn invalid(what: impl Into<String>) -> Trouble {
    FaultKind::Invalid { what: what.into() }.into()
}

fn wrong(wrong: Wrong) -> Trouble {
    Trouble { wrong, lane: None }
}

/// Checks the registers that an instruction uses against those of the products in flight.
pub(super) fn check_use(w: &mut Warp, uses: &Use, active: u32) -> Result<(), Trouble> {
    let is_whole = active == w.alive;
    let Some(flight) = &mut w.flight else {
        return Ok(());
    };
    match uses {
        _ if active == 0 => Ok(()),
        Use::Of(registers) => flight.touch(registers),
        Use::Copy { d, a } if is_whole => flight.rename(*d, *a),
        Use::Copy { d, a } => flight.touch(&[*d, *a]),
    }
    .map_err(invalid)
}

/// Executes an instruction that orders products.
pub(super) fn order(
    s: &mut Surroundings,
    w: &mut Warp,
    what: Warpgroup,
    mask: u32,
) -> Result<(), Trouble> {
    if mask != !0 {
        return Err(invalid(
            "a warpgroup instruction needs all lanes of the warp",
        ));
    }
    let Warp { flight, regs, .. } = w;
    let Some(flight) = flight else {
        return Ok(());
    };
    match what {
        Warpgroup::Fence => flight.fence(),
        Warpgroup::Commit => flight.commit(),
        Warpgroup::Wait(left) => {
            let end = flight.wait(regs, left);
            s.shared.end_reads(s.warp, end).map_err(wrong)?;
        }
    }
    Ok(())
}

/// Executes `wgmma.mma_async` for the rows of a warp.
pub(super) fn multiply(s: &mut Surroundings, w: &mut Warp, op: &Wgmma) -> Result<(), Trouble> {
    let Warp { flight, regs, .. } = w;
    let Some(flight) = flight else {
        return Ok(());
    };
    let uniform = |register: u32| {
        let values = &regs.longs[register as usize];
        match values.iter().all(|value| *value == values[0]) {
            true => Ok(values[0]),
            false => Err(invalid(
                "the lanes of a warp have different matrix descriptors",
            )),
        }
    };
    let a_bits = match op.a {
        Left::Shared(register, _) => Some(uniform(register)?),
        Left::Registers(_) => None,
    };
    let b_bits = uniform(op.b)?;
    let adds = match regs.preds[op.adds as usize] {
        0 => false,
        u32::MAX => true,
        _ => {
            return Err(invalid(
                "the lanes of a warp have different predicates `scale-d`",
            ));
        }
    };
    let who = s.who(0);
    s.shared.issue(who, [a_bits.unwrap_or(0), b_bits])?;
    let decode = |bits| Descriptor::decode(bits).map_err(invalid);
    let a = a_bits.map(decode).transpose()?;
    let b = decode(b_bits)?;
    let blocks = op.blocks(a.as_ref(), &b, u32::from(s.warp) % WARPS as u32);
    let group = flight.group();
    for (at, mask) in blocks.pieces() {
        s.shared.begin_reads(&at, mask, who, group).map_err(wrong)?;
    }
    let sums = flight.begin(regs, &op.d, op.left()).map_err(invalid)?;
    op.run(regs, s.shared.bytes(), &blocks, adds, sums);
    // The counters count products of 16 x 8 x 16 elements, as many as `mma.sync` would need.
    let more = op.parts() - 1;
    s.counters.executed[s.pc as usize] += more;
    s.counters.lanes[s.pc as usize] += more * LANES as u64;
    s.counters.instructions += more;
    Ok(())
}
