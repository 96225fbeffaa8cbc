//! What a streaming multiprocessor of NVIDIA holds.

/// A streaming multiprocessor: threads, registers and shared memory that the blocks on it share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvidiaSm {
    /// Resident threads at most.
    pub max_threads: u32,
    /// Resident blocks at most.
    pub max_blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// 32-bit registers that one block can have.
    pub registers_per_block: u32,
    /// 32-bit registers that one thread can have.
    pub registers_per_thread: u32,
    /// Registers are handed out to warps in multiples of this.
    pub register_granularity: u32,
    /// Partitions with a scheduler and a register file each; a warp lives in one of them.
    pub partitions: u32,
    /// Shared memory, in bytes.
    pub shared_bytes: u32,
    /// Shared memory of each block that the driver keeps for itself, in bytes.
    pub reserved_shared_bytes: u32,
    /// Shared memory is handed out to blocks in multiples of this, in bytes.
    pub shared_granularity: u32,
    /// Block barriers; none where they are not a limit of their own.
    pub barriers: Option<u32>,
}
