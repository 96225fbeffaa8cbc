//! What is known of a target.

use super::amd::AmdWgp;
use super::nvidia::NvidiaSm;
use crate::device::Backend;
use crate::device::limits::DeviceLimits;

/// An architecture, as one product has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTarget {
    /// The architecture: `sm_89`, `gfx1151`, `cpu`.
    pub arch: &'static str,
    /// The product that sizes and peaks are of, as its driver names it.
    pub product: &'static str,
    /// The backend that launches on it.
    pub backend: Backend,
    /// Launch limits of the architecture, sizes of the product.
    pub limits: DeviceLimits,
    /// What one multiprocessor holds.
    pub multiprocessor: Multiprocessor,
    /// What the product does at most; none for the processor at hand.
    pub peaks: Option<Peaks>,
    /// Where the figures were read.
    pub sources: &'static [Source],
}

/// What one multiprocessor holds, by vendor: they hand out registers and shared memory in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiprocessor {
    /// A streaming multiprocessor.
    Nvidia(NvidiaSm),
    /// A workgroup processor.
    Amd(AmdWgp),
    /// The processor at hand: blocks run one after the other on each core.
    Host,
}

/// What a product does at most: each figure a bound that no kernel reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Boost clock of the multiprocessors, in Hz.
    pub clock_hz: u64,
    /// Bytes a second from and to device memory.
    pub memory_bytes_per_s: u64,
    /// Single-precision operations a second, outside the matrix units.
    pub f32_flops_per_s: u64,
    /// Operations a second of the matrix units on half-precision inputs with single-precision sums, dense.
    pub f16_matrix_flops_per_s: u64,
}

/// Where figures of a row were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which figures.
    pub figures: &'static str,
    /// The document and the place in it.
    pub read_in: &'static str,
}

/// Shared memory of a block that needs no opt-in on any CUDA device, in bytes; also the most that can be static.
pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;

/// Threads of a block at most, on every target.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// What the cpu device allows by default: the limits that every GPU here has in common, so that a spec that runs
/// there runs on them.
pub const CPU_LIMITS: DeviceLimits = DeviceLimits {
    max_threads_per_block: MAX_THREADS_PER_BLOCK,
    max_block: [1024, 1024, 64],
    max_grid: [0x7fff_ffff, 65_535, 65_535],
    shared_bytes_per_block: STATIC_SHARED_BYTES,
    warp_size: 32,
    lockstep_threads: 1,
    multiprocessors: 1,
    l2_bytes: 0,
    memory_bytes: 0,
};
