//! Static descriptions of instructions.

use crate::source_line::SourceLine;

/// The description of one instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionInfo {
    /// The purpose of the instruction.
    pub class: Class,
    /// The instruction, in assembler syntax.
    pub text: String,
    /// The index of the branch target, if the instruction is a branch with a constant target.
    pub target: Option<usize>,
    /// The source line, if the image has line tables.
    pub line: Option<SourceLine>,
}

/// The purpose of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Arithmetic of the scalar ALU, which only AMD GPUs have.
    Scalar,
    /// Branches, waits and hints.
    Flow,
    /// Barriers.
    Barrier,
    /// Loads by the scalar unit, and loads of kernel parameters.
    ScalarMemory,
    /// Arithmetic on all lanes.
    Vector,
    /// Fused multiply-adds of 32-bit floats.
    MultiplyAdd,
    /// Exchanges between the lanes of a warp.
    Exchange,
    /// Matrix products.
    Matrix,
    /// Accesses to shared memory.
    Shared,
    /// Accesses to global memory, and flat (generic) accesses.
    Global,
    /// Copies from global to shared memory that bypass the registers.
    Copy,
    /// Accesses to private memory.
    Private,
    /// Instructions that the simulator does not implement, and failing assertions.
    Unknown,
}
