//! What is launched, and in which order its parts run.

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The kernel's parameters as they lie in its parameter buffer, padding included.
    pub arguments: Vec<u8>,
    /// The order of blocks and warps.
    pub order: Order,
}

impl Launch {
    /// Threads of one block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// The index of a block in three dimensions; x runs fastest.
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [linear % x, linear / x % y, linear / (x * y)].map(|n| n as u32)
    }
}

/// The order in which the blocks of a grid and the warps of a block run. Every order is one that a GPU may choose, so that
/// a kernel whose result depends on the order is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ascending: a warp runs until it waits or ends.
    Forward,
    /// Descending: a warp runs until it waits or ends.
    Reversed,
    /// A warp runs for 1 to 200 instructions before another one is chosen at random; blocks are shuffled.
    Random {
        /// The seed of all choices.
        seed: u64,
    },
}
