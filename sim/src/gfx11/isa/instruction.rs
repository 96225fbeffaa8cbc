//! A decoded instruction.

use super::compare::CompareOp;
use super::memory::{FlatOp, ShareOp};
use super::operand::Src;
use super::packed::PackedOp;
use super::program_flow::FlowOp;
use super::scalar::ScalarOp;
use super::vector::VectorOp;

/// An instruction and where it lies.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// Its byte offset in the section.
    pub offset: u32,
    /// What it does.
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
    /// LDS.
    Share(Share),
    /// Flat, global and scratch memory.
    Flat(Flat),
    /// It has no effect on what a wave computes: cache control and hints.
    Hint(&'static str),
    /// Not known.
    Unknown(Unknown),
}

/// A scalar ALU instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub op: ScalarOp,
    /// The mnemonic; a SOPK instruction has its own.
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
    /// The register of a wait that names one.
    pub register: u8,
    /// The index of the instruction that a branch goes to.
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
    /// Sources that lose their sign: one bit each.
    pub abs: u8,
    /// Sources that are negated.
    pub neg: u8,
    /// Sources that are the high half of a register; bit 3 is the result's.
    pub high: u8,
    /// Whether the result is clamped.
    pub clamp: bool,
    /// The result times 2 (1), times 4 (2) or halved (3).
    pub omod: u8,
}

/// A vector ALU instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector {
    pub op: VectorOp,
    pub dst: u8,
    /// The scalar result of carries and of `v_div_scale`.
    pub sdst: u8,
    pub src: [Src; 3],
    /// Whether `mods` are other than none.
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

/// Lanes from which the first source is taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dpp {
    /// The lane to read from; 0xff if it is outside its row.
    pub lanes: [u8; 32],
    /// Lanes that may be written by the row and bank masks.
    pub enabled: u32,
    /// Whether a lane that reads from nowhere reads zero; else it is not written.
    pub bound_zero: bool,
    /// Whether inactive lanes may be read.
    pub fetch_inactive: bool,
}

/// What a half of a VOPD instruction does.
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

/// Half of a VOPD instruction.
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

/// Which memory an address is in.
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
    /// The register of the address, if there is one.
    pub address: Option<u8>,
    pub data: u8,
    pub base: Option<u8>,
    pub offset: i32,
    /// Whether an atomic operation gives the former value.
    pub returns: bool,
}

/// Bits that are not an instruction that the simulator knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unknown {
    pub word: u32,
    /// What is not known, if the instruction itself is.
    pub what: &'static str,
}
