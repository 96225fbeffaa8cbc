//! The decoded form of a kernel.

use std::ops::Range;

use super::regs::{Args, Run};

/// A file of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum File {
    Word,
    Long,
    Pred,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg {
    pub file: File,
    pub index: u32,
}

/// A special register that does not change while a warp runs (PTX ISA 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Laneid,
    Warpid,
    Nwarpid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicShared,
    TotalShared,
    /// A value that does not depend on the launch.
    Fixed(u32),
}

/// A value known when the kernel is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Bits(u64),
    /// The address of a variable of the module, by its index, plus an offset.
    Variable(usize, i64),
    /// The offset of dynamic shared memory, plus an offset.
    Dynamic(i64),
}

/// A state space that an access names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Generic,
    Global,
    Shared,
    Local,
    Param,
}

/// An address: a register, if there is one, plus an offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub room: Room,
    pub base: Reg,
    pub offset: i64,
}

/// A load or a store.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub address: Address,
    /// Bytes of one element.
    pub bytes: u32,
    pub signed: bool,
    /// Registers of the elements.
    pub regs: Vec<Reg>,
    /// Whether it may synchronise threads: volatile, relaxed, acquire or release.
    pub strong: bool,
}

/// What an atomic operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atomic {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// An atomic operation.
#[derive(Clone, Debug)]
pub(super) struct AtomicAccess {
    pub address: Address,
    pub op: Atomic,
    pub ty: super::types::Type,
    /// Where the old value goes.
    pub old: Option<Reg>,
    pub b: Reg,
    pub c: Option<Reg>,
}

/// The way of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What lanes of a warp do together; all lanes of `members` must arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Together {
    Shuffle {
        way: Shuffle,
        d: u32,
        p: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    /// `vote.sync`: 0 all, 1 any, 2 uni, 3 ballot; the last one writes a word.
    Vote {
        kind: u32,
        d: u32,
        p: Reg,
    },
    /// `match.any` or `match.all` on 32 or 64 bits.
    Match {
        all: bool,
        d: u32,
        p: u32,
        a: Reg,
    },
    Redux {
        op: Atomic,
        signed: bool,
        d: u32,
        a: u32,
    },
    /// `elect.sync`: the first lane.
    Elect {
        d: u32,
        p: u32,
    },
    /// `bar.warp.sync`
    Sync,
    Matrix(Matrix),
}

/// An operation on matrices, which all lanes of the warp execute; the payload is an index into [`Code::matrices`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix(pub u32);

/// A matrix operation in full.
#[derive(Clone, Debug)]
pub(super) enum MatrixOp {
    Mma(super::mma::Mma),
    Load {
        address: Address,
        transposed: bool,
        d: Vec<u32>,
    },
    Store {
        address: Address,
        transposed: bool,
        a: Vec<u32>,
    },
    Transpose {
        d: u32,
        a: u32,
    },
}

/// What a barrier of the block does besides waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    None,
    Arrive,
    And { d: u32, p: u32 },
    Or { d: u32, p: u32 },
    Count { d: u32, p: u32 },
}

/// A barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub id: u32,
    /// A register with the number of threads.
    pub threads: Option<u32>,
    pub reduction: Reduction,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Alu {
        run: Run,
        args: Args,
    },
    /// The lanes of the guard jump.
    Branch {
        target: u32,
        join: u32,
    },
    /// `brx.idx`
    Switch {
        index: u32,
        targets: Box<[u32]>,
        join: u32,
    },
    Exit,
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<AtomicAccess>),
    Together {
        what: Together,
        members: u32,
    },
    Barrier(Barrier),
    /// `cp.async`: to shared memory from global memory; the rest of `bytes` beyond `source_bytes` is zero.
    Copy {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<u32>,
    },
    Commit,
    /// Until at most so many groups are pending.
    Wait(u32),
    ActiveMask {
        d: u32,
    },
    /// A counter that grows with every instruction.
    Clock {
        d: Reg,
        upper: bool,
    },
    /// Whether a generic address is in a space.
    IsSpace {
        d: u32,
        a: Reg,
        room: Room,
    },
    Fence,
    Trap,
    /// Names what the interpreter lacks.
    NotImplemented(Box<str>),
    /// Ends the launch with a sentence.
    Fail(Box<str>),
}

/// An instruction and its guard: the lanes where the predicate holds, or does not hold if `negated`.
#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub op: Op,
    pub guard: u32,
    pub negated: bool,
}

/// Where an instruction is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// The line of the PTX text.
    pub text: u32,
    /// File number and line of the source, if the text has `.loc`.
    pub source: Option<(u32, u32)>,
}

/// A kernel.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub name: String,
    pub insts: Vec<Inst>,
    pub origins: Vec<Origin>,
    pub matrices: Vec<MatrixOp>,
    pub words: u32,
    pub longs: u32,
    pub preds: u32,
    pub specials: Vec<(u32, Special)>,
    pub constants: Vec<(Reg, Value)>,
    /// Offset and size of each parameter.
    pub parameters: Vec<(u32, u32)>,
    pub parameter_bytes: u32,
    /// Static shared memory as it is on a GPU.
    pub static_bytes: u32,
    /// The same with the gaps between variables.
    pub shared_bytes: u32,
    /// What belongs to no variable.
    pub gaps: Vec<Range<u32>>,
    /// The alignment of dynamic shared memory, behind the static one.
    pub dynamic_align: u32,
    pub local_bytes: u32,
    pub max_threads: u32,
    pub required_threads: Option<[u32; 3]>,
    /// The narrowest access to shared memory, in bytes.
    pub granule: u32,
}

/// Bytes between two variables of shared memory. An access past the end of one is then not an access to the next.
const GAP: u32 = 16;

/// Where the next variable of shared memory begins.
pub(super) fn after_gap(end: u32, align: u32) -> u32 {
    let gap = if end == 0 { 0 } else { GAP };
    (end + gap).next_multiple_of(align.max(1))
}

impl Code {
    /// The offset of dynamic shared memory.
    pub fn dynamic_base(&self) -> u32 {
        after_gap(self.shared_bytes, self.dynamic_align)
    }
}
