//! The limits of a device, which a spec reads as `device.*`.

use serde::{Deserialize, Serialize};

/// The launch limits and the sizes of one device, as the driver or a table of architectures gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// Maximum number of threads per block.
    pub max_threads_per_block: u32,
    /// Maximum extent of a block, per axis (x, y, z).
    pub max_block: [u32; 3],
    /// Maximum extent of the grid, per axis (x, y, z), in blocks.
    pub max_grid: [u32; 3],
    /// Maximum static plus dynamic shared memory per block, in bytes.
    pub shared_bytes_per_block: u32,
    /// Threads per warp (wavefront).
    pub warp_size: u32,
    /// Threads that advance together with one instruction: the warp size on a GPU. It is 1 on the `cpu` device, which
    /// runs threads one after another.
    #[serde(default = "warp_of_gpu")]
    pub lockstep_threads: u32,
    /// Warps that compute a matrix product together with one instruction: 4 on GPUs with `wgmma` (compute capability
    /// 9.0), and 1 elsewhere.
    #[serde(default = "one_warp", skip_serializing_if = "is_one_warp")]
    pub warps_per_product: u32,
    /// Number of streaming multiprocessors, compute units or CPU cores.
    pub multiprocessors: u32,
    /// Size of the last-level cache in bytes (0 if unknown).
    pub l2_bytes: u64,
    /// Size of the device memory in bytes (0 if unknown).
    pub memory_bytes: u64,
}

/// The value of `lockstep_threads` in stored records that lack this field. They are all records of GPUs, or of configs
/// that use warps, so 32 is correct.
fn warp_of_gpu() -> u32 {
    32
}

/// The value of `warps_per_product` in stored records that lack this field.
fn one_warp() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one_warp(warps: &u32) -> bool {
    *warps == one_warp()
}

macro_rules! limits {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $get:expr;)*) => {
        /// A field of [`DeviceLimits`] that an expression can use, as in `device.warp_size`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum DeviceLimit { $($(#[$doc])* $variant,)* }

        impl DeviceLimit {
            /// Every limit, in the order of the documentation.
            pub const ALL: &'static [DeviceLimit] = &[$(DeviceLimit::$variant,)*];

            /// The name after `device.` in an expression.
            pub fn name(self) -> &'static str {
                match self { $(DeviceLimit::$variant => $name,)* }
            }

            /// The value of this limit on a device.
            pub fn of(self, limits: &DeviceLimits) -> u64 {
                let get: fn(&DeviceLimits) -> u64 = match self { $(DeviceLimit::$variant => $get,)* };
                get(limits)
            }
        }
    };
}

limits! {
    /// Maximum number of threads per block.
    MaxThreadsPerBlock = "max_threads_per_block" => |l| u64::from(l.max_threads_per_block);
    /// Maximum block extent in x.
    MaxBlockX = "max_block_x" => |l| u64::from(l.max_block[0]);
    /// Maximum block extent in y.
    MaxBlockY = "max_block_y" => |l| u64::from(l.max_block[1]);
    /// Maximum block extent in z.
    MaxBlockZ = "max_block_z" => |l| u64::from(l.max_block[2]);
    /// Maximum grid extent in x.
    MaxGridX = "max_grid_x" => |l| u64::from(l.max_grid[0]);
    /// Maximum grid extent in y.
    MaxGridY = "max_grid_y" => |l| u64::from(l.max_grid[1]);
    /// Maximum grid extent in z.
    MaxGridZ = "max_grid_z" => |l| u64::from(l.max_grid[2]);
    /// Maximum shared memory per block, in bytes.
    SharedBytesPerBlock = "shared_bytes_per_block" => |l| u64::from(l.shared_bytes_per_block);
    /// Threads per warp.
    WarpSize = "warp_size" => |l| u64::from(l.warp_size);
    /// Threads that advance together with one instruction.
    LockstepThreads = "lockstep_threads" => |l| u64::from(l.lockstep_threads);
    /// Warps that compute a matrix product together with one instruction.
    WarpsPerProduct = "warps_per_product" => |l| u64::from(l.warps_per_product);
    /// Number of multiprocessors, compute units or CPU cores.
    Multiprocessors = "multiprocessors" => |l| u64::from(l.multiprocessors);
    /// Size of the last-level cache in bytes.
    L2Bytes = "l2_bytes" => |l| l.l2_bytes;
    /// Size of the device memory in bytes.
    MemoryBytes = "memory_bytes" => |l| l.memory_bytes;
}

impl DeviceLimit {
    /// The limit that has this name after `device.`, if there is one.
    pub fn from_name(name: &str) -> Option<DeviceLimit> {
        Self::ALL.iter().copied().find(|limit| limit.name() == name)
    }
}
