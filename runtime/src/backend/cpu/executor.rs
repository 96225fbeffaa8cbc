//! Running the blocks of a launch on this thread, or together with the pool.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kiln_spec::LaunchPlan;

use crate::device::{DeviceError, KernelArgs};

use super::arena::{Arena, Layout};
use super::ffi::{Call, Stacks, thread_cpu_ns};
use super::limits::CpuOptions;
use super::module::Entry;
use super::pool::{Job, Pool, pin_to};

/// Waking the pool costs more than this much work on the calling thread, in nanoseconds.
const WAKE_NS: u64 = 20_000;
/// A share of blocks should take about this long, in nanoseconds.
const SHARE_NS: u64 = 20_000;

/// Runs launches, one after another.
pub(super) struct Executor {
    arenas: Arc<[Mutex<Arena>]>,
    pool: Option<Pool>,
}

impl Executor {
    /// Starts the threads.
    pub fn new(options: &CpuOptions) -> std::io::Result<Executor> {
        let threads = options.threads.max(1);
        if options.pin {
            pin_to(0);
        }
        let pool = (threads > 1)
            .then(|| Pool::new(threads, options.pin))
            .transpose()?;
        let arenas = (0..threads)
            .map(|_| Mutex::new(Arena::new(options.stack_bytes)))
            .collect();
        Ok(Executor { arenas, pool })
    }

    /// Threads that run blocks, the calling one included.
    pub fn threads(&self) -> usize {
        self.arenas.len()
    }

    /// Runs all blocks once. The caller holds the device's lock.
    pub fn launch(
        &self,
        entry: &Arc<Entry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        reverse: bool,
    ) -> Result<(), DeviceError> {
        let work = Work::new(entry, plan, args, reverse, &self.arenas);
        let blocks = plan.blocks();
        let first = match entry.ns_per_block() {
            Some(_) => 0,
            // What a block takes is not known yet: the first one tells.
            None => work.measured(0..1)?,
        };
        if self.wakes_pool(entry, blocks - first) {
            self.run_with_pool(work, first)?;
        } else {
            work.measured(first..blocks)?;
        }
        Ok(())
    }

    /// Runs all blocks `launches` times; the sum of each launch's largest thread CPU time, in nanoseconds.
    pub fn time(
        &self,
        entry: &Arc<Entry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        let work = || Work::new(entry, plan, args, false, &self.arenas);
        let blocks = plan.blocks();
        if entry.ns_per_block().is_none() {
            work().measured(0..blocks)?;
        }
        let mut total_ns = 0;
        if self.wakes_pool(entry, blocks) {
            for _ in 0..launches {
                total_ns += self.run_with_pool(work(), 0)?;
            }
        } else {
            let work = work();
            let start_ns = thread_cpu_ns();
            for _ in 0..launches {
                work.serial(0..blocks)?;
            }
            total_ns = thread_cpu_ns() - start_ns;
        }
        Ok(total_ns)
    }

    /// Whether so many blocks are worth waking the other threads for.
    fn wakes_pool(&self, entry: &Entry, blocks: u64) -> bool {
        let estimate_ns = entry.ns_per_block().unwrap_or(0).saturating_mul(blocks);
        self.pool.is_some()
            && blocks > 1
            && entry.module.most_threads() > 1
            && estimate_ns > WAKE_NS
    }

    /// Runs the blocks from `first` on with every thread; the largest thread CPU time, in nanoseconds.
    fn run_with_pool(&self, mut work: Work, first: u64) -> Result<u64, DeviceError> {
        let Some(pool) = &self.pool else {
            return Err(DeviceError::internal("the pool", "there is none"));
        };
        work.entry.prepare(self.threads())?;
        work.share(first, self.threads() as u64);
        let work = Arc::new(work);
        pool.run(&(work.clone() as Arc<dyn Job>));
        match lock(&work.failure).take() {
            Some(error) => Err(error),
            None => Ok(work.most_cpu_ns.load(Ordering::Relaxed)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One launch, shared by the threads that run it.
struct Work {
    entry: Arc<Entry>,
    call: Call,
    blocks: u64,
    block_threads: usize,
    arenas: Arc<[Mutex<Arena>]>,
    next: AtomicU64,
    share_blocks: u64,
    stopped: AtomicBool,
    failure: Mutex<Option<DeviceError>>,
    most_cpu_ns: AtomicU64,
}

impl Work {
    fn new(
        entry: &Arc<Entry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        reverse: bool,
        arenas: &Arc<[Mutex<Arena>]>,
    ) -> Work {
        Work {
            entry: entry.clone(),
            call: Call::new(plan, args, reverse),
            blocks: plan.blocks(),
            block_threads: plan.threads_per_block() as usize,
            arenas: arenas.clone(),
            next: AtomicU64::new(0),
            share_blocks: 1,
            stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
            most_cpu_ns: AtomicU64::new(0),
        }
    }

    /// Leaves the blocks from `first` on to be taken in shares: few enough that taking one costs nothing,
    /// enough that the last ones even out.
    fn share(&mut self, first: u64, threads: u64) {
        self.next = AtomicU64::new(first);
        let by_time = SHARE_NS / self.entry.ns_per_block().unwrap_or(SHARE_NS).max(1);
        let by_count = (self.blocks - first) / (threads * 4);
        self.share_blocks = by_time.min(by_count).max(1);
    }

    /// Runs blocks on this thread and remembers what one took; gives the end of the range.
    fn measured(&self, blocks: std::ops::Range<u64>) -> Result<u64, DeviceError> {
        if blocks.is_empty() {
            return Ok(blocks.end);
        }
        let start = Instant::now();
        self.serial(blocks.clone())?;
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.entry
            .set_ns_per_block(ns / (blocks.end - blocks.start));
        Ok(blocks.end)
    }

    /// Runs blocks on this thread.
    fn serial(&self, blocks: std::ops::Range<u64>) -> Result<(), DeviceError> {
        if !self.entry.module.fibers {
            return self.call_entry(0, Stacks::default(), blocks);
        }
        let mut arena = lock(&self.arenas[0]);
        let stacks = arena.stacks(self.block_threads, self.layout())?;
        self.call_entry(0, stacks, blocks)?;
        self.check_stacks(&mut arena)
    }

    fn layout(&self) -> Layout {
        if self.entry.module.checks {
            Layout::Guarded
        } else {
            Layout::Dense
        }
    }

    fn call_entry(
        &self,
        thread: usize,
        stacks: Stacks,
        blocks: std::ops::Range<u64>,
    ) -> Result<(), DeviceError> {
        let run = self.entry.point(thread).run(&self.call, stacks, blocks);
        run.map_err(|text| DeviceError::KernelFault {
            symbol: self.entry.symbol.to_string(),
            text,
        })
    }

    fn check_stacks(&self, arena: &mut Arena) -> Result<(), DeviceError> {
        if !arena.overran(self.block_threads) {
            return Ok(());
        }
        Err(DeviceError::KernelFault {
            symbol: self.entry.symbol.to_string(),
            text: "a thread overran its stack\nhelp: raise CpuOptions::stack_bytes".into(),
        })
    }

    /// Takes shares until none is left; the error ends the launch.
    fn take_shares(&self, thread: usize) -> Result<(), DeviceError> {
        let mut arena = lock(&self.arenas[thread]);
        let stacks = if self.entry.module.fibers {
            arena.stacks(self.block_threads, self.layout())?
        } else {
            Stacks::default()
        };
        while !self.stopped.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(self.share_blocks, Ordering::Relaxed);
            if first >= self.blocks {
                break;
            }
            let end = self.blocks.min(first + self.share_blocks);
            self.call_entry(thread, stacks, first..end)?;
        }
        if self.entry.module.fibers {
            self.check_stacks(&mut arena)
        } else {
            Ok(())
        }
    }
}

impl Job for Work {
    fn run(&self, thread: usize) {
        let start_ns = thread_cpu_ns();
        if let Err(error) = self.take_shares(thread) {
            self.stopped.store(true, Ordering::Relaxed);
            lock(&self.failure).get_or_insert(error);
        }
        self.most_cpu_ns
            .fetch_max(thread_cpu_ns() - start_ns, Ordering::Relaxed);
    }
}
