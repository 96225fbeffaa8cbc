//! A queue of jobs that run in order on their own thread. Each stream has a queue.

use std::sync::mpsc::{self, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A queue of jobs. Its thread runs them.
#[derive(Debug)]
pub struct Queue {
    jobs: Mutex<Sender<Job>>,
}

impl Queue {
    /// Starts the thread. It ends when the queue has been dropped and all jobs are done.
    pub fn start() -> Queue {
        let (send, receive) = mpsc::channel::<Job>();
        thread::spawn(move || receive.into_iter().for_each(|job| job()));
        Queue {
            jobs: Mutex::new(send),
        }
    }

    /// Queues a job.
    pub fn push(&self, job: impl FnOnce() + Send + 'static) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        // The thread lives as long as the queue. If it did not, a caller would wait forever.
        jobs.send(Box::new(job))
            .expect("the thread of a stream should live");
    }

    /// Waits until all jobs in the queue are done.
    pub fn wait(&self) {
        let (send, receive) = mpsc::channel();
        self.push(move || {
            // The receiver is still waiting, so sending cannot fail.
            let _ = send.send(());
        });
        receive.recv().expect("a queued job should run");
    }
}

/// A value that can be set several times, and that threads can wait for.
#[derive(Debug)]
pub struct Signal<T> {
    value: Mutex<Option<T>>,
    set: Condvar,
}

impl<T: Copy> Signal<T> {
    /// A signal whose value is not set.
    pub fn new() -> Signal<T> {
        Signal {
            value: Mutex::new(None),
            set: Condvar::new(),
        }
    }

    /// Removes the value.
    pub fn clear(&self) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Sets the value, and wakes the waiting threads.
    pub fn set(&self, value: T) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        self.set.notify_all();
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<T> {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the value is set.
    pub fn wait(&self) -> T {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = *value {
                return value;
            }
            value = self.set.wait(value).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
