//! Sum of two tensors: bound by memory alone.

pub mod reference;

use kiln::tuned_kernel;

// One addition, rounded once.
#[tuned_kernel(
    source = "tensor_add.cu",
    params(
        VECTOR_WIDTH in [1, 2, 4],
        THREADS in [64, 128, 256, 512, 1024],
        ITEMS in [1, 2, 4],
    ),
    where(
        THREADS <= device.max_threads_per_block,
    ),
    baseline(VECTOR_WIDTH = 1, THREADS = 256, ITEMS = 1),
    grid(n.div_ceil(VECTOR_WIDTH * THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1048576), (n = 1000003)),
    work(flops = n, bytes = 12 * n),
    tolerance(relative = 1e-6),
    reference = reference::tensor_add,
)]
unsafe extern "C" {
    /// `c = a + b` over n elements.
    pub fn tensor_add(
        n: u32,
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        a: &[f32],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        b: &[f32],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        c: &mut [f32],
    );
}
