//! Runs the blocks of a grid on all cores, and the warps of a block in the order that the launch specifies.
//!
//! A block may wait for another one, for example at a lock. A block that runs for long is therefore paused, and others
//! have their turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::{Counters, Fault, Launch, Memory, MemoryView, Order};

/// Maximum length of a warp's turn in a random order, in instructions.
const LONGEST_RANDOM_TURN: u32 = 200;
/// Length of a block's turn, in warp instructions. In the forward and the reversed order, a warp runs until it waits or
/// this turn ends.
const TURN_OF_BLOCK: u32 = 1 << 18;
/// Maximum number of blocks that have begun and not ended, which limits the memory that they need.
const MAX_OPEN: usize = 128;

/// A kernel that can be launched.
pub trait Program: Sync {
    /// The state of one block.
    type Block<'a>: Block + Send
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
    let queue = Queue {
        tasks: Mutex::new(Tasks {
            new: blocks.into(),
            open: 0,
            paused: VecDeque::new(),
        }),
        failed: AtomicBool::new(false),
    };
    let begin = |linear: u64| {
        let seed = block_seed(launch.order, linear);
        let block = program.block(launch, &view, launch.block_index(linear), seed)?;
        Ok(Box::new(Running::new(block, launch.order, seed)))
    };
    (0..rayon::current_num_threads())
        .into_par_iter()
        .map(|_| queue.work(begin))
        .try_reduce(Counters::default, |mut sum, counters| {
            sum += &counters;
            Ok(sum)
        })
}

/// The blocks that have not ended and do not run.
struct Tasks<B> {
    /// The linear indices of the blocks that have not begun.
    new: VecDeque<u64>,
    /// Number of blocks that have begun and not ended.
    open: usize,
    paused: VecDeque<Box<Running<B>>>,
}

/// The work of all cores.
struct Queue<B> {
    tasks: Mutex<Tasks<B>>,
    /// Whether a block has failed.
    failed: AtomicBool,
}

/// The next work of a core.
enum Task<B> {
    Begin(u64),
    Continue(Box<Running<B>>),
}

impl<B: Block> Queue<B> {
    /// Runs blocks until none is left, or until one fails. Returns the sum of the counters of the blocks that this core
    /// has ended.
    fn work(
        &self,
        begin: impl Fn(u64) -> Result<Box<Running<B>>, Fault>,
    ) -> Result<Counters, Fault> {
        let mut sum = Counters::default();
        while let Some(task) = self.next() {
            let running = match task {
                Task::Begin(linear) => begin(linear),
                Task::Continue(running) => Ok(running),
            };
            let ran = running.and_then(|mut running| Ok((running.run()?, running)));
            match ran {
                Ok((true, running)) => {
                    sum += running.block.counters();
                    self.tasks().open -= 1;
                }
                Ok((false, running)) => self.tasks().paused.push_back(running),
                Err(fault) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(fault);
                }
            }
        }
        Ok(sum)
    }

    fn tasks(&self) -> std::sync::MutexGuard<'_, Tasks<B>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block to run: a new one, unless too many blocks have not ended. `None` if no block is left, except those
    /// that other cores run.
    fn next(&self) -> Option<Task<B>> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let mut tasks = self.tasks();
        if (tasks.open < MAX_OPEN || tasks.paused.is_empty())
            && let Some(linear) = tasks.new.pop_front()
        {
            tasks.open += 1;
            return Some(Task::Begin(linear));
        }
        tasks.paused.pop_front().map(Task::Continue)
    }
}

fn block_seed(order: Order, linear: u64) -> u64 {
    let seed = match order {
        Order::Forward => 1,
        Order::Reversed => 2,
        Order::Random { seed } => seed.wrapping_add(3),
    };
    (seed ^ linear.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A block, and the warps that can run and that wait.
struct Running<B> {
    block: B,
    order: Order,
    random: ChaCha8Rng,
    ready: Vec<usize>,
    waiting: Vec<usize>,
}

impl<B: Block> Running<B> {
    fn new(block: B, order: Order, seed: u64) -> Running<B> {
        Running {
            ready: (0..block.warps()).collect(),
            waiting: Vec::new(),
            block,
            order,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Runs warps until the block ends or its turn does. Returns whether the block has ended.
    fn run(&mut self) -> Result<bool, Fault> {
        let begin = self.block.counters().instructions;
        while !self.ready.is_empty() {
            let ran = self.block.counters().instructions - begin;
            match u32::try_from(ran).map_or(0, |ran| TURN_OF_BLOCK.saturating_sub(ran)) {
                0 => return Ok(false),
                left => self.turn(left)?,
            }
        }
        Ok(true)
    }

    /// Runs one warp for its turn, or for at most `left` instructions.
    fn turn(&mut self, left: u32) -> Result<(), Fault> {
        let (at, turn) = match self.order {
            Order::Forward => (0, left),
            Order::Reversed => (self.ready.len() - 1, left),
            Order::Random { .. } => (
                self.random.random_range(0..self.ready.len()),
                self.random.random_range(1..=LONGEST_RANDOM_TURN).min(left),
            ),
        };
        let warp = self.ready[at];
        match self.block.step(warp, turn)? {
            // A warp that used up its turn goes to the end of the queue, because it may spin until other warps run.
            Progress::Ready => {
                self.ready.remove(at);
                match self.order {
                    Order::Reversed => self.ready.insert(0, warp),
                    _ => self.ready.push(warp),
                }
            }
            Progress::Done => {
                self.ready.remove(at);
            }
            Progress::Waits => {
                self.ready.remove(at);
                self.waiting.push(warp);
            }
        }
        match self.waiting.is_empty() {
            true => Ok(()),
            false => self.wake(),
        }
    }

    /// Steps the waiting warps again, with a turn of 0 instructions. Those that can continue become ready.
    fn wake(&mut self) -> Result<(), Fault> {
        self.waiting.sort_unstable();
        for warp in std::mem::take(&mut self.waiting) {
            match self.block.step(warp, 0)? {
                Progress::Ready => self.ready.push(warp),
                Progress::Waits => self.waiting.push(warp),
                Progress::Done => {}
            }
        }
        match self.ready.is_empty() && !self.waiting.is_empty() {
            true => Err(self.block.deadlock()),
            false => Ok(()),
        }
    }
}
