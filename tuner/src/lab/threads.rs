//! Threads that work side by side.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Failure;

/// A pool of that many threads; of one per core if `count` is 0. `what` names them for people.
///
/// # Errors
/// When the system gives none.
pub fn pool(what: &'static str, count: usize) -> Result<ThreadPool, Failure> {
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| Failure::Threads { what, error })
}

/// A pool of threads that compile.
///
/// # Errors
/// As [`pool`].
pub fn to_compile(count: usize) -> Result<ThreadPool, Failure> {
    pool("compile threads", count)
}
