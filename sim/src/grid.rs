//! Runs the blocks of a grid on all cores, and the warps of a block in the order that the launch specifies.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::{Counters, Fault, Launch, Memory, MemoryView, Order};

/// Maximum length of a warp's turn in the forward and the reversed order, in instructions.
const WHOLE_TURN: u32 = 1 << 20;
/// Maximum length of a warp's turn in a random order, in instructions.
const LONGEST_RANDOM_TURN: u32 = 200;

/// A kernel that can be launched.
pub trait Program: Sync {
    /// The state of one block.
    type Block<'a>: Block
    where
        Self: 'a;

    /// Prepares one block. Its registers and shared memory are filled with garbage generated from `seed`.
    ///
    /// # Errors
    /// If the launch does not fit the kernel, for example because a block has too many threads.
    fn block<'a>(
        &'a self,
        launch: &'a Launch,
        memory: &'a MemoryView,
        index: [u32; 3],
        seed: u64,
    ) -> Result<Self::Block<'a>, Fault>;

    /// The number of instructions in the code. This is the length of [`Counters::executed`].
    fn instructions(&self) -> usize;
}

/// The state of a warp after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The warp can continue.
    Ready,
    /// The warp waits for other warps.
    Waits,
    /// The warp has ended.
    Done,
}

/// A block in execution.
pub trait Block {
    /// The number of warps of the block.
    fn warps(&self) -> usize;

    /// Runs a warp for at most `turn` instructions. After each turn of another warp, a waiting warp is stepped again
    /// with a turn of 0. It returns [`Progress::Waits`] as long as it must wait.
    ///
    /// # Errors
    /// The fault that ends the launch.
    fn step(&mut self, warp: usize, turn: u32) -> Result<Progress, Fault>;

    /// The fault to report when every warp that has not ended waits.
    fn deadlock(&self) -> Fault;

    /// The counters of the block so far.
    fn counters(&self) -> &Counters;
}

/// Runs all blocks of a launch, and returns the sum of their counters.
///
/// # Errors
/// The fault of one block. Blocks that have not started when the fault occurs do not run.
pub fn run<P: Program>(program: &P, launch: &Launch, memory: &Memory) -> Result<Counters, Fault> {
    run_blocks(program, launch, memory, (0..launch.blocks()).collect())
}

/// Runs some blocks of a launch, specified by their linear indices. The x index varies fastest.
///
/// # Errors
/// The same as for [`run`].
pub fn run_blocks<P: Program>(
    program: &P,
    launch: &Launch,
    memory: &Memory,
    mut blocks: Vec<u64>,
) -> Result<Counters, Fault> {
    let view = memory.view();
    match launch.order {
        Order::Forward => {}
        Order::Reversed => blocks.reverse(),
        Order::Random { seed } => blocks.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)),
    }
    blocks
        .par_iter()
        .map(|&linear| {
            let seed = block_seed(launch.order, linear);
            let index = launch.block_index(linear);
            let mut block = program.block(launch, &view, index, seed)?;
            run_block(&mut block, launch.order, seed)?;
            Ok(block.counters().clone())
        })
        .try_reduce(Counters::default, |mut sum, counters| {
            sum += &counters;
            Ok(sum)
        })
}

fn block_seed(order: Order, linear: u64) -> u64 {
    let seed = match order {
        Order::Forward => 1,
        Order::Reversed => 2,
        Order::Random { seed } => seed.wrapping_add(3),
    };
    (seed ^ linear.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn run_block(block: &mut impl Block, order: Order, seed: u64) -> Result<(), Fault> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut ready: Vec<usize> = (0..block.warps()).collect();
    let mut waiting = Vec::new();
    while !ready.is_empty() {
        let (at, turn) = match order {
            Order::Forward => (0, WHOLE_TURN),
            Order::Reversed => (ready.len() - 1, WHOLE_TURN),
            Order::Random { .. } => (
                random.random_range(0..ready.len()),
                random.random_range(1..=LONGEST_RANDOM_TURN),
            ),
        };
        let warp = ready[at];
        match block.step(warp, turn)? {
            // A warp that used up its turn goes to the end of the queue, because it may spin until other warps run.
            Progress::Ready => {
                ready.remove(at);
                match order {
                    Order::Reversed => ready.insert(0, warp),
                    _ => ready.push(warp),
                }
            }
            Progress::Done => {
                ready.remove(at);
            }
            Progress::Waits => {
                ready.remove(at);
                waiting.push(warp);
            }
        }
        if !waiting.is_empty() {
            wake(block, &mut ready, &mut waiting)?;
        }
    }
    Ok(())
}

/// Steps the waiting warps again, with a turn of 0 instructions. Those that can continue become ready.
fn wake(
    block: &mut impl Block,
    ready: &mut Vec<usize>,
    waiting: &mut Vec<usize>,
) -> Result<(), Fault> {
    waiting.sort_unstable();
    for warp in std::mem::take(waiting) {
        match block.step(warp, 0)? {
            Progress::Ready => ready.push(warp),
            Progress::Waits => waiting.push(warp),
            Progress::Done => {}
        }
    }
    match ready.is_empty() && !waiting.is_empty() {
        true => Err(block.deadlock()),
        false => Ok(()),
    }
}
