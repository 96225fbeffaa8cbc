//! The resources of a workgroup processor in AMD's RDNA architectures.

/// A workgroup processor (WGP): two compute units with two SIMDs each. HIP reports workgroup processors as
/// multiprocessors. In workgroup-processor mode, the waves of one workgroup can run on all four SIMDs. Kernels are
/// compiled for this mode unless they request compute-unit mode (`-mcumode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdWgp {
    /// Number of SIMDs.
    pub simds: u32,
    /// Threads per wave.
    pub wave_size: u32,
    /// Maximum number of resident waves per SIMD.
    pub waves_per_simd: u32,
    /// Number of vector registers in each SIMD, per lane.
    pub vector_registers: u32,
    /// Maximum number of vector registers per thread.
    pub registers_per_thread: u32,
    /// Allocation granularity: each wave gets a multiple of this number of vector registers.
    pub register_granularity: u32,
    /// Size of the local data share, in bytes.
    pub shared_bytes: u32,
    /// Allocation granularity: each workgroup gets a multiple of this number of bytes of local data share.
    pub shared_granularity: u32,
    /// Number of barriers. Each resident workgroup with more than one wave needs a barrier, so this is the maximum
    /// number of such workgroups.
    pub max_barriers: u32,
}
