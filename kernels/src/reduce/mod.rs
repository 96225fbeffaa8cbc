//! Sum or maximum along rows. Each block reduces a few rows.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::reduce::reduce;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, -1.0, -2.0, -3.0])?;
//! let mut y = Buffer::zeros(&stream, 2)?;
//! reduce(&stream, 2, 3, 1, &x, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [6.0, -6.0]);
//! reduce(&stream, 2, 3, 2, &x, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [3.0, -1.0]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::reduce::KERNEL;

// An output is a sum of cols numbers in [-1, 1) in any order. Its magnitude is about sqrt(cols / 3), and its rounding
// error is about sqrt(cols) * 2^-24 of the magnitude. The tolerance is relative to the root mean square of all outputs.
// A single sum may be near 0 although its addends are not, so problems with long rows have several rows.
#[tuned_kernel(
    source = "reduce.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [1, 32, 64, 128, 256, 512, 1024],
        ROWS in [1, 2, 4],
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        ITEMS in [1, 2, 4, 8],
    ),
    where(
        operation == 1 || operation == 2,
        // Use one thread per row only on processors that run the threads of a block one after another.
        THREADS >= device.lockstep_threads,
        THREADS > 1 || ROWS == 1,
        VECTOR_WIDTH * size_of(T) <= 16 || THREADS == 1,
        THREADS * ROWS <= min(1024, device.max_threads_per_block),
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 8),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 32, ITEMS = 1),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 1024, cols = 2048, operation = 1), (T = f32, rows = 16, cols = 262144, operation = 2)),
    gpu_problems((rows = 8192, cols = 8192, operation = 1), (T = f32, rows = 64, cols = 1048576, operation = 2)),
    verify(
        (rows = 1, cols = 1, operation = 1), (rows = 7, cols = 130, operation = 2), (rows = 9, cols = 1031, operation = 1),
        (rows = 5, cols = 4096, operation = 2), (rows = 8, cols = 20000, operation = 1),
    ),
    work(flops = rows * cols, bytes = size_of(T) * (rows * cols + rows)),
    tolerance(relative = 2e-5),
    reference = reference::reduce,
)]
unsafe extern "C" {
    /// Computes the sum (if `operation` is 1) or the maximum (if it is 2) of each row of a row-major matrix of rows x
    /// cols.
    pub fn reduce(
        rows: u32,
        cols: u32,
        operation: u32,
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(rows)] y: &mut [T],
    );
}
