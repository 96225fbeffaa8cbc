//! Runs the blocks of a launch, on the calling thread alone or together with the thread pool.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kiln_spec::LaunchPlan;

use crate::device::{ArgSets, DeviceError, KernelArgs, Schedule};
use crate::supervise::thread_cpu_ns;

use super::arena::{Arena, StackLayout};
use super::ffi::{Call, MemoryTable, Stacks};
use super::limits::CpuOptions;
use super::module::CpuEntry;
use super::pool::{Job, Pool, pin_to};
use super::watch::History;

/// The pool is woken only for work that would take the calling thread alone longer than this number of nanoseconds.
const WAKE_NS: u64 = 20_000;
/// Target duration of a share (a range of blocks that one thread takes at a time), in nanoseconds.
const SHARE_NS: u64 = 20_000;

/// Runs launches, one after another.
pub(super) struct Executor {
    arenas: Arc<[Mutex<Arena>]>,
    pool: Option<Pool>,
    history: Mutex<History>,
    /// The first remark of each kind.
    remarks: Mutex<BTreeMap<String, String>>,
}

impl Executor {
    /// Starts the threads of the pool.
    pub fn new(options: &CpuOptions) -> std::io::Result<Executor> {
        let threads = options.threads.max(1);
        if options.pin {
            pin_to(0);
        }
        let pool = (threads > 1)
            .then(|| Pool::new(threads, options.pin))
            .transpose()?;
        let arenas = (0..threads)
            .map(|_| Mutex::new(Arena::new(options.usable_stack_bytes())))
            .collect();
        Ok(Executor {
            arenas,
            pool,
            history: Mutex::default(),
            remarks: Mutex::default(),
        })
    }

    /// Number of threads that run blocks, including the calling one.
    pub fn threads(&self) -> usize {
        self.arenas.len()
    }

    /// Runs all blocks of a launch. The caller must hold the device's lock.
    pub fn launch(
        &self,
        entry: &Arc<CpuEntry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        let work = LaunchWork::new(entry, plan, args, schedule, &self.arenas);
        let blocks = plan.blocks();
        // A check build runs blocks in a requested order, so it runs on one thread.
        if entry.module.checks {
            return work.serial(0..blocks);
        }
        let first = self.tried_first(entry, blocks);
        work.measured(0..first)?;
        if self.wakes_pool(entry, blocks - first) {
            self.run_with_pool(work, first, Shares::AsTheyCome)?;
        } else {
            work.measured(first..blocks)?;
        }
        Ok(())
    }

    /// Runs all blocks of a check build and checks every access.
    pub fn launch_watched(
        &self,
        entry: &Arc<CpuEntry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
        memory: &MemoryTable,
        memory_bytes: u64,
    ) -> Result<(), DeviceError> {
        let work = LaunchWork::new(entry, plan, args, schedule, &self.arenas);
        let variables: u64 = entry.module.shared_bytes();
        let bytes = memory_bytes + variables + u64::from(plan.shared_bytes);
        let mut history = lock(&self.history);
        let watch = history.for_launch(bytes, memory)?;
        let mut arena = lock(&self.arenas[0]);
        let stacks = if entry.module.fibers {
            arena.stacks(work.block_threads, work.layout())?
        } else {
            Stacks::default()
        };
        let run = entry
            .point(0)
            .run_watched(&work.call, stacks, 0..work.blocks, watch);
        history.tidy();
        let remarks = run.map_err(|reported| DeviceError::KernelFault {
            symbol: entry.symbol.to_string(),
            text: entry.module.with_lines(&reported.text),
        })?;
        let mut kept = lock(&self.remarks);
        for remark in entry.module.with_lines(&remarks).lines() {
            let kind = remark.split(':').next().unwrap_or_default();
            kept.entry(kind.into()).or_insert_with(|| remark.into());
        }
        Ok(())
    }

    /// Takes the remarks of check builds on the launches since the last call, one of each kind.
    pub fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.remarks))
            .into_values()
            .collect()
    }

    /// Number of blocks to run on this thread before deciding whether to wake the pool. These blocks measure the time
    /// per block, which is not known before the first launch and may have changed with the sizes.
    fn tried_first(&self, entry: &CpuEntry, blocks: u64) -> u64 {
        if self.pool.is_none() || self.wakes_pool(entry, blocks) {
            0
        } else if entry.ns_per_block().is_none() {
            1
        } else if blocks >= 16 {
            blocks / 8
        } else {
            0
        }
    }

    /// Launches `launches` times and alternates between the sets of arguments. Returns the sum over the launches, in
    /// nanoseconds, of the CPU time of each launch's busiest thread. If the entry was never launched, one more launch
    /// runs first. It determines whether the thread pool is used, and is not part of the sum.
    pub fn time(
        &self,
        entry: &Arc<CpuEntry>,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        let work = |args| LaunchWork::new(entry, plan, args, Schedule::Forward, &self.arenas);
        let blocks = plan.blocks();
        if entry.ns_per_block().is_none() {
            work(sets.first()).measured(0..blocks)?;
        }
        let mut total_ns = 0;
        if self.wakes_pool(entry, blocks) {
            for args in sets.in_turn(launches) {
                total_ns += self.run_with_pool(work(args), 0, Shares::Even)?;
            }
        } else {
            let works: Vec<LaunchWork> = sets
                .of_launches(launches)
                .iter()
                .copied()
                .map(work)
                .collect();
            let start_ns = thread_cpu_ns();
            for work in works.iter().cycle().take(launches as usize) {
                work.serial(0..blocks)?;
            }
            total_ns = thread_cpu_ns() - start_ns;
        }
        Ok(total_ns)
    }

    /// Whether it is worth waking the other threads for `blocks` blocks.
    fn wakes_pool(&self, entry: &CpuEntry, blocks: u64) -> bool {
        let estimate_ns = entry.ns_per_block().unwrap_or(0).saturating_mul(blocks);
        self.pool.is_some()
            && blocks > 1
            && entry.module.most_threads() > 1
            && estimate_ns > WAKE_NS
    }

    /// Runs the blocks from `first` on with all threads. Returns the CPU time of the busiest thread, in nanoseconds.
    fn run_with_pool(
        &self,
        mut work: LaunchWork,
        first: u64,
        shares: Shares,
    ) -> Result<u64, DeviceError> {
        let Some(pool) = &self.pool else {
            return Err(DeviceError::internal("the pool", "there is none"));
        };
        work.entry.prepare(self.threads())?;
        work.share(first, self.threads() as u64, shares);
        let work = Arc::new(work);
        let job = work.clone() as Arc<dyn Job>;
        match shares {
            Shares::AsTheyCome => pool.run(&job),
            Shares::Even => pool.run_on_all(&job),
        }
        match lock(&work.failure).take() {
            Some(error) => Err(error),
            None => Ok(work.most_cpu_ns.load(Ordering::Relaxed)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the threads divide the blocks of a launch into shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shares {
    /// A thread that is free takes the next share. The launch then ends as soon as possible.
    AsTheyCome,
    /// Every thread runs the same number of shares. The largest CPU time of a thread then does not depend on when the
    /// system schedules each thread.
    Even,
}

/// One launch, divided among the threads that run it.
struct LaunchWork {
    entry: Arc<CpuEntry>,
    call: Call,
    blocks: u64,
    block_threads: usize,
    arenas: Arc<[Mutex<Arena>]>,
    next: AtomicU64,
    share_blocks: u64,
    /// Distance between consecutive shares of a thread, in blocks; `None` unless shares are even.
    stride_blocks: Option<u64>,
    stopped: AtomicBool,
    failure: Mutex<Option<DeviceError>>,
    most_cpu_ns: AtomicU64,
}

impl LaunchWork {
    fn new(
        entry: &Arc<CpuEntry>,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
        arenas: &Arc<[Mutex<Arena>]>,
    ) -> LaunchWork {
        LaunchWork {
            entry: entry.clone(),
            call: Call::new(plan, args, schedule),
            blocks: plan.blocks(),
            block_threads: plan.threads_per_block() as usize,
            arenas: arenas.clone(),
            next: AtomicU64::new(0),
            share_blocks: 1,
            stride_blocks: None,
            stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
            most_cpu_ns: AtomicU64::new(0),
        }
    }

    /// Divides the blocks from `first` on into shares. A share is large enough that taking it costs almost nothing,
    /// and small enough that all threads finish at about the same time.
    fn share(&mut self, first: u64, threads: u64, shares: Shares) {
        self.next = AtomicU64::new(first);
        let by_time = SHARE_NS / self.entry.ns_per_block().unwrap_or(SHARE_NS).max(1);
        let by_count = (self.blocks - first) / (threads * 4);
        self.share_blocks = by_time.min(by_count).max(1);
        self.stride_blocks = (shares == Shares::Even).then_some(self.share_blocks * threads);
    }

    /// Runs blocks on this thread and stores the measured time per block.
    fn measured(&self, blocks: std::ops::Range<u64>) -> Result<(), DeviceError> {
        if blocks.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        self.serial(blocks.clone())?;
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.entry
            .set_ns_per_block(ns / (blocks.end - blocks.start));
        Ok(())
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

    fn layout(&self) -> StackLayout {
        if self.entry.module.checks {
            StackLayout::Guarded
        } else {
            StackLayout::Dense
        }
    }

    fn call_entry(
        &self,
        thread: usize,
        stacks: Stacks,
        blocks: std::ops::Range<u64>,
    ) -> Result<(), DeviceError> {
        let run = self.entry.point(thread).run(&self.call, stacks, blocks);
        run.map_err(|reported| DeviceError::KernelFault {
            symbol: self.entry.symbol.to_string(),
            text: reported.text,
        })
    }

    /// The first block of the next share. If shares are even, `own` is the first block of the thread's next share.
    fn next_share(&self, own: &mut u64) -> u64 {
        let Some(stride) = self.stride_blocks else {
            return self.next.fetch_add(self.share_blocks, Ordering::Relaxed);
        };
        let first = *own;
        *own = first.saturating_add(stride);
        first
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

    /// Takes shares until none is left. Returns the number of blocks that this thread ran. An error ends the launch.
    fn take_shares(&self, thread: usize) -> Result<u64, DeviceError> {
        let mut arena = lock(&self.arenas[thread]);
        let stacks = if self.entry.module.fibers {
            arena.stacks(self.block_threads, self.layout())?
        } else {
            Stacks::default()
        };
        let mut blocks = 0;
        let mut own = self.next.load(Ordering::Relaxed) + thread as u64 * self.share_blocks;
        while !self.stopped.load(Ordering::Relaxed) {
            let first = self.next_share(&mut own);
            if first >= self.blocks {
                break;
            }
            let end = self.blocks.min(first + self.share_blocks);
            self.call_entry(thread, stacks, first..end)?;
            blocks += end - first;
        }
        if self.entry.module.fibers {
            self.check_stacks(&mut arena)?;
        }
        Ok(blocks)
    }
}

impl Job for LaunchWork {
    fn run(&self, thread: usize) {
        let start_ns = thread_cpu_ns();
        let taken = self.take_shares(thread);
        let cpu_ns = thread_cpu_ns() - start_ns;
        self.most_cpu_ns.fetch_max(cpu_ns, Ordering::Relaxed);
        match taken {
            // All threads of a launch measure about the same time per block, so it does not matter which value remains.
            Ok(blocks @ 1..) => self.entry.set_ns_per_block(cpu_ns / blocks),
            Ok(0) => {}
            Err(error) => {
                self.stopped.store(true, Ordering::Relaxed);
                lock(&self.failure).get_or_insert(error);
            }
        }
    }
}
