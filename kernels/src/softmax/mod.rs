//! Softmax along rows. Each block computes a few rows and reads each row two or three times.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::softmax::softmax;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[0.0_f32, 3.0_f32.ln(), 5.0, 5.0])?;
//! let mut y = Buffer::zeros(&stream, 4)?;
//! softmax(&stream, 2, 2, &x, &mut y)?;
//! for (got, want) in y.to_vec(&stream)?.into_iter().zip([0.25, 0.75, 0.5, 0.5]) {
//!     assert!((got - want).abs() < 1e-6);
//! }
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::softmax::KERNEL;

// Each output is a quotient of fast exponentials, which have an error of a few units in the last place.
#[tuned_kernel(
    source = "softmax.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [1, 32, 64, 128, 256, 512, 1024],
        ROWS in [1, 2, 4],
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        ITEMS in [1, 2, 4],
        METHOD in [passes, online],
        KEEP in [0, 1],
        HINT in [plain, streaming],
    ),
    where(
        // Use one thread per row only on processors that run the threads of a block one after another.
        THREADS >= device.lockstep_threads,
        THREADS > 1 || ROWS == 1,
        VECTOR_WIDTH * size_of(T) <= 16 || THREADS == 1,
        THREADS * ROWS <= min(1024, device.max_threads_per_block),
        // The online method rescales its sum when it finds a larger element, so earlier exponentials cannot be kept.
        KEEP == 0 || METHOD == passes,
        4 * KEEP * ROWS * cols <= device.shared_bytes_per_block,
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, METHOD = passes, KEEP = 0, HINT = plain),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 2, METHOD = passes, KEEP = 1, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 2, METHOD = passes, KEEP = 0, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 2, METHOD = passes, KEEP = 1, HINT = plain),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1, METHOD = online, KEEP = 0, HINT = plain),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    shared(4 * KEEP * ROWS * cols),
    problems((rows = 1024, cols = 2048), (T = f32, rows = 64, cols = 32768)),
    gpu_problems((rows = 8192, cols = 4096), (rows = 1024, cols = 32768)),
    work(flops = 8 * rows * cols, bytes = 2 * size_of(T) * rows * cols),
    tolerance(relative = 1e-5),
    reference = reference::softmax,
)]
unsafe extern "C" {
    /// Computes `y = softmax(x)` along each row of a row-major matrix of rows x cols.
    pub fn softmax(
        rows: u32,
        cols: u32,
        #[len(rows * cols)]
        #[fill(uniform(-4, 4))]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        y: &mut [T],
    );
}
