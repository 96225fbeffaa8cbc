//! A thread pool that runs one job at a time. The calling thread takes part in the job.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::thread::CpuSet;

/// Work that several threads share. Each thread calls [`Job::run`] with its own number.
pub(super) trait Job: Send + Sync {
    /// Works on parts of the job until none is left.
    fn run(&self, thread: usize);
}

/// The threads of the pool, numbered from 1. Number 0 is the thread that calls [`Pool::run`].
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

struct Shared {
    state: Mutex<PoolState>,
    wake: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct PoolState {
    job: Option<Arc<dyn Job>>,
    serial: u64,
    /// Number of threads that must still join before the job is withdrawn.
    awaited: usize,
    active: usize,
    closing: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// Starts `threads - 1` threads. If `pin` is set, each is bound to its own processor.
    pub fn new(threads: usize, pin: bool) -> std::io::Result<Pool> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
        });
        let mut pool = Pool {
            shared,
            threads: Vec::new(),
        };
        for number in 1..threads {
            let shared = pool.shared.clone();
            let handle = thread::Builder::new()
                .name(format!("kiln-cpu-{number}"))
                .spawn(move || {
                    if pin {
                        pin_to(number);
                    }
                    work(&shared, number);
                })?;
            pool.threads.push(handle);
        }
        Ok(pool)
    }

    /// Runs a job on this thread and on every thread of the pool that joins before this thread's part is done. Waits
    /// for all that joined.
    pub fn run(&self, job: &Arc<dyn Job>) {
        self.run_awaiting(job, 0);
    }

    /// Runs a job on all threads. Waits for every thread to join, however long that takes.
    pub fn run_on_all(&self, job: &Arc<dyn Job>) {
        self.run_awaiting(job, self.threads.len());
    }

    fn run_awaiting(&self, job: &Arc<dyn Job>, awaited: usize) {
        let mut state = self.shared.lock();
        state.job = Some(job.clone());
        state.serial += 1;
        state.awaited = awaited;
        drop(state);
        self.shared.wake.notify_all();
        // Threads that joined use data that is borrowed from the caller, so even a panic must wait for them.
        let _wait = WaitForOthers(&self.shared);
        job.run(0);
    }
}

struct WaitForOthers<'a>(&'a Shared);

impl Drop for WaitForOthers<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        while state.awaited > 0 || state.active > 0 {
            if state.awaited == 0 {
                state.job = None;
            }
            state = self
                .0
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.job = None;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_all();
        for handle in self.threads.drain(..) {
            // A thread that panicked has already reported it.
            let _ = handle.join();
        }
    }
}

fn work(shared: &Shared, number: usize) {
    let mut seen = 0;
    let mut state = shared.lock();
    loop {
        if state.closing {
            return;
        }
        let job = state.job.clone().filter(|_| state.serial != seen);
        let Some(job) = job else {
            state = shared
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        seen = state.serial;
        state.active += 1;
        state.awaited = state.awaited.saturating_sub(1);
        drop(state);
        let leave = Leave(shared);
        job.run(number);
        drop(job);
        drop(leave);
        state = shared.lock();
    }
}

struct Leave<'a>(&'a Shared);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.active -= 1;
        if state.active == 0 {
            self.0.done.notify_all();
        }
    }
}

/// Binds the calling thread to one of the processors that the process may use. If the system does not permit this,
/// the thread stays unbound.
pub(super) fn pin_to(number: usize) {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else {
        return;
    };
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect();
    if processors.is_empty() {
        return;
    }
    let mut own = CpuSet::new();
    own.set(processors[number % processors.len()]);
    let _ = rustix::thread::sched_setaffinity(None, &own);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Count {
        left: AtomicUsize,
        done: AtomicUsize,
    }

    impl Job for Count {
        fn run(&self, _: usize) {
            let take = |left: usize| left.checked_sub(1);
            while self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
            {
                self.done.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    struct Come(AtomicUsize);

    impl Job for Come {
        fn run(&self, thread: usize) {
            self.0.fetch_or(1 << thread, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_job_for_all_runs_once_on_every_thread() {
        let pool = Pool::new(4, false).unwrap();
        for _ in 0..200 {
            let come = Arc::new(Come(AtomicUsize::new(0)));
            pool.run_on_all(&(come.clone() as Arc<dyn Job>));
            assert_eq!(come.0.load(Ordering::Relaxed), 0b1111);
        }
    }

    struct Allowed(AtomicUsize);

    impl Job for Allowed {
        fn run(&self, thread: usize) {
            let allowed = rustix::thread::sched_getaffinity(None).unwrap();
            if thread > 0 {
                self.0
                    .fetch_max(allowed.count() as usize, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn pinned_threads_may_use_one_processor() {
        let pool = Pool::new(3, true).unwrap();
        let most = Arc::new(Allowed(AtomicUsize::new(0)));
        pool.run_on_all(&(most.clone() as Arc<dyn Job>));
        assert_eq!(most.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn every_share_is_done_when_run_returns_however_many_threads_come() {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads, false).unwrap();
            for shares in [0, 1, 1000] {
                let count = Arc::new(Count {
                    left: AtomicUsize::new(shares),
                    done: AtomicUsize::new(0),
                });
                pool.run(&(count.clone() as Arc<dyn Job>));
                assert_eq!(count.done.load(Ordering::Relaxed), shares);
                assert_eq!(Arc::strong_count(&count), 1);
            }
        }
    }
}
