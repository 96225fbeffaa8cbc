//! The memory instructions of the instruction set: LDS, flat, global and scratch.
//!
//! AMD, "RDNA3 Instruction Set Architecture", DS and FLAT.

/// The function that an atomic operation applies to the value in memory and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Swap,
    /// Stores the operand if the value in memory equals the comparand.
    CompareSwap,
    CompareSwapF32,
    Add,
    Sub,
    /// The operand minus the value in memory.
    ReverseSub,
    MinI,
    MinU,
    MaxI,
    MaxU,
    And,
    Or,
    Xor,
    /// Increments up to the operand, then wraps to 0.
    Inc,
    /// Decrements down to 0, then wraps to the operand.
    Dec,
    AddF32,
    MinF,
    MaxF,
}

/// The part of a register that a narrow access uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole register. A loaded value is extended.
    Whole,
    /// The low half. The high half keeps its value.
    Low,
    /// The high half. The low half keeps its value.
    High,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load { bytes: u8, signed: bool, part: Part },
    Store { bytes: u8, part: Part },
    Atomic { op: Atomic, bytes: u8 },
}

/// A flat, global or scratch instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlatOp {
    /// The mnemonic, without the prefix for the kind of memory.
    pub name: &'static str,
    pub access: Access,
}

/// The kind of an LDS instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareKind {
    /// An access at one address.
    One(Access),
    /// An atomic operation that returns the previous value.
    Returning(Access),
    /// An access at two addresses. An offset is multiplied by the element size and by the stride.
    Two {
        load: bool,
        bytes: u8,
        stride: u8,
    },
    Permute,
    BackwardPermute,
    Swizzle,
}

impl ShareKind {
    /// Whether the instruction exchanges values between lanes and does not access memory.
    pub fn is_exchange(self) -> bool {
        use ShareKind::{BackwardPermute, Permute, Swizzle};
        matches!(self, Permute | BackwardPermute | Swizzle)
    }
}

/// An LDS instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShareOp {
    pub name: &'static str,
    pub kind: ShareKind,
}

const fn load(bytes: u8) -> Access {
    Access::Load {
        bytes,
        signed: false,
        part: Part::Whole,
    }
}

const fn signed(bytes: u8) -> Access {
    Access::Load {
        bytes,
        signed: true,
        part: Part::Whole,
    }
}

const fn part(bytes: u8, signed: bool, part: Part) -> Access {
    Access::Load {
        bytes,
        signed,
        part,
    }
}

const fn store(bytes: u8) -> Access {
    Access::Store {
        bytes,
        part: Part::Whole,
    }
}

const fn store_high(bytes: u8) -> Access {
    Access::Store {
        bytes,
        part: Part::High,
    }
}

const fn atomic(op: Atomic, bytes: u8) -> Access {
    Access::Atomic { op, bytes }
}

impl FlatOp {
    /// The instruction with this opcode.
    pub fn of(code: u32) -> Option<FlatOp> {
        let (name, access) = flat_load_store(code).or_else(|| flat_atomic(code))?;
        Some(FlatOp { name, access })
    }
}

fn flat_load_store(code: u32) -> Option<(&'static str, Access)> {
    Some(match code {
        0x10 => ("load_u8", load(1)),
        0x11 => ("load_i8", signed(1)),
        0x12 => ("load_u16", load(2)),
        0x13 => ("load_i16", signed(2)),
        0x14 => ("load_b32", load(4)),
        0x15 => ("load_b64", load(8)),
        0x16 => ("load_b96", load(12)),
        0x17 => ("load_b128", load(16)),
        0x18 => ("store_b8", store(1)),
        0x19 => ("store_b16", store(2)),
        0x1a => ("store_b32", store(4)),
        0x1b => ("store_b64", store(8)),
        0x1c => ("store_b96", store(12)),
        0x1d => ("store_b128", store(16)),
        0x1e => ("load_d16_u8", part(1, false, Part::Low)),
        0x1f => ("load_d16_i8", part(1, true, Part::Low)),
        0x20 => ("load_d16_b16", part(2, false, Part::Low)),
        0x21 => ("load_d16_hi_u8", part(1, false, Part::High)),
        0x22 => ("load_d16_hi_i8", part(1, true, Part::High)),
        0x23 => ("load_d16_hi_b16", part(2, false, Part::High)),
        0x24 => ("store_d16_hi_b8", store_high(1)),
        0x25 => ("store_d16_hi_b16", store_high(2)),
        _ => return None,
    })
}

fn flat_atomic(code: u32) -> Option<(&'static str, Access)> {
    use Atomic::*;
    Some(match code {
        0x33 => ("atomic_swap_b32", atomic(Swap, 4)),
        0x34 => ("atomic_cmpswap_b32", atomic(CompareSwap, 4)),
        0x35 => ("atomic_add_u32", atomic(Add, 4)),
        0x36 => ("atomic_sub_u32", atomic(Sub, 4)),
        0x38 => ("atomic_min_i32", atomic(MinI, 4)),
        0x39 => ("atomic_min_u32", atomic(MinU, 4)),
        0x3a => ("atomic_max_i32", atomic(MaxI, 4)),
        0x3b => ("atomic_max_u32", atomic(MaxU, 4)),
        0x3c => ("atomic_and_b32", atomic(And, 4)),
        0x3d => ("atomic_or_b32", atomic(Or, 4)),
        0x3e => ("atomic_xor_b32", atomic(Xor, 4)),
        0x3f => ("atomic_inc_u32", atomic(Inc, 4)),
        0x40 => ("atomic_dec_u32", atomic(Dec, 4)),
        0x41 => ("atomic_swap_b64", atomic(Swap, 8)),
        0x42 => ("atomic_cmpswap_b64", atomic(CompareSwap, 8)),
        0x43 => ("atomic_add_u64", atomic(Add, 8)),
        0x44 => ("atomic_sub_u64", atomic(Sub, 8)),
        0x45 => ("atomic_min_i64", atomic(MinI, 8)),
        0x46 => ("atomic_min_u64", atomic(MinU, 8)),
        0x47 => ("atomic_max_i64", atomic(MaxI, 8)),
        0x48 => ("atomic_max_u64", atomic(MaxU, 8)),
        0x49 => ("atomic_and_b64", atomic(And, 8)),
        0x4a => ("atomic_or_b64", atomic(Or, 8)),
        0x4b => ("atomic_xor_b64", atomic(Xor, 8)),
        0x4c => ("atomic_inc_u64", atomic(Inc, 8)),
        0x4d => ("atomic_dec_u64", atomic(Dec, 8)),
        0x50 => ("atomic_cmpswap_f32", atomic(CompareSwapF32, 4)),
        0x51 => ("atomic_min_f32", atomic(MinF, 4)),
        0x52 => ("atomic_max_f32", atomic(MaxF, 4)),
        0x56 => ("atomic_add_f32", atomic(AddF32, 4)),
        _ => return None,
    })
}

impl ShareOp {
    /// The instruction with this opcode.
    pub fn of(code: u32) -> Option<ShareOp> {
        let (name, kind) = share_load_store(code)
            .or_else(|| share_two(code))
            .or_else(|| share_atomic(code).map(|(name, access)| (name, ShareKind::One(access))))
            .or_else(|| {
                share_returning(code).map(|(name, access)| (name, ShareKind::Returning(access)))
            })?;
        Some(ShareOp { name, kind })
    }
}

fn share_load_store(code: u32) -> Option<(&'static str, ShareKind)> {
    let one = |name, access| Some((name, ShareKind::One(access)));
    match code {
        0x0d => one("ds_store_b32", store(4)),
        0x1e => one("ds_store_b8", store(1)),
        0x1f => one("ds_store_b16", store(2)),
        0x36 => one("ds_load_b32", load(4)),
        0x39 => one("ds_load_i8", signed(1)),
        0x3a => one("ds_load_u8", load(1)),
        0x3b => one("ds_load_i16", signed(2)),
        0x3c => one("ds_load_u16", load(2)),
        0x4d => one("ds_store_b64", store(8)),
        0x76 => one("ds_load_b64", load(8)),
        0xa0 => one("ds_store_b8_d16_hi", store_high(1)),
        0xa1 => one("ds_store_b16_d16_hi", store_high(2)),
        0xa2 => one("ds_load_u8_d16", part(1, false, Part::Low)),
        0xa3 => one("ds_load_u8_d16_hi", part(1, false, Part::High)),
        0xa4 => one("ds_load_i8_d16", part(1, true, Part::Low)),
        0xa5 => one("ds_load_i8_d16_hi", part(1, true, Part::High)),
        0xa6 => one("ds_load_u16_d16", part(2, false, Part::Low)),
        0xa7 => one("ds_load_u16_d16_hi", part(2, false, Part::High)),
        0xde => one("ds_store_b96", store(12)),
        0xdf => one("ds_store_b128", store(16)),
        0xfe => one("ds_load_b96", load(12)),
        0xff => one("ds_load_b128", load(16)),
        0x35 => Some(("ds_swizzle_b32", ShareKind::Swizzle)),
        0xb2 => Some(("ds_permute_b32", ShareKind::Permute)),
        0xb3 => Some(("ds_bpermute_b32", ShareKind::BackwardPermute)),
        _ => None,
    }
}

fn share_two(code: u32) -> Option<(&'static str, ShareKind)> {
    let two = |name, load, bytes, stride| {
        Some((
            name,
            ShareKind::Two {
                load,
                bytes,
                stride,
            },
        ))
    };
    match code {
        0x0e => two("ds_store_2addr_b32", false, 4, 1),
        0x0f => two("ds_store_2addr_stride64_b32", false, 4, 64),
        0x37 => two("ds_load_2addr_b32", true, 4, 1),
        0x38 => two("ds_load_2addr_stride64_b32", true, 4, 64),
        0x4e => two("ds_store_2addr_b64", false, 8, 1),
        0x4f => two("ds_store_2addr_stride64_b64", false, 8, 64),
        0x77 => two("ds_load_2addr_b64", true, 8, 1),
        0x78 => two("ds_load_2addr_stride64_b64", true, 8, 64),
        _ => None,
    }
}

fn share_atomic(code: u32) -> Option<(&'static str, Access)> {
    use Atomic::*;
    Some(match code {
        0x00 => ("ds_add_u32", atomic(Add, 4)),
        0x01 => ("ds_sub_u32", atomic(Sub, 4)),
        0x02 => ("ds_rsub_u32", atomic(ReverseSub, 4)),
        0x03 => ("ds_inc_u32", atomic(Inc, 4)),
        0x04 => ("ds_dec_u32", atomic(Dec, 4)),
        0x05 => ("ds_min_i32", atomic(MinI, 4)),
        0x06 => ("ds_max_i32", atomic(MaxI, 4)),
        0x07 => ("ds_min_u32", atomic(MinU, 4)),
        0x08 => ("ds_max_u32", atomic(MaxU, 4)),
        0x09 => ("ds_and_b32", atomic(And, 4)),
        0x0a => ("ds_or_b32", atomic(Or, 4)),
        0x0b => ("ds_xor_b32", atomic(Xor, 4)),
        0x10 => ("ds_cmpstore_b32", atomic(CompareSwap, 4)),
        0x12 => ("ds_min_f32", atomic(MinF, 4)),
        0x13 => ("ds_max_f32", atomic(MaxF, 4)),
        0x15 => ("ds_add_f32", atomic(AddF32, 4)),
        0x40 => ("ds_add_u64", atomic(Add, 8)),
        0x41 => ("ds_sub_u64", atomic(Sub, 8)),
        0x45 => ("ds_min_i64", atomic(MinI, 8)),
        0x46 => ("ds_max_i64", atomic(MaxI, 8)),
        0x47 => ("ds_min_u64", atomic(MinU, 8)),
        0x48 => ("ds_max_u64", atomic(MaxU, 8)),
        0x49 => ("ds_and_b64", atomic(And, 8)),
        0x4a => ("ds_or_b64", atomic(Or, 8)),
        0x4b => ("ds_xor_b64", atomic(Xor, 8)),
        0x50 => ("ds_cmpstore_b64", atomic(CompareSwap, 8)),
        _ => return None,
    })
}

fn share_returning(code: u32) -> Option<(&'static str, Access)> {
    use Atomic::*;
    Some(match code {
        0x20 => ("ds_add_rtn_u32", atomic(Add, 4)),
        0x21 => ("ds_sub_rtn_u32", atomic(Sub, 4)),
        0x22 => ("ds_rsub_rtn_u32", atomic(ReverseSub, 4)),
        0x23 => ("ds_inc_rtn_u32", atomic(Inc, 4)),
        0x24 => ("ds_dec_rtn_u32", atomic(Dec, 4)),
        0x25 => ("ds_min_rtn_i32", atomic(MinI, 4)),
        0x26 => ("ds_max_rtn_i32", atomic(MaxI, 4)),
        0x27 => ("ds_min_rtn_u32", atomic(MinU, 4)),
        0x28 => ("ds_max_rtn_u32", atomic(MaxU, 4)),
        0x29 => ("ds_and_rtn_b32", atomic(And, 4)),
        0x2a => ("ds_or_rtn_b32", atomic(Or, 4)),
        0x2b => ("ds_xor_rtn_b32", atomic(Xor, 4)),
        0x2d => ("ds_storexchg_rtn_b32", atomic(Swap, 4)),
        0x30 => ("ds_cmpstore_rtn_b32", atomic(CompareSwap, 4)),
        0x32 => ("ds_min_rtn_f32", atomic(MinF, 4)),
        0x33 => ("ds_max_rtn_f32", atomic(MaxF, 4)),
        0x60 => ("ds_add_rtn_u64", atomic(Add, 8)),
        0x61 => ("ds_sub_rtn_u64", atomic(Sub, 8)),
        0x65 => ("ds_min_rtn_i64", atomic(MinI, 8)),
        0x66 => ("ds_max_rtn_i64", atomic(MaxI, 8)),
        0x67 => ("ds_min_rtn_u64", atomic(MinU, 8)),
        0x68 => ("ds_max_rtn_u64", atomic(MaxU, 8)),
        0x69 => ("ds_and_rtn_b64", atomic(And, 8)),
        0x6a => ("ds_or_rtn_b64", atomic(Or, 8)),
        0x6b => ("ds_xor_rtn_b64", atomic(Xor, 8)),
        0x6d => ("ds_storexchg_rtn_b64", atomic(Swap, 8)),
        0x70 => ("ds_cmpstore_rtn_b64", atomic(CompareSwap, 8)),
        0x79 => ("ds_add_rtn_f32", atomic(AddF32, 4)),
        _ => return None,
    })
}

impl Atomic {
    /// The number of operands in registers.
    pub fn operands(self) -> u8 {
        match self {
            Atomic::CompareSwap | Atomic::CompareSwapF32 => 2,
            _ => 1,
        }
    }
}
