//! What is known of an instruction without executing it.

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionInfo {
    /// What it is for.
    pub class: Class,
    /// The instruction, as an assembler would write it.
    pub text: String,
    /// The index of the instruction that it jumps to, if it is a branch whose target is known.
    pub target: Option<usize>,
    /// The source line, if the image has line tables: file and line.
    pub line: Option<(String, u32)>,
}

/// What an instruction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The scalar ALU, which only AMD GPUs have.
    Scalar,
    /// Branches, waits and hints.
    Flow,
    /// Barriers.
    Barrier,
    /// Loads by the scalar unit, and of kernel parameters.
    ScalarMemory,
    /// Arithmetic of all lanes.
    Vector,
    /// Fused multiply-adds of 32-bit floats.
    MultiplyAdd,
    /// Exchanges between the lanes of a warp.
    Exchange,
    /// Matrix products.
    Matrix,
    /// Shared memory.
    Shared,
    /// Global and flat memory.
    Global,
    /// Copies from global to shared memory that pass no register.
    Copy,
    /// Private memory.
    Private,
    /// Not known.
    Unknown,
}
