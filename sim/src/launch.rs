//! The parameters of a launch, and the order in which its blocks and warps run.

/// Maximum number of warp instructions of a block, unless `max_instructions` of the kernel is changed.
pub(crate) const MAX_INSTRUCTIONS: u64 = 1 << 32;

/// The parameters of one launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// Number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The contents of the kernel's parameter buffer, including padding.
    pub arguments: Vec<u8>,
    /// The order in which blocks and warps run.
    pub order: Order,
}

impl Launch {
    /// The number of threads of one block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// The number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// The three-dimensional index of the block with this linear index. The x index varies fastest.
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [linear % x, linear / x % y, linear / (x * y)].map(|n| n as u32)
    }
}

/// The order in which the blocks of a grid start and the warps of a block run. Blocks run on several cores at the same
/// time, so their order is only approximate. A GPU may choose any of these orders, so a kernel whose result depends on
/// the order is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ascending order. Each warp runs until it waits or ends, or until its block has run for 2^18 warp instructions
    /// and is paused.
    Forward,
    /// Descending order. Each warp runs until it waits or ends, or until its block has run for 2^18 warp instructions
    /// and is paused.
    Reversed,
    /// The blocks are shuffled. A random warp runs for 1 to 200 instructions, then another warp is chosen at random.
    Random {
        /// The seed of all random choices.
        seed: u64,
    },
}
