//! Sum of a matrix and a matrix, row, column or number. Its speed is limited by memory bandwidth only.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::broadcast_add::broadcast_add;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let matrix = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let row = Buffer::from_slice(&stream, &[10.0_f32, 20.0, 30.0])?;
//! let mut sum = Buffer::zeros(&stream, 6)?;
//! broadcast_add(&stream, 2, 3, 1, 3, &matrix, &row, &mut sum)?;
//! assert_eq!(sum.to_vec(&stream)?, [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::broadcast_add::KERNEL;

// The sum is rounded only once. The comparison itself allows for the rounding to f16 and bf16.
#[tuned_kernel(
    source = "broadcast_add.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [1, 32, 64, 128, 256, 512],
        ROWS in [1, 2, 4, 8],
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        ITEMS in [1, 2, 4],
        HINT in [plain, streaming],
    ),
    where(
        // Use one thread per row only on processors that run the threads of a block one after another.
        THREADS >= device.lockstep_threads,
        THREADS > 1 || ROWS == 1,
        VECTOR_WIDTH * size_of(T) <= 16 || THREADS == 1,
        THREADS * ROWS <= device.max_threads_per_block,
        b_rows == 1 || b_rows == rows,
        b_cols == 1 || b_cols == cols,
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, HINT = plain),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 32, ITEMS = 1, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 2, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 4, HINT = plain),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1, HINT = plain),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems(
        (rows = 1024, cols = 1024, b_rows = 1, b_cols = 1024),
        (T = f32, rows = 1024, cols = 1024, b_rows = 1024, b_cols = 1),
    ),
    gpu_problems(
        (rows = 8192, cols = 4096, b_rows = 1, b_cols = 4096), (rows = 8192, cols = 4096, b_rows = 8192, b_cols = 1),
        (rows = 8192, cols = 4096, b_rows = 1, b_cols = 1),
    ),
    verify(
        (rows = 7, cols = 130, b_rows = 1, b_cols = 130),
        (rows = 9, cols = 64, b_rows = 9, b_cols = 1),
        (rows = 1, cols = 1, b_rows = 1, b_cols = 1),
        (rows = 5, cols = 1031, b_rows = 5, b_cols = 1031),
        (rows = 8, cols = 4096, b_rows = 1, b_cols = 4096),
        (rows = 3, cols = 2050, b_rows = 1, b_cols = 1),
    ),
    work(flops = rows * cols, bytes = size_of(T) * (2 * rows * cols + b_rows * b_cols)),
    tolerance(relative = 1e-6),
    reference = reference::broadcast_add,
)]
unsafe extern "C" {
    /// Computes `c = a + b`. `a` and `c` are rows x cols, and `b` is b_rows x b_cols, all row-major. `b_rows` is rows
    /// or 1, and `b_cols` is cols or 1. If an extent of `b` is 1, its only row or column is used for all rows or
    /// columns of `a`.
    pub fn broadcast_add(
        rows: u32,
        cols: u32,
        b_rows: u32,
        b_cols: u32,
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        a: &[T],
        #[len(b_rows * b_cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        b: &[T],
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        c: &mut [T],
    );
}
