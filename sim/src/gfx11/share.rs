//! Instructions on shared memory, and permutations of lanes that use its hardware.
//!
//! AMD, "RDNA3 Instruction Set Architecture", chapter 12 ("Data Share") and the pseudo-code of DS.

use pulp::{Simd, WithSimd};

use super::atomic;
use super::isa::instruction::Share;
use super::isa::memory::{Access, Part, ShareKind};
use super::lane_data::{data, deliver, deliver_marks, deliver_old, lanes_of, operands};
use super::lds::{Lds, Loaded, ShareFault};
use super::lds_notes::Request;
use super::lds_trace::Who;
use super::trouble::{Shared, Trouble};
use super::wave::{Lanes, Wave};
use crate::banks::conflicts;
use crate::lanes::{each, over};
use crate::undefined::{NO_LANE, Origin};
use crate::wide::wide;

/// The properties of an instruction that are the same for all lanes.
pub(super) struct Lane {
    pub access: Access,
    pub dst: u8,
    /// Whether an atomic operation returns the previous value.
    pub returns: bool,
}

/// Accesses shared memory for one lane.
pub(super) fn lane(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &Lane,
    registers: [u8; 2],
    lane: usize,
    address: u64,
    who: Who,
) -> Result<(), ShareFault> {
    match one.access {
        Access::Load { bytes, .. } => {
            let loaded = shared.lds.load(address, bytes.into(), who)?;
            take(w, one.dst, lane, &loaded, one.access);
        }
        Access::Store { bytes, part } => {
            let value = data(w, registers[0], lane, bytes, part);
            shared.lds.store(address, bytes.into(), &value, who)?;
        }
        Access::Atomic { op, bytes } => {
            let data = operands(w, registers, lane, bytes);
            let old = shared.lds.update(address, bytes.into(), who, |old| {
                atomic::apply(op, bytes, old, data)
            })?;
            if one.returns {
                deliver_old(w, one.dst, lane, bytes, old);
            }
        }
    }
    Ok(())
}

/// Writes the result of a load to a lane's registers, and marks its undefined bits.
fn take(w: &mut Wave, dst: u8, lane: usize, loaded: &Loaded, access: Access) {
    deliver(w, dst, lane, &loaded.words, access);
    if let Some(from) = loaded.from {
        let lane_of_load = match from.lane {
            NO_LANE => lane as u8,
            known => known,
        };
        let from = Origin {
            lane: lane_of_load,
            ..from
        };
        deliver_marks(w, dst, lane, (&loaded.undefined, Some(from)), access);
    }
}

/// Executes an instruction on shared memory.
pub(super) fn share(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &Share,
    who: Who,
) -> Result<(), Trouble> {
    let exec = w.exec();
    if exec == 0 {
        return Ok(());
    }
    let base = w.vector[usize::from(one.address)];
    let trouble = |fault, lane: usize| Trouble {
        fault,
        lane: Some(lane as u32),
    };
    match one.op.kind {
        ShareKind::One(access) | ShareKind::Returning(access) => {
            let returns = matches!(one.op.kind, ShareKind::Returning(_));
            let offset = u16::from_le_bytes(one.offsets);
            let addresses = over(&base, |base| address(base, offset.into()));
            let request = Request {
                at: &addresses,
                bytes: width(access).into(),
                mask: exec,
                who,
                is_second: false,
            };
            if whole(w, shared, (access, one.dst, one.data[0]), &request) {
                return Ok(());
            }
            let what = Lane {
                access,
                dst: one.dst,
                returns,
            };
            for lane_number in lanes_of(exec) {
                let address = addresses[lane_number].into();
                let done = lane(w, shared, &what, one.data, lane_number, address, who);
                done.map_err(|fault| trouble(fault, lane_number))?;
            }
        }
        ShareKind::Two {
            load,
            bytes,
            stride,
        } => {
            if both(w, shared, one, (load, bytes, stride), who) {
                return Ok(());
            }
            for lane_number in lanes_of(exec) {
                let done = two(
                    w,
                    &mut shared.lds,
                    one,
                    (load, bytes, stride),
                    lane_number,
                    who,
                );
                done.map_err(|fault| trouble(fault, lane_number))?;
            }
        }
        ShareKind::Permute => permute(w, one, exec),
        ShareKind::BackwardPermute => backward_permute(w, one, exec),
        ShareKind::Swizzle => swizzle(w, one, exec),
    }
    Ok(())
}

/// Counts an access to shared memory, and executes it for all lanes at once. Returns `false` if each lane must be
/// checked.
fn whole(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    (access, dst, data): (Access, u8, u8),
    request: &Request,
) -> bool {
    let lds = &mut shared.lds;
    let noted = match access {
        Access::Load { .. } => {
            let noted = lds.note_load(request);
            if noted.is_done {
                gather(w, lds, access, dst, request.at, request.mask);
            }
            noted
        }
        Access::Store { .. } => {
            let registers = &w.vector;
            lds.note_store(request, |lane, i| {
                registers[usize::from(data.wrapping_add(i as u8))][lane]
            })
        }
        Access::Atomic { bytes, .. } => {
            count(shared, request.at, request.mask, bytes);
            return false;
        }
    };
    shared.traffic().shared_requests += 1;
    shared.traffic().shared_conflicts += noted.conflicts;
    noted.is_done
}

/// Counts accesses at two addresses, and executes them for all lanes at once. Returns `false` if the lanes must be
/// executed one by one, for example because the two addresses overlap.
fn both(
    w: &mut Wave,
    shared: &mut Shared<'_>,
    one: &Share,
    (load, bytes, stride): (bool, u8, u8),
    who: Who,
) -> bool {
    let base = w.vector[usize::from(one.address)];
    let mask = w.exec();
    let at = one.offsets.map(|offset| {
        let offset = u32::from(offset) * u32::from(bytes) * u32::from(stride);
        over(&base, |base| address(base, offset))
    });
    let registers = &w.vector;
    let (mut conflicts, mut is_done) = (0, true);
    for (i, at) in at.iter().enumerate() {
        if !is_done {
            conflicts += crate::banks::conflicts(at, mask, bytes.into());
            continue;
        }
        let request = Request {
            at,
            bytes: bytes.into(),
            mask,
            who,
            is_second: i != 0,
        };
        let data = one.data[i];
        let noted = match load {
            true => shared.lds.note_load(&request),
            false => shared.lds.note_store(&request, |lane, i| {
                registers[usize::from(data.wrapping_add(i as u8))][lane]
            }),
        };
        conflicts += noted.conflicts;
        is_done = noted.is_done;
    }
    shared.traffic().shared_requests += 1;
    shared.traffic().shared_conflicts += conflicts;
    if is_done && load {
        let access = Access::Load {
            bytes,
            signed: false,
            part: Part::Whole,
        };
        for (i, at) in at.iter().enumerate() {
            let dst = one.dst.wrapping_add(i as u8 * bytes / 4);
            gather(w, &shared.lds, access, dst, at, mask);
        }
    }
    is_done
}

/// Fills registers with the words at checked addresses.
#[inline(always)]
fn gather(w: &mut Wave, lds: &Lds, access: Access, dst: u8, at: &Lanes, exec: u32) {
    let Access::Load { bytes, .. } = access else {
        return;
    };
    let words = lds.words();
    match (bytes, exec) {
        (4, u32::MAX) => wide(Fill::<1> { w, words, dst, at }),
        (8, u32::MAX) => wide(Fill::<2> { w, words, dst, at }),
        (12, u32::MAX) => wide(Fill::<3> { w, words, dst, at }),
        (16, u32::MAX) => wide(Fill::<4> { w, words, dst, at }),
        _ => {
            for lane in lanes_of(exec) {
                let first = at[lane] as usize / 4;
                let mut value = [0; 4];
                for (i, value) in value
                    .iter_mut()
                    .take(usize::from(bytes.div_ceil(4)))
                    .enumerate()
                {
                    *value = words[first + i];
                }
                // The access is a part of a word.
                if bytes < 4 {
                    value[0] = value[0] >> (at[lane] % 4 * 8) & ((1 << (8 * bytes)) - 1);
                }
                deliver(w, dst, lane, &value, access);
            }
        }
    }
}

/// Fills `N` registers of all lanes with words.
struct Fill<'a, const N: usize> {
    w: &'a mut Wave,
    words: &'a [u32],
    dst: u8,
    at: &'a Lanes,
}

impl<const N: usize> WithSimd for Fill<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut rows = [[0; 32]; N];
        crate::lanes::spread(simd, &mut rows, |lane| {
            let first = self.at[lane] as usize / 4;
            let mut words = [0; N];
            words.copy_from_slice(&self.words[first..first + N]);
            words
        });
        for (i, row) in rows.iter().enumerate() {
            self.w.vector[usize::from(self.dst.wrapping_add(i as u8))] = *row;
        }
    }
}

/// The address of an access. It wraps at 32 bits, because clang folds constants into the offset even for a negative
/// base.
fn address(base: u32, offset: u32) -> u32 {
    base.wrapping_add(offset)
}

/// The number of bytes that one lane accesses.
pub(super) fn width(access: Access) -> u8 {
    match access {
        Access::Load { bytes, .. } | Access::Store { bytes, .. } | Access::Atomic { bytes, .. } => {
            bytes
        }
    }
}

/// Accesses two addresses for one lane. The base address is read before a result overwrites its register.
fn two(
    w: &mut Wave,
    lds: &mut Lds,
    one: &Share,
    (load, bytes, stride): (bool, u8, u8),
    lane: usize,
    who: Who,
) -> Result<(), ShareFault> {
    let base = w.vector[usize::from(one.address)][lane];
    let at = |i: usize| {
        address(
            base,
            u32::from(one.offsets[i]) * u32::from(bytes) * u32::from(stride),
        )
    };
    if !load {
        for i in 0..2 {
            let value = data(w, one.data[i], lane, bytes, Part::Whole);
            lds.store(at(i).into(), bytes.into(), &value, who)?;
        }
        return Ok(());
    }
    let values = [
        lds.load(at(0).into(), bytes.into(), who)?,
        lds.load(at(1).into(), bytes.into(), who)?,
    ];
    let access = Access::Load {
        bytes,
        signed: false,
        part: Part::Whole,
    };
    for (i, value) in values.iter().enumerate() {
        let dst = one.dst.wrapping_add(i as u8 * bytes / 4);
        take(w, dst, lane, value, access);
    }
    Ok(())
}

/// Counts a request and its bank conflicts, in cycles beyond the minimum. Lanes are served in groups that access at
/// most 128 bytes, and each bank delivers one word per cycle.
pub(super) fn count(shared: &mut Shared<'_>, addresses: &Lanes, exec: u32, bytes: u8) {
    shared.traffic().shared_requests += 1;
    shared.traffic().shared_conflicts += conflicts(addresses, exec, bytes.into());
}

/// Each lane sends its data to the lane that it specifies. If several lanes specify the same lane, the highest one
/// wins.
fn permute(w: &mut Wave, one: &Share, exec: u32) {
    let (index, value) = (
        w.vector[usize::from(one.address)],
        w.vector[usize::from(one.data[0])],
    );
    let offset = u32::from(u16::from_le_bytes(one.offsets));
    let mut result = [0; 32];
    for lane in lanes_of(exec) {
        result[lane_of(index[lane], offset)] = value[lane];
    }
    w.put(one.dst, &result, exec);
}

/// Each lane receives the data of the lane that it specifies, or 0 if that lane is inactive.
fn backward_permute(w: &mut Wave, one: &Share, exec: u32) {
    let (index, value) = (
        w.vector[usize::from(one.address)],
        w.vector[usize::from(one.data[0])],
    );
    let offset = u32::from(u16::from_le_bytes(one.offsets));
    let result: Lanes = each(|lane| {
        let from = lane_of(index[lane], offset);
        if exec >> from & 1 != 0 {
            value[from]
        } else {
            0
        }
    });
    w.put(one.dst, &result, exec);
}

/// The lane that a byte offset specifies, which is four times the index of the lane. Higher bits are ignored.
fn lane_of(index: u32, offset: u32) -> usize {
    (index.wrapping_add(offset) / 4 % 32) as usize
}

/// Exchanges data between lanes by a pattern: within groups of four lanes, or by bit masks on the lane index.
fn swizzle(w: &mut Wave, one: &Share, exec: u32) {
    let value = w.vector[usize::from(one.address)];
    let pattern = usize::from(u16::from_le_bytes(one.offsets));
    let result: Lanes = each(|lane| {
        let from = match (pattern >> 15, pattern >> 13) {
            (0, _) => (lane & pattern & 31 | pattern >> 5 & 31) ^ pattern >> 10 & 31,
            (_, 0b111) => lane,
            (_, 0b110) => {
                let (mask, amount, down) =
                    (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 1 != 0);
                let moved = if down {
                    lane.wrapping_sub(amount)
                } else {
                    lane + amount
                };
                lane & mask | moved & 31 & !mask
            }
            _ => lane & !3 | pattern >> (2 * (lane & 3)) & 3,
        };
        if exec >> from & 1 != 0 {
            value[from]
        } else {
            0
        }
    });
    w.put(one.dst, &result, exec);
}
