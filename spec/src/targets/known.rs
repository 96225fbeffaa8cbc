//! The types of which the table of targets consists.

use super::amd::AmdWgp;
use super::nvidia::NvidiaSm;
use crate::device::Backend;
use crate::device::limits::DeviceLimits;

/// A target: an architecture together with the sizes and peaks of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTarget {
    /// The architecture: `sm_89`, `gfx1151`, `cpu`.
    pub arch: &'static str,
    /// The product with these sizes and peaks, as its driver reports the name.
    pub product: &'static str,
    /// The backend that launches kernels on the target.
    pub backend: Backend,
    /// Launch limits of the architecture and sizes of the product.
    pub limits: DeviceLimits,
    /// The resources of one multiprocessor.
    pub multiprocessor: Multiprocessor,
    /// The peaks of the product; `None` for the host processor.
    pub peaks: Option<Peaks>,
    /// The documents from which the figures come.
    pub sources: &'static [Source],
}

/// The resources of one multiprocessor. There is one variant per vendor, because vendors allocate registers and
/// shared memory differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiprocessor {
    /// A streaming multiprocessor of NVIDIA.
    Nvidia(NvidiaSm),
    /// A workgroup processor of AMD.
    Amd(AmdWgp),
    /// The host processor, on which each core runs blocks one after another.
    Host,
}

/// The theoretical peaks of a product. No kernel exceeds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// Boost clock of the multiprocessors, in Hz.
    pub clock_hz: u64,
    /// Bytes per second to and from device memory.
    pub memory_bytes_per_s: u64,
    /// Single-precision operations per second, without the matrix units.
    pub f32_flops_per_s: u64,
    /// Operations per second of the matrix units on dense half-precision inputs with single-precision accumulation.
    pub f16_matrix_flops_per_s: u64,
}

/// The document from which some figures of a target come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The figures that come from the document.
    pub figures: &'static str,
    /// The document, and the page or table in it.
    pub read_in: &'static str,
}

/// Maximum shared memory per block, in bytes, that every CUDA device grants without an opt-in. It is also the maximum
/// of static shared memory.
pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;

/// Maximum number of threads per block, on every target.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The default limits of the `cpu` device. No limit of a GPU in the table is lower, so a launch within these limits is
/// also within the limits of every GPU.
pub const CPU_LIMITS: DeviceLimits = DeviceLimits {
    max_threads_per_block: MAX_THREADS_PER_BLOCK,
    max_block: [1024, 1024, 64],
    max_grid: [0x7fff_ffff, 65_535, 65_535],
    shared_bytes_per_block: STATIC_SHARED_BYTES,
    warp_size: 32,
    lockstep_threads: 1,
    warps_per_product: 1,
    multiprocessors: 1,
    l2_bytes: 0,
    memory_bytes: 0,
};
