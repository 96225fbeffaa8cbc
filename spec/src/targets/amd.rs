//! What a workgroup processor of AMD's RDNA architectures holds.

/// A workgroup processor: two compute units of two SIMDs each, whose waves can be of one workgroup. Kernels are compiled
/// for this mode unless they ask for the other (`-mcumode`); HIP counts these as multiprocessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdWgp {
    /// SIMDs.
    pub simds: u32,
    /// Threads of a wave.
    pub wave_size: u32,
    /// Resident waves of a SIMD at most.
    pub waves_per_simd: u32,
    /// Vector registers of a SIMD, for each lane.
    pub vector_registers: u32,
    /// Vector registers that one thread can have.
    pub registers_per_thread: u32,
    /// Vector registers are handed out to waves in multiples of this.
    pub register_granularity: u32,
    /// Local data share, in bytes.
    pub shared_bytes: u32,
    /// Local data share is handed out to workgroups in multiples of this, in bytes.
    pub shared_granularity: u32,
    /// Resident workgroups of more than one wave at most: each has a barrier.
    pub max_barriers: u32,
}
