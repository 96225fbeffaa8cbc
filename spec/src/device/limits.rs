//! What a device can launch at most: the numbers that `device.*` names in a spec.

use serde::{Deserialize, Serialize};

/// Launch limits and sizes of one device, as its driver (or an architecture table) reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceLimits {
    /// Threads in one block at most.
    pub max_threads_per_block: u32,
    /// Extent of a block at most, per axis (x, y, z).
    pub max_block: [u32; 3],
    /// Extent of the grid at most, per axis (x, y, z), in blocks.
    pub max_grid: [u32; 3],
    /// Static plus dynamic shared memory of one block at most, in bytes.
    pub shared_bytes_per_block: u32,
    /// Threads of one warp (wavefront).
    pub warp_size: u32,
    /// Threads that one instruction moves on together: a warp on a GPU, 1 on a cpu, which runs threads one after another.
    #[serde(default = "warp_of_gpu")]
    pub lockstep_threads: u32,
    /// Streaming multiprocessors, compute units or CPU cores.
    pub multiprocessors: u32,
    /// Last-level cache, in bytes (0 where unknown).
    pub l2_bytes: u64,
    /// Device memory, in bytes (0 where unknown).
    pub memory_bytes: u64,
}

/// What records say that are older than the field: they are of GPUs, or of configs with warps.
fn warp_of_gpu() -> u32 {
    32
}

macro_rules! limits {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $get:expr;)*) => {
        /// A field of [`DeviceLimits`] that an expression can name, as in `device.warp_size`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum DeviceLimit { $($(#[$doc])* $variant,)* }

        impl DeviceLimit {
            /// Every limit, in the order the documentation lists them.
            pub const ALL: &'static [DeviceLimit] = &[$(DeviceLimit::$variant,)*];

            /// The name after `device.`.
            pub fn name(self) -> &'static str {
                match self { $(DeviceLimit::$variant => $name,)* }
            }

            /// Its value on a device.
            pub fn of(self, limits: &DeviceLimits) -> u64 {
                let get: fn(&DeviceLimits) -> u64 = match self { $(DeviceLimit::$variant => $get,)* };
                get(limits)
            }
        }
    };
}

limits! {
    /// Threads in one block at most.
    MaxThreadsPerBlock = "max_threads_per_block" => |l| u64::from(l.max_threads_per_block);
    /// Block extent in x at most.
    MaxBlockX = "max_block_x" => |l| u64::from(l.max_block[0]);
    /// Block extent in y at most.
    MaxBlockY = "max_block_y" => |l| u64::from(l.max_block[1]);
    /// Block extent in z at most.
    MaxBlockZ = "max_block_z" => |l| u64::from(l.max_block[2]);
    /// Grid extent in x at most.
    MaxGridX = "max_grid_x" => |l| u64::from(l.max_grid[0]);
    /// Grid extent in y at most.
    MaxGridY = "max_grid_y" => |l| u64::from(l.max_grid[1]);
    /// Grid extent in z at most.
    MaxGridZ = "max_grid_z" => |l| u64::from(l.max_grid[2]);
    /// Shared memory of one block at most, in bytes.
    SharedBytesPerBlock = "shared_bytes_per_block" => |l| u64::from(l.shared_bytes_per_block);
    /// Threads of one warp.
    WarpSize = "warp_size" => |l| u64::from(l.warp_size);
    /// Threads that one instruction moves on together.
    LockstepThreads = "lockstep_threads" => |l| u64::from(l.lockstep_threads);
    /// Multiprocessors, compute units or CPU cores.
    Multiprocessors = "multiprocessors" => |l| u64::from(l.multiprocessors);
    /// Last-level cache in bytes.
    L2Bytes = "l2_bytes" => |l| l.l2_bytes;
    /// Device memory in bytes.
    MemoryBytes = "memory_bytes" => |l| l.memory_bytes;
}

impl DeviceLimit {
    /// The limit of that name, if there is one.
    pub fn from_name(name: &str) -> Option<DeviceLimit> {
        Self::ALL.iter().copied().find(|limit| limit.name() == name)
    }
}
