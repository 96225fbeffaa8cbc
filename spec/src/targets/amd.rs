//! The resources of a workgroup processor of AMD's RDNA architectures.

/// A workgroup processor: two compute units with two SIMDs each, whose waves can belong to one workgroup. Kernels are
/// compiled for this mode unless they request the other one (`-mcumode`); HIP counts these as multiprocessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdWgp {
    /// SIMDs.
    pub simds: u32,
    /// Threads per wave.
    pub wave_size: u32,
    /// Maximum number of resident waves per SIMD.
    pub waves_per_simd: u32,
    /// Vector registers per SIMD, for each lane.
    pub vector_registers: u32,
    /// Maximum number of vector registers per thread.
    pub registers_per_thread: u32,
    /// Allocation granularity of vector registers per wave.
    pub register_granularity: u32,
    /// Size of the local data share, in bytes.
    pub shared_bytes: u32,
    /// Allocation granularity of the local data share per workgroup, in bytes.
    pub shared_granularity: u32,
    /// Maximum number of resident workgroups with more than one wave: each uses a barrier.
    pub max_barriers: u32,
}
