//! Matrix product of 16-bit floats, accumulated in single precision. It uses tensor cores if the GPU has them.
//!
//! ```
//! use kiln::{Buffer, Device, bf16};
//! use kiln_kernels::gemm_f16::gemm_f16;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (m, n, k) = (1, 3, 2);
//! let a = Buffer::from_slice(&stream, &[2.0, 3.0].map(bf16::from_f32))?;
//! let b = Buffer::from_slice(&stream, &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0].map(bf16::from_f32))?;
//! let mut c = Buffer::zeros(&stream, 3)?;
//! gemm_f16(&stream, m, n, k, &a, &b, &mut c)?;
//! assert_eq!(c.to_vec(&stream)?, [2.0, 3.0, 5.0].map(bf16::from_f32));
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::gemm_f16::KERNEL;

// Products are exact. Sums of k of them have a rounding error of about sqrt(k) * 2^-24 of the output's root mean
// square. Tensor cores truncate sums, while float additions round, so tensor cores have larger errors.
#[tuned_kernel(
    source = "gemm_f16.cu",
    untuned = allow,
    types(T in [f16, bf16]),
    params(
        BLOCK_M in [16, 32, 64, 128, 256],
        BLOCK_N in [16, 32, 64, 128, 256],
        BLOCK_K in [16, 32, 64],
        WARPS_M in [1, 2, 4, 8],
        WARPS_N in [1, 2, 4],
        STAGES in [1, 2, 3, 4],
        TILES in [0, 1, 2],
        LANES_M in [2, 4, 8],
        GROUP_M in [1, 4, 8],
    ),
    where(
        BLOCK_M % (16 * WARPS_M) == 0,
        BLOCK_N % (16 * WARPS_N) == 0,
        // Limit the registers that hold the sums of a thread.
        BLOCK_M * BLOCK_N <= 128 * 32 * WARPS_M * WARPS_N,
        TILES == 0 || LANES_M == 4,
        // `TILES = 2` multiplies with warpgroups, which only some GPUs have. The four warps of a warpgroup lie along m.
        TILES != 2 || device.warps_per_product == 4,
        TILES != 2 || WARPS_M % 4 == 0,
        TILES == 2 || WARPS_M <= 4,
        32 * WARPS_M * WARPS_N <= device.max_threads_per_block,
        // Rows are padded by 8 elements, except those that warpgroups read, which are swizzled instead.
        STAGES * (BLOCK_M * (BLOCK_K + 8 - TILES / 2 * 8) + BLOCK_K * (BLOCK_N + 8 - TILES / 2 * 8)) * size_of(T)
            <= device.shared_bytes_per_block,
    ),
    baseline(entry = "gemm_f16_naive", grid(n.div_ceil(16), m.div_ceil(16)), block(16, 16)),
    try_first(
        (BLOCK_M = 64, BLOCK_N = 256, BLOCK_K = 64, WARPS_M = 4, WARPS_N = 1, STAGES = 1, TILES = 0, LANES_M = 2, GROUP_M = 8),
        (BLOCK_M = 16, BLOCK_N = 256, BLOCK_K = 32, WARPS_M = 1, WARPS_N = 1, STAGES = 1, TILES = 0, LANES_M = 4, GROUP_M = 8),
        (BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 32, WARPS_M = 2, WARPS_N = 4, STAGES = 2, TILES = 1, LANES_M = 4, GROUP_M = 8),
        (BLOCK_M = 128, BLOCK_N = 256, BLOCK_K = 64, WARPS_M = 8, WARPS_N = 1, STAGES = 4, TILES = 2, LANES_M = 4, GROUP_M = 8),
        (BLOCK_M = 128, BLOCK_N = 128, BLOCK_K = 64, WARPS_M = 8, WARPS_N = 1, STAGES = 4, TILES = 2, LANES_M = 4, GROUP_M = 8),
    ),
    grid(m.div_ceil(BLOCK_M) * n.div_ceil(BLOCK_N)),
    block(32 * WARPS_M * WARPS_N),
    shared(STAGES * (BLOCK_M * (BLOCK_K + 8 - TILES / 2 * 8) + BLOCK_K * (BLOCK_N + 8 - TILES / 2 * 8)) * size_of(T)),
    problems((m = 512, n = 512, k = 512), (T = f16, m = 16, n = 1024, k = 1024)),
    gpu_problems(
        (m = 4096, n = 4096, k = 4096), (T = f16, m = 2048, n = 2048, k = 2048), (T = f16, m = 1024, n = 1024, k = 1024),
        (T = f16, m = 64, n = 64, k = 64), (T = f16, m = 1, n = 4096, k = 4096), (T = f16, m = 8, n = 4096, k = 4096),
        (T = f16, m = 16, n = 4096, k = 4096),
    ),
    verify(
        (m = 1, n = 1, k = 1), (m = 17, n = 33, k = 40), (m = 70, n = 90, k = 72), (m = 130, n = 264, k = 136),
        (m = 16, n = 256, k = 33),
    ),
    work(flops = 2 * m * n * k, bytes = size_of(T) * (m * k + k * n + m * n)),
    tolerance(relative = 2e-5),
    reference = reference::gemm_f16,
)]
unsafe extern "C" {
    /// Computes `c = a * b`. `a` is m x k, `b` is k x n and `c` is m x n, all row-major.
    pub fn gemm_f16(
        m: u32,
        n: u32,
        k: u32,
        #[len(m * k)]
        #[align(8)]
        a: &[T],
        #[len(k * n)]
        #[align(8)]
        b: &[T],
        #[len(m * n)] c: &mut [T],
    );
}
