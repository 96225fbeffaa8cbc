//! Softmax along rows: a block a few rows, with a choice of reductions.

pub mod reference;

use kiln::tuned_kernel;

// Each output is a quotient of fast exponentials, which err by a few units in the last place.
#[tuned_kernel(
    source = "softmax.cu",
    params(
        THREADS in [32, 64, 128, 256, 512, 1024],
        ROWS in [1, 2, 4],
        VECTOR_WIDTH in [1, 2, 4],
        ITEMS in [1, 2, 4, 8],
        REDUCE in [tree, warp],
    ),
    where(
        THREADS * ROWS <= min(1024, device.max_threads_per_block),
    ),
    baseline(THREADS = 256, ROWS = 1, VECTOR_WIDTH = 1, ITEMS = 1, REDUCE = tree),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 1024, cols = 2048)),
    work(flops = 8 * rows * cols, bytes = 8 * rows * cols),
    tolerance(relative = 1e-5),
    reference = reference::softmax,
)]
unsafe extern "C" {
    /// `y = softmax(x)` along each row of a row-major matrix of rows x cols.
    pub fn softmax(
        rows: u32,
        cols: u32,
        #[len(rows * cols)]
        #[fill(uniform(-4, 4))]
        #[align(VECTOR_WIDTH)]
        x: &[f32],
        #[len(rows * cols)]
        #[align(VECTOR_WIDTH)]
        y: &mut [f32],
    );
}
