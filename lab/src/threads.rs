//! Thread pools.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::LabError;

/// A pool of `count` threads, or of one per core if `count` is 0. `what` names them in messages.
///
/// # Errors
/// If the system cannot create threads.
pub fn pool(what: &'static str, count: usize) -> Result<ThreadPool, LabError> {
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| LabError::Threads { what, error })
}

/// A pool of threads that compile.
///
/// # Errors
/// Those of [`pool`].
pub fn to_compile(count: usize) -> Result<ThreadPool, LabError> {
    pool("compile threads", count)
}
