//! The resources of a streaming multiprocessor of NVIDIA.

/// A streaming multiprocessor: threads, registers and shared memory that its blocks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvidiaSm {
    /// Maximum number of resident threads.
    pub max_threads: u32,
    /// Maximum number of resident blocks.
    pub max_blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Maximum number of 32-bit registers per block.
    pub registers_per_block: u32,
    /// Maximum number of 32-bit registers per thread.
    pub registers_per_thread: u32,
    /// Allocation granularity of registers per warp.
    pub register_granularity: u32,
    /// Partitions with a scheduler and a register file each; a warp belongs to one of them.
    pub partitions: u32,
    /// Shared memory, in bytes.
    pub shared_bytes: u32,
    /// Shared memory per block that the driver reserves, in bytes.
    pub reserved_shared_bytes: u32,
    /// Allocation granularity of shared memory per block, in bytes.
    pub shared_granularity: u32,
    /// Block barriers; `None` if they are not a separate limit.
    pub barriers: Option<u32>,
}
