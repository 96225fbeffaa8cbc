//! Decoded instructions.

use super::compare::CompareOp;
use super::memory::{FlatOp, ShareOp};
use super::operand::Src;
use super::packed::PackedOp;
use super::program_flow::FlowOp;
use super::scalar::ScalarOp;
use super::vector::VectorOp;

/// An instruction and its position.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The byte offset in the section.
    pub offset: u32,
    /// The decoded instruction.
    pub instruction: Instruction,
}

/// A decoded instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// SOP1, SOP2, SOPC and SOPK.
    Scalar(Scalar),
    /// SOPP: branches, waits and barriers.
    Flow(Flow),
    /// A load by the scalar unit.
    ScalarLoad(ScalarLoad),
    /// VOP1, VOP2 and VOP3.
    Vector(Vector),
    /// VOPC.
    Compare(Compare),
    /// VOP3P.
    Packed(Packed),
    /// VOPD: two instructions in one.
    Dual(Box<[Half; 2]>),
    /// An access to shared memory (the local data share, LDS).
    Share(Share),
    /// An access to flat, global or scratch memory.
    Flat(Flat),
    /// An instruction without an effect on results: cache control and hints.
    Hint(&'static str),
    /// Bits that the decoder does not know.
    Unknown(Unknown),
}

/// A scalar ALU instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub op: ScalarOp,
    /// The mnemonic. If the instruction is encoded as SOPK, it differs from the name of `op`.
    pub name: &'static str,
    pub dst: u8,
    pub a: Src,
    pub b: Src,
    /// The literal of `s_fmaak_f32` and `s_fmamk_f32`.
    pub literal: u32,
}

/// A branch, a wait or a barrier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flow {
    pub op: FlowOp,
    pub immediate: u16,
    /// The register operand of `s_getreg_b32`, `s_setreg_b32`, and waits.
    pub register: u8,
    /// The index of the branch target, or the value that `s_setreg_imm32_b32` writes.
    pub target: u32,
}

/// A load by the scalar unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScalarLoad {
    pub words: u8,
    pub dst: u8,
    pub base: u8,
    pub offset: i32,
    pub register: Option<u8>,
}

/// Modifiers of sources and of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modifiers {
    /// The sources whose absolute value is used, one bit each.
    pub abs: u8,
    /// The sources that are negated, one bit each.
    pub neg: u8,
    /// The sources that are the high half of a register, one bit each. Bit 3 is for the result.
    pub high: u8,
    /// Whether the result is clamped.
    pub clamp: bool,
    /// The factor of the result: 1 doubles it, 2 multiplies it by 4, and 3 halves it. 0 leaves it unchanged.
    pub omod: u8,
}

/// A vector ALU instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector {
    pub op: VectorOp,
    pub dst: u8,
    /// The scalar result, for carries and `v_div_scale`.
    pub sdst: u8,
    pub src: [Src; 3],
    /// Whether `mods` differ from the default.
    pub modified: bool,
    pub mods: Modifiers,
    pub dpp: Option<Box<Dpp>>,
}

/// A vector comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compare {
    pub op: CompareOp,
    pub sdst: u8,
    pub src: [Src; 2],
    pub mods: Modifiers,
    pub dpp: Option<Box<Dpp>>,
}

/// A VOP3P instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packed {
    pub op: PackedOp,
    pub dst: u8,
    pub src: [Src; 3],
    pub neg_low: u8,
    pub neg_high: u8,
    pub select_low: u8,
    pub select_high: u8,
    pub clamp: bool,
    pub dpp: Option<Box<Dpp>>,
}

/// The lanes from which the first source is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dpp {
    /// The source of each lane. 0xff is a source outside the row.
    pub lanes: [u8; 32],
    /// The lanes that the row and bank masks enable.
    pub enabled: u32,
    /// Whether a lane without a source reads zero. Otherwise it is not written.
    pub bound_zero: bool,
    /// Whether inactive lanes may be read.
    pub fetch_inactive: bool,
}

/// The operation of one half of a VOPD instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DualOp {
    Fmac,
    Fmaak,
    Fmamk,
    Mul,
    Add,
    Sub,
    Subrev,
    MulDx9Zero,
    Mov,
    Cndmask,
    Max,
    Min,
    Dot2accF16,
    AddNc,
    Lshlrev,
    And,
}

/// One half of a VOPD instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Half {
    pub op: DualOp,
    pub dst: u8,
    pub a: Src,
    pub b: u8,
    pub literal: u32,
}

/// An LDS instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub op: ShareOp,
    pub address: u8,
    pub data: [u8; 2],
    pub dst: u8,
    pub offsets: [u8; 2],
}

/// The kind of memory that an address refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Flat,
    Scratch,
    Global,
}

/// A flat, global or scratch instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flat {
    pub op: FlatOp,
    pub segment: Segment,
    pub dst: u8,
    /// The register of the address, or `None` if the instruction has no address register.
    pub address: Option<u8>,
    pub data: u8,
    pub base: Option<u8>,
    pub offset: i32,
    /// Whether an atomic operation returns the previous value.
    pub returns: bool,
}

/// Bits that encode no instruction that the simulator knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unknown {
    pub word: u32,
    /// The unknown part: the whole instruction, or a property of a known instruction.
    pub what: &'static str,
}
