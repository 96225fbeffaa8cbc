//! The decoded form of a kernel.

use std::ops::Range;

use super::clusters::OfCluster;
use super::regs::{Args, FILES, Regs, Run};

/// The register files of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum File {
    Word,
    Long,
    Pred,
}

/// A register: its file, and its index in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg {
    pub file: File,
    pub index: u32,
}

impl Reg {
    /// The number of the register among those of all files.
    pub fn number(self) -> usize {
        let file = match self.file {
            File::Word => 0,
            File::Long => 1,
            File::Pred => 2,
        };
        self.index as usize * FILES + file
    }
}

/// A special register whose value does not change while a warp runs (PTX ISA 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Cluster(OfCluster),
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

/// A value that is known when the module is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Bits(u64),
    /// The address of a variable of the module (by index) plus an offset.
    Variable(usize, i64),
    /// The offset of dynamic shared memory, plus an offset.
    Dynamic(i64),
}

/// A state space, as an access specifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Generic,
    Global,
    Shared,
    Local,
    Param,
}

/// An address: a base register plus a constant offset.
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
    /// The size of one element in bytes.
    pub bytes: u32,
    pub signed: bool,
    /// The registers of the elements.
    pub regs: Vec<Reg>,
    /// Whether the access may synchronise threads: it is volatile, relaxed, acquire or release.
    pub strong: bool,
}

/// The operation of an atomic access.
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

/// An atomic access.
#[derive(Clone, Debug)]
pub(super) struct AtomicAccess {
    pub address: Address,
    pub op: Atomic,
    pub ty: super::types::Type,
    /// The destination of the old value, or `None` if it is discarded.
    pub old: Option<Reg>,
    pub b: Reg,
    pub c: Option<Reg>,
}

/// The mode of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// An instruction that involves several lanes of a warp. It executes when all lanes of `members` have arrived.
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
    /// `vote.sync`. `kind` is 0 for `all`, 1 for `any`, 2 for `uni` and 3 for `ballot`. `ballot` writes a word, and the
    /// others write a predicate.
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
    /// `elect.sync`, which elects the first lane.
    Elect {
        d: u32,
        p: u32,
    },
    /// `bar.warp.sync`
    Sync,
    Matrix(Matrix),
    Warpgroup(Warpgroup),
}

/// A matrix instruction, which all lanes of a warp execute. The number is an index into [`Code::matrices`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix(pub u32);

/// An instruction that orders the products of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warpgroup {
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group`, which leaves at most this number of groups pending.
    Wait(u32),
}

/// The registers that an instruction uses. Only registers that warpgroup products also use are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The instruction uses these registers.
    Of(Box<[u32]>),
    /// The instruction copies register `a` to register `d`.
    Copy { d: u32, a: u32 },
}

/// A decoded matrix instruction.
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
    Warpgroup(Box<super::wgmma::Wgmma>),
}

/// The variant of a block barrier: wait only, arrive only, or reduce predicates.
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
    /// The register with the number of participating threads. `None` means all threads.
    pub threads: Option<u32>,
    pub reduction: Reduction,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Alu {
        run: Run,
        args: Args,
    },
    /// The active lanes jump to `target`.
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
    /// `cp.async` from global to shared memory. `source_bytes` is the register that contains the number of bytes to
    /// copy. The rest of `bytes` is filled with zeros. `None` copies all `bytes`.
    Copy {
        to: Address,
        from: Address,
        bytes: u32,
        source_bytes: Option<u32>,
    },
    Commit,
    /// Waits until at most this number of copy groups is pending.
    Wait(u32),
    ActiveMask {
        d: u32,
    },
    /// Reads a counter that increases with every instruction.
    Clock {
        d: Reg,
        upper: bool,
    },
    /// Tests whether a generic address is in a state space.
    IsSpace {
        d: u32,
        a: Reg,
        room: Room,
    },
    Fence,
    /// `fence.proxy.async` for shared memory.
    ProxyFence,
    Trap,
    /// Ends the launch with [`crate::FaultKind::NotImplemented`] and this name.
    NotImplemented(Box<str>),
    /// Ends the launch with [`crate::FaultKind::Invalid`] and this sentence.
    Fail(Box<str>),
}

/// An instruction and its guard. It executes in lanes whose predicate is true (or false, if `negated`).
#[derive(Clone, Debug)]
pub(super) struct Inst {
    pub op: Op,
    pub guard: u32,
    pub negated: bool,
}

impl Inst {
    /// The lanes in which the guard is true.
    #[inline(always)]
    pub fn guarded(&self, regs: &Regs) -> u32 {
        let guard = regs.preds[self.guard as usize];
        if self.negated { !guard } else { guard }
    }
}

/// The position of an instruction in the text and in the source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Origin {
    /// The line in the PTX text.
    pub text: u32,
    /// The source line, if the text has `.loc` directives.
    pub source: Option<Source>,
}

/// A source line, with the numbers of its files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub file: u32,
    pub line: u32,
    /// The file and the line in the kernel from which an inlined function was called.
    pub called_at: Option<(u32, u32)>,
}

/// A decoded kernel.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub name: String,
    pub insts: Vec<Inst>,
    pub origins: Vec<Origin>,
    pub matrices: Vec<MatrixOp>,
    /// The registers that each instruction uses. Only registers that warpgroup products also use are listed. Empty if
    /// the kernel has no such products.
    pub uses: Vec<Option<Use>>,
    /// The registers that each instruction may read or write: a range of `mentioned`, which contains their numbers.
    pub mentions: Vec<Range<u32>>,
    pub mentioned: Vec<usize>,
    pub words: u32,
    pub longs: u32,
    pub preds: u32,
    pub specials: Vec<(u32, Special)>,
    pub constants: Vec<(Reg, Value)>,
    /// The offset and the size of each parameter in bytes.
    pub parameters: Vec<(u32, u32)>,
    pub parameter_bytes: u32,
    /// The size of static shared memory on a GPU, in bytes.
    pub static_bytes: u32,
    /// The size of static shared memory in the simulator, including the gaps between variables, in bytes.
    pub shared_bytes: u32,
    /// The ranges of shared memory that belong to no variable.
    pub gaps: Vec<Range<u32>>,
    /// The alignment of dynamic shared memory, which follows static shared memory.
    pub dynamic_align: u32,
    pub local_bytes: u32,
    pub max_threads: u32,
    pub required_threads: Option<[u32; 3]>,
    /// Blocks per cluster, from `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Whether the grid counts clusters (`.blocksareclusters`).
    pub grid_of_clusters: bool,
    /// The size of the narrowest access to shared memory, in bytes.
    pub granule: u32,
}

/// Number of bytes between two variables of shared memory, so an overrun of one does not reach the next one.
const GAP: u32 = 16;

/// The offset of the next variable of shared memory.
pub(super) fn after_gap(end: u32, align: u32) -> u32 {
    let gap = if end == 0 { 0 } else { GAP };
    (end + gap).next_multiple_of(align.max(1))
}

impl Code {
    /// The numbers of the registers that an instruction may read or write.
    pub fn mentioned(&self, pc: u32) -> &[usize] {
        let range = self.mentions.get(pc as usize).cloned().unwrap_or_default();
        let range = range.start as usize..range.end as usize;
        self.mentioned.get(range).unwrap_or_default()
    }

    /// The instructions that may be executed after an instruction.
    pub fn next(&self, pc: u32) -> Vec<u32> {
        let inst = &self.insts[pc as usize];
        let always = inst.guard == 0 && !inst.negated;
        let (mut next, leaves) = match &inst.op {
            Op::Branch { target, .. } => (vec![*target], always),
            Op::Switch { targets, .. } => (targets.to_vec(), always),
            Op::Exit | Op::Trap => (Vec::new(), always),
            _ => (Vec::new(), false),
        };
        if !leaves && (pc as usize) + 1 < self.insts.len() {
            next.push(pc + 1);
        }
        next
    }

    /// Whether the kernel has warpgroup products.
    pub fn has_warpgroups(&self) -> bool {
        !self.uses.is_empty()
    }

    /// The offset of dynamic shared memory.
    pub fn dynamic_base(&self) -> u32 {
        let align = self.dynamic_align.max(1);
        let base = after_gap(self.shared_bytes, align);
        // The layouts of warpgroup products depend on address bits. The base has exactly the declared alignment and no
        // larger one, so a kernel that declares too small an alignment gives wrong results here as on a GPU.
        match self.has_warpgroups() && (base / align).is_multiple_of(2) {
            true => base + align,
            false => base,
        }
    }
}
