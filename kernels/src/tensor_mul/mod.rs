//! Product of two tensors, element by element. Its speed is limited by memory bandwidth only.
//!
//! ```
//! use kiln::{Buffer, Device, f16};
//! use kiln_kernels::tensor_mul::tensor_mul;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let numbers = [1.5, 2.0, -3.0].map(f16::from_f32);
//! let a = Buffer::from_slice(&stream, &numbers)?;
//! let mut squares = Buffer::zeros(&stream, 3)?;
//! tensor_mul(&stream, 3, &a, &a, &mut squares)?;
//! assert_eq!(squares.to_vec(&stream)?, [2.25, 4.0, 9.0].map(f16::from_f32));
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::tensor_mul::KERNEL;

// The result is rounded only once. The comparison itself allows for the rounding to f16 and bf16.
#[tuned_kernel(
    source = "tensor_mul.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        VECTOR_WIDTH in [1, 2, 4, 8],
        THREADS in [64, 128, 256, 512, 1024],
        ITEMS in [1, 2, 4],
        HINT in [plain, streaming],
    ),
    where(
        VECTOR_WIDTH * size_of(T) <= 16,
        THREADS <= device.max_threads_per_block,
    ),
    baseline(VECTOR_WIDTH = 1, THREADS = 256, ITEMS = 1, HINT = plain),
    try_first(
        (VECTOR_WIDTH = 4, THREADS = 256, ITEMS = 1, HINT = plain),
        (VECTOR_WIDTH = 4, THREADS = 256, ITEMS = 4, HINT = streaming),
        (VECTOR_WIDTH = 2, THREADS = 512, ITEMS = 2, HINT = plain),
    ),
    grid(n.div_ceil(VECTOR_WIDTH * THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1048576), (T = f32, n = 1000003)),
    gpu_problems((n = 33554432)),
    work(flops = n, bytes = 3 * size_of(T) * n),
    tolerance(relative = 1e-6),
    reference = reference::tensor_mul,
)]
unsafe extern "C" {
    /// Computes `c = a * b` over n elements.
    pub fn tensor_mul(
        n: u32,
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        a: &[T],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        b: &[T],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        c: &mut [T],
    );
}
