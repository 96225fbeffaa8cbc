//! The resources of a streaming multiprocessor of NVIDIA.

/// A streaming multiprocessor (SM): the threads, registers and shared memory that its resident blocks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvidiaSm {
    /// Maximum number of resident threads.
    pub max_threads: u32,
    /// Maximum number of resident blocks.
    pub max_blocks: u32,
    /// Number of 32-bit registers.
    pub registers: u32,
    /// Maximum number of 32-bit registers per block.
    pub registers_per_block: u32,
    /// Maximum number of 32-bit registers per thread.
    pub registers_per_thread: u32,
    /// Allocation granularity: each warp gets a multiple of this number of registers.
    pub register_granularity: u32,
    /// Number of partitions. Each has a scheduler and a register file, and a warp belongs to one partition.
    pub partitions: u32,
    /// Size of the shared memory, in bytes.
    pub shared_bytes: u32,
    /// Shared memory that the driver reserves for each block, in bytes.
    pub reserved_shared_bytes: u32,
    /// Allocation granularity: each block gets a multiple of this number of bytes of shared memory.
    pub shared_granularity: u32,
    /// Number of block barriers; `None` if barriers are not a separate limit.
    pub barriers: Option<u32>,
}
