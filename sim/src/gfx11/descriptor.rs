//! Kernel descriptors, which state the resources and the initial registers of a kernel.
//!
//! LLVM, "User Guide for AMDGPU Backend", "Kernel Descriptor" and the tables of `compute_pgm_rsrc1` and
//! `compute_pgm_rsrc2` for GFX11.

/// The size of a descriptor in bytes.
pub(super) const BYTES: usize = 64;

/// The modes of float arithmetic: the rounding, and the handling of denormals and NaNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatMode {
    /// The lowest four bits of MODE: two bits for the rounding of 32-bit floats, then two for 16-bit and 64-bit floats.
    /// 0 means to nearest even.
    pub round: u8,
    /// The next four bits of MODE: two bits for denormals of 32-bit floats, then two for 16-bit and 64-bit floats. In
    /// each pair, the lower bit keeps denormal inputs, and the upper bit keeps denormal results.
    pub denormals: u8,
    /// Whether a clamped NaN becomes 0.
    pub clamp_nan: bool,
    /// Whether minima and maxima quiet a signalling NaN.
    pub ieee: bool,
}

/// The contents of a kernel descriptor that the simulator uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub shared_bytes: u32,
    pub scratch_bytes: u32,
    /// The offset of the kernel's first instruction, relative to the descriptor.
    pub entry: i64,
    pub mode: FloatMode,
    pub user_registers: u32,
    /// For x, y and z, whether the index of the block is in a scalar register after the user registers.
    pub block_index: [bool; 3],
    pub block_info: bool,
    /// The thread indices in v0: 0 means x, 1 means x and y, and 2 means x, y and z.
    pub thread_index: u32,
    /// `kernel_code_properties`: the values in the user registers.
    pub properties: u16,
    /// Number of argument words that are loaded into registers before the kernel begins.
    pub preload: u16,
}

impl Descriptor {
    /// Reads a descriptor.
    pub fn read(bytes: &[u8; BYTES]) -> Descriptor {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let (rsrc1, rsrc2) = (word(48), word(52));
        Descriptor {
            shared_bytes: word(0),
            scratch_bytes: word(4),
            entry: (u64::from(word(20)) << 32 | u64::from(word(16))) as i64,
            mode: FloatMode {
                round: (rsrc1 >> 12 & 15) as u8,
                denormals: (rsrc1 >> 16 & 15) as u8,
                clamp_nan: rsrc1 >> 21 & 1 != 0,
                ieee: rsrc1 >> 23 & 1 != 0,
            },
            user_registers: rsrc2 >> 1 & 31,
            block_index: [7, 8, 9].map(|bit| rsrc2 >> bit & 1 != 0),
            block_info: rsrc2 >> 10 & 1 != 0,
            thread_index: rsrc2 >> 11 & 3,
            properties: word(56) as u16,
            preload: (word(56) >> 16) as u16,
        }
    }

    /// Whether the waves of the kernel have 32 lanes.
    pub fn is_wave32(&self) -> bool {
        self.properties >> 10 & 1 != 0
    }
}
