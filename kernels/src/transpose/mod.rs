//! Transposes a matrix. Its speed is limited by memory bandwidth and depends on the layout of the tiles.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::transpose::transpose;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let mut y = Buffer::zeros(&stream, 6)?;
//! transpose(&stream, 2, 3, &x, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::transpose::KERNEL;

// Elements are moved and not computed, so the comparison is exact.
#[tuned_kernel(
    source = "transpose.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        TILE in [8, 16, 32, 64],
        THREAD_ROWS in [1, 2, 4, 8, 16],
        STAGING in [none, shared],
        PADDING in [0, 1, 2],
        WALK in [0, 8, 16, 32],
    ),
    where(
        TILE % THREAD_ROWS == 0,
        // Let one thread do the work of a block only on processors that run the threads of a block one after another.
        WALK == 0 || device.lockstep_threads == 1,
        WALK == 0 || STAGING == none && THREAD_ROWS == 1,
        TILE % max(1, WALK) == 0,
        WALK > 0 || TILE * THREAD_ROWS >= device.warp_size,
        TILE * THREAD_ROWS <= min(1024, device.max_threads_per_block),
        STAGING == shared || PADDING == 0,
    ),
    baseline(entry = "transpose_naive", grid(cols.div_ceil(16), rows.div_ceil(16)), block(16, 16)),
    try_first(
        (TILE = 64, THREAD_ROWS = 1, STAGING = none, PADDING = 0, WALK = 16),
        (TILE = 32, THREAD_ROWS = 1, STAGING = none, PADDING = 0, WALK = 32),
        (TILE = 32, THREAD_ROWS = 8, STAGING = shared, PADDING = 1, WALK = 0),
    ),
    grid(cols.div_ceil(TILE), rows.div_ceil(TILE)),
    block(max(1, TILE * (1 - WALK)), THREAD_ROWS),
    problems((rows = 2048, cols = 2048), (T = f32, rows = 1000, cols = 3001)),
    gpu_problems((rows = 8192, cols = 6144)),
    work(flops = 0, bytes = 2 * size_of(T) * rows * cols),
    tolerance(relative = 0),
    reference = reference::transpose,
)]
unsafe extern "C" {
    /// Transposes `x` into `y`. `x` is rows x cols and `y` is cols x rows, both row-major.
    pub fn transpose(
        rows: u32,
        cols: u32,
        #[len(rows * cols)] x: &[T],
        #[len(rows * cols)] y: &mut [T],
    );
}
