//! The known facts about a target.

use super::amd::AmdWgp;
use super::nvidia::NvidiaSm;
use crate::device::Backend;
use crate::device::limits::DeviceLimits;

/// An architecture, with the sizes of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTarget {
    /// The architecture: `sm_89`, `gfx1151`, `cpu`.
    pub arch: &'static str,
    /// The product that has these sizes and peaks, as its driver names it.
    pub product: &'static str,
    /// The backend that launches on it.
    pub backend: Backend,
    /// Launch limits of the architecture, sizes of the product.
    pub limits: DeviceLimits,
    /// The resources of one multiprocessor.
    pub multiprocessor: Multiprocessor,
    /// The peaks of the product; `None` for the host processor.
    pub peaks: Option<Peaks>,
    /// The sources of the figures.
    pub sources: &'static [Source],
}

/// The resources of one multiprocessor, by vendor, since vendors allocate registers and shared memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiprocessor {
    /// A streaming multiprocessor.
    Nvidia(NvidiaSm),
    /// A workgroup processor.
    Amd(AmdWgp),
    /// The host processor: blocks run one after another on each core.
    Host,
}

/// The peaks of a product: upper bounds that no kernel reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Boost clock of the multiprocessors, in Hz.
    pub clock_hz: u64,
    /// Bytes per second from and to device memory.
    pub memory_bytes_per_s: u64,
    /// Single-precision operations per second, outside the matrix units.
    pub f32_flops_per_s: u64,
    /// Operations per second of the matrix units on half-precision inputs with single-precision sums, dense.
    pub f16_matrix_flops_per_s: u64,
}

/// The source of a row's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The figures.
    pub figures: &'static str,
    /// The document and the place in it.
    pub read_in: &'static str,
}

/// Maximum shared memory per block without an opt-in, on any CUDA device, in bytes; also the maximum of static shared
/// memory.
pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;

/// Maximum number of threads per block, on every target.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The default limits of the cpu device: those that all GPUs in the table have in common, so that a spec that runs
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
