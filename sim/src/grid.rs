//! Runs the blocks of a grid on all cores, and the warps of a block in the order of the launch.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::{Counters, Fault, Launch, Memory, MemoryView, Order};

/// The longest turn of a warp, in instructions, where a warp is not interrupted.
const WHOLE_TURN: u32 = 1 << 20;
/// The longest turn of a warp in a random order, in instructions.
const LONGEST_RANDOM_TURN: u32 = 200;

/// A kernel that can be launched.
pub trait Program: Sync {
    /// One block of it.
    type Block<'a>: Block
    where
        Self: 'a;

    /// Prepares one block: registers and shared memory filled with garbage from `seed`.
    ///
    /// # Errors
    /// If the launch does not fit the kernel.
    fn block<'a>(
        &'a self,
        launch: &'a Launch,
        memory: &'a MemoryView,
        index: [u32; 3],
        seed: u64,
    ) -> Result<Self::Block<'a>, Fault>;

    /// The number of instructions of the program, static: the length of [`Counters::executed`].
    fn instructions(&self) -> usize;
}

/// What a warp did in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It can go on.
    Ready,
    /// It waits for other warps.
    Waits,
    /// It has ended.
    Done,
}

/// A block that is being executed.
pub trait Block {
    /// The number of warps.
    fn warps(&self) -> usize;

    /// Runs a warp for at most `turn` instructions. A warp that waits is asked again whenever another warp has made progress,
    /// and answers [`Progress::Waits`] until what it waits for has happened.
    ///
    /// # Errors
    /// The fault that ends the launch.
    fn step(&mut self, warp: usize, turn: u32) -> Result<Progress, Fault>;

    /// The fault if every warp that has not ended waits.
    fn deadlock(&self) -> Fault;

    /// What the block executed.
    fn counters(&self) -> &Counters;
}

/// Runs a launch to its end.
///
/// # Errors
/// The fault of one block; blocks that were not begun by then do not run.
pub fn run<P: Program>(program: &P, launch: &Launch, memory: &Memory) -> Result<Counters, Fault> {
    run_blocks(program, launch, memory, (0..launch.blocks()).collect())
}

/// Runs some blocks of a launch: their linear indices, x fastest.
///
/// # Errors
/// Those of [`run`].
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
            // Whoever used up its turn is the last one to have another: it may wait in a loop for the others.
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

/// Asks the waiting warps again; a turn of 0 instructions executes nothing.
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
