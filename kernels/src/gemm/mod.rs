//! Matrix product in single precision. Tiles are in shared memory, and each thread computes a micro-tile.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::gemm::gemm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let a = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let b = Buffer::from_slice(&stream, &[0.0_f32, 1.0, 1.0, 0.0])?;
//! let mut c = Buffer::zeros(&stream, 4)?;
//! gemm(&stream, 2, 2, 2, &a, &b, &mut c)?;
//! assert_eq!(c.to_vec(&stream)?, [2.0, 1.0, 4.0, 3.0]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::gemm::KERNEL;

// Sums of k products of numbers in [-1, 1) have a rounding error of about sqrt(k) * 2^-24 of the output's root mean
// square, in any order of addition: 2e-6 at k = 1024.
#[tuned_kernel(
    source = "gemm.cu",
    untuned = allow,
    params(
        BLOCK_M in [16, 32, 64, 96, 128, 192],
        BLOCK_N in [16, 32, 64, 128],
        BLOCK_K in [8, 16, 32, 128, 256],
        THREAD_M in [1, 2, 4, 8, 12],
        THREAD_N in [1, 4, 8, 16, 32, 64],
        VECTOR_WIDTH in [1, 2, 4],
        UNROLL in [1, 4],
        WALK in [0, 1],
    ),
    where(
        // Let one thread do the work of a block only on processors that run the threads of a block one after another.
        WALK == 0 || device.lockstep_threads == 1,
        WALK == 0 || VECTOR_WIDTH == 1 && BLOCK_K >= 128 && THREAD_N >= 16,
        // Limit the registers that hold the sums of a thread. A register holds one float on a GPU, and 64 bytes on
        // processors that run the threads of a block one after another.
        WALK == 0 || THREAD_M * THREAD_N <= 384,
        WALK == 1 || BLOCK_K <= 32 && THREAD_N <= 16,
        BLOCK_M % THREAD_M == 0,
        BLOCK_N % THREAD_N == 0,
        BLOCK_K % VECTOR_WIDTH == 0,
        THREAD_N % VECTOR_WIDTH == 0,
        WALK == 1 || BLOCK_M <= 128 && BLOCK_M != 96,
        WALK == 1 || BLOCK_M / THREAD_M * (BLOCK_N / THREAD_N) >= device.warp_size,
        WALK == 1 || BLOCK_M / THREAD_M * (BLOCK_N / THREAD_N) <= min(1024, device.max_threads_per_block),
        ((1 - WALK) * (BLOCK_M + 4) + BLOCK_N) * BLOCK_K * 4 <= min(49152, device.shared_bytes_per_block),
    ),
    baseline(entry = "gemm_naive", grid(n.div_ceil(16), m.div_ceil(16)), block(16, 16)),
    try_first(
        (BLOCK_M = 192, BLOCK_N = 32, BLOCK_K = 256, THREAD_M = 12, THREAD_N = 32, VECTOR_WIDTH = 1, UNROLL = 1, WALK = 1),
        (BLOCK_M = 128, BLOCK_N = 64, BLOCK_K = 128, THREAD_M = 4, THREAD_N = 64, VECTOR_WIDTH = 1, UNROLL = 1, WALK = 1),
        (BLOCK_M = 128, BLOCK_N = 64, BLOCK_K = 128, THREAD_M = 1, THREAD_N = 64, VECTOR_WIDTH = 1, UNROLL = 4, WALK = 1),
        (BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 16, THREAD_M = 8, THREAD_N = 8, VECTOR_WIDTH = 4, UNROLL = 1, WALK = 0),
    ),
    grid(n.div_ceil(BLOCK_N), m.div_ceil(BLOCK_M)),
    block(max(1, (1 - WALK) * (BLOCK_M / THREAD_M * (BLOCK_N / THREAD_N)))),
    problems(
        (m = 512, n = 512, k = 512), (m = 1024, n = 1024, k = 1024), (m = 64, n = 64, k = 64), (m = 1, n = 1024, k = 1024),
        (m = 8, n = 1024, k = 1024), (m = 16, n = 1024, k = 1024),
    ),
    gpu_problems(
        (m = 4096, n = 4096, k = 4096), (m = 2048, n = 2048, k = 2048), (m = 1, n = 4096, k = 4096), (m = 8, n = 4096, k = 4096),
        (m = 16, n = 4096, k = 4096),
    ),
    work(flops = 2 * m * n * k, bytes = 4 * (m * k + k * n + m * n)),
    tolerance(relative = 1e-5),
    reference = reference::gemm,
)]
unsafe extern "C" {
    /// Computes `c = a * b`. `a` is m x k, `b` is k x n and `c` is m x n, all row-major.
    pub fn gemm(
        m: u32,
        n: u32,
        k: u32,
        #[len(m * k)]
        #[align(VECTOR_WIDTH)]
        a: &[f32],
        #[len(k * n)]
        #[align(VECTOR_WIDTH)]
        b: &[f32],
        #[len(m * n)]
        #[align(VECTOR_WIDTH)]
        c: &mut [f32],
    );
}
