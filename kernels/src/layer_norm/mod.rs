//! Layer normalisation along rows. Each block normalises a few rows and reads each row two or three times.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::layer_norm::layer_norm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[1.0_f32, 3.0])?;
//! let weight = Buffer::from_slice(&stream, &[1.0_f32, 10.0])?;
//! let bias = Buffer::from_slice(&stream, &[0.5_f32, 0.0])?;
//! let mut y = Buffer::zeros(&stream, 2)?;
//! layer_norm(&stream, 1, 2, 1e-5, &x, &weight, &bias, &mut y)?;
//! let y = y.to_vec(&stream)?;
//! assert!((y[0] + 0.5).abs() < 1e-4 && (y[1] - 10.0).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::layer_norm::KERNEL;

// Outputs depend on sums of cols numbers in any order, and on a reciprocal square root with an error of two units in
// the last place.
#[tuned_kernel(
    source = "layer_norm.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [1, 32, 64, 128, 256, 512, 1024],
        ROWS in [1, 2, 4],
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        ITEMS in [1, 2, 4],
        METHOD in [passes, joined],
        HINT in [plain, streaming],
    ),
    where(
        // Use one thread per row only on processors that run the threads of a block one after another.
        THREADS >= device.lockstep_threads,
        THREADS > 1 || ROWS == 1,
        VECTOR_WIDTH * size_of(T) <= 16 || THREADS == 1,
        THREADS * ROWS <= min(1024, device.max_threads_per_block),
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, METHOD = passes, HINT = plain),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 1, METHOD = passes, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 16, ITEMS = 2, METHOD = passes, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 2, METHOD = passes, HINT = plain),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1, METHOD = joined, HINT = plain),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 1024, cols = 1024)),
    gpu_problems((rows = 8192, cols = 4096), (rows = 2048, cols = 12288)),
    work(flops = 8 * rows * cols, bytes = size_of(T) * (2 * rows * cols + 2 * cols)),
    tolerance(relative = 1e-5),
    reference = reference::layer_norm,
)]
unsafe extern "C" {
    /// Computes `y = (x - mean) / sqrt(variance + epsilon) * weight + bias` along each row of a row-major matrix of
    /// rows x cols.
    pub fn layer_norm(
        rows: u32,
        cols: u32,
        #[value(0.00001)] epsilon: f32,
        #[len(rows * cols)]
        #[fill(uniform(-1, 3))]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        weight: &[T],
        #[len(cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        bias: &[T],
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        y: &mut [T],
    );
}
