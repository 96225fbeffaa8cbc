//! Adds a bias and applies the Gaussian error linear unit in one pass, as after a linear layer.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::bias_gelu::bias_gelu;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (rows, cols) = (2, 2);
//! let x = Buffer::from_slice(&stream, &[0.0_f32, 1.0, 2.0, 3.0])?;
//! let bias = Buffer::from_slice(&stream, &[0.0_f32, -1.0])?;
//! let mut y = Buffer::zeros(&stream, 4)?;
//! bias_gelu(&stream, rows, cols, 1, &x, &bias, &mut y)?;
//! let y = y.to_vec(&stream)?;
//! assert_eq!((y[0], y[1]), (0.0, 0.0));
//! assert!((y[2] - y[3]).abs() < 1e-6, "gelu(2) both times");
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::bias_gelu::KERNEL;

// The exact form uses a polynomial with a relative error of up to 7e-7. The approximate form uses the fast exponential,
// which has an error of a few units in the last place, and a larger error if its argument is large. Below x = -4 both
// errors grow, but gelu is small there. `absolute` allows for that.
#[tuned_kernel(
    source = "bias_gelu.cu",
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
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, HINT = plain),
    try_first(
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 64, ITEMS = 1, HINT = streaming),
        (THREADS = 1, ROWS = 1, VECTOR_WIDTH = 32, ITEMS = 4, HINT = plain),
        (THREADS = 256, ROWS = 1, VECTOR_WIDTH = 4, ITEMS = 1, HINT = plain),
    ),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 512, cols = 1024, form = 2), (T = f32, rows = 512, cols = 1024, form = 1)),
    gpu_problems((rows = 8192, cols = 4096, form = 2)),
    verify(
        (rows = 1, cols = 1, form = 1), (rows = 7, cols = 130, form = 2), (rows = 9, cols = 1031, form = 1),
        (rows = 5, cols = 4096, form = 2),
    ),
    work(flops = 13 * rows * cols, bytes = size_of(T) * (2 * rows * cols + cols)),
    tolerance(relative = 2e-6, absolute = 1e-10),
    reference = reference::bias_gelu,
)]
unsafe extern "C" {
    /// Computes `y = gelu(x + bias)` along each row of a row-major matrix of rows x cols. `form` has the same meaning
    /// as in [`crate::gelu`].
    pub fn bias_gelu(
        rows: u32,
        cols: u32,
        form: u32,
        #[len(rows * cols)]
        #[fill(uniform(-5, 5))]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        bias: &[T],
        #[len(rows * cols)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        y: &mut [T],
    );
}
