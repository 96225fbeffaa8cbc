//! Creates thread pools.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::LabError;

/// Creates a pool of `count` threads, or of one thread per core if `count` is 0. `what` describes the threads in error
/// messages.
///
/// # Errors
/// If the system cannot create threads.
pub fn pool(what: &'static str, count: usize) -> Result<ThreadPool, LabError> {
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| LabError::Threads { what, error })
}

/// Creates a pool of `count` threads that compile.
///
/// # Errors
/// The errors of [`pool`].
pub fn to_compile(count: usize) -> Result<ThreadPool, LabError> {
    pool("compile threads", count)
}
