//! RMS normalisation along rows. Each block normalises a few rows.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::rms_norm::rms_norm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[3.0_f32, -3.0, 3.0, -3.0])?;
//! let weight = Buffer::from_slice(&stream, &[1.0_f32, 1.0, 2.0, 2.0])?;
//! let mut y = Buffer::zeros(&stream, 4)?;
//! rms_norm(&stream, 1, 4, 1e-5, &x, &weight, &mut y)?;
//! for (got, want) in y.to_vec(&stream)?.into_iter().zip([1.0, -1.0, 2.0, -2.0]) {
//!     assert!((got - want).abs() < 1e-5);
//! }
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::rms_norm::KERNEL;

// Outputs depend on a sum of cols squares in any order, and on a reciprocal square root with an error of two units in
// the last place.
#[tuned_kernel(
    source = "rms_norm.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [1, 32, 64, 128, 256, 512, 1024],
        ROWS in [1, 2, 4],
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        ITEMS in [1, 2, 4],
        HINT in [plain, streaming],
    ),
    where(
        // Use one thread per row only on processors that run the threads of a block one after another.
        THREADS >= device.lockstep_threads,
        THREADS > 1 || ROWS == 1,
        VECTOR_WIDTH * size_of(T) <= 16 || THREADS == 1,
        THREADS * ROWS <= min(1024, device.max_threads_per_block),
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, HINT = plain),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 16, ITEMS = 4, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 4, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 4, HINT = plain),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1, HINT = plain),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 1024, cols = 1024)),
    gpu_problems((rows = 8192, cols = 4096), (rows = 2048, cols = 12288)),
    work(flops = 4 * rows * cols, bytes = size_of(T) * (2 * rows * cols + cols)),
    tolerance(relative = 1e-5),
    reference = reference::rms_norm,
)]
unsafe extern "C" {
    /// Computes `y = x / sqrt(mean of squares + epsilon) * weight` along each row of a row-major matrix of rows x
    /// cols.
    pub fn rms_norm(
        rows: u32,
        cols: u32,
        #[value(0.00001)] epsilon: f32,
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        weight: &[T],
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        y: &mut [T],
    );
}
