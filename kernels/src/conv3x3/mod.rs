//! Convolution with 3 x 3 filters on images whose channels come last, computed as an implicit matrix product.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::conv3x3::conv3x3;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (images, height, width, channels, filters) = (1, 2, 2, 1, 1);
//! let x = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let weight = Buffer::from_slice(&stream, &[1.0_f32; 9])?;
//! let mut y = Buffer::zeros(&stream, 4)?;
//! conv3x3(&stream, images, height, width, channels, filters, &x, &weight, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [10.0; 4]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::conv3x3::KERNEL;

// Outputs are sums of 9 times `channels` products of numbers in [-1, 1) in any order. Tensor cores truncate sums, while
// float additions round, so tensor cores have larger errors.
#[tuned_kernel(
    source = "conv3x3.cu",
    untuned = allow,
    types(T in [f32, f16]),
    params(
        BLOCK_M in [16, 32, 64, 128],
        BLOCK_N in [16, 32, 64, 128],
        BLOCK_K in [16, 32, 64],
        WARPS_M in [1, 2, 4],
        WARPS_N in [1, 2, 4],
        STAGES in [1, 2, 3],
        TILES in [0, 1],
        LANES_M in [2, 4, 8],
        WALK in [0, 4, 8],
    ),
    where(
        // Let one thread do the work of a block only on processors that run the threads of a block one after another.
        WALK == 0 || device.lockstep_threads == 1,
        WALK == 0 || WARPS_M == 1 && WARPS_N == 1 && STAGES == 1 && TILES == 0 && LANES_M == 4,
        WALK == 0 || BLOCK_K >= 32 && BLOCK_M >= 32 && BLOCK_N * WALK % 256 == 0,
        WALK > 0 || BLOCK_K <= 32,
        BLOCK_M % (16 * WARPS_M) == 0,
        BLOCK_N % (16 * WARPS_N) == 0,
        // Limit the registers that hold the sums of a thread.
        WALK > 0 || BLOCK_M * BLOCK_N <= 128 * 32 * WARPS_M * WARPS_N,
        TILES == 0 || T == f16,
        TILES == 0 || LANES_M == 4,
        32 * WARPS_M * WARPS_N <= device.max_threads_per_block,
        WALK > 0 || STAGES * (BLOCK_M * (BLOCK_K + 16 / size_of(T)) + BLOCK_K * (BLOCK_N + 16 / size_of(T))) * size_of(T)
            <= device.shared_bytes_per_block,
    ),
    baseline(entry = "conv3x3_naive", grid((images * height * width * filters).div_ceil(256)), block(256)),
    try_first(
        (BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 64, WARPS_M = 1, WARPS_N = 1, STAGES = 1, TILES = 0, LANES_M = 4, WALK = 8),
        (BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32, WARPS_M = 2, WARPS_N = 2, STAGES = 2, TILES = 1, LANES_M = 4, WALK = 0),
        (BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32, WARPS_M = 2, WARPS_N = 2, STAGES = 1, TILES = 0, LANES_M = 4, WALK = 0),
    ),
    grid((images * height * width).div_ceil(BLOCK_M), filters.div_ceil(BLOCK_N)),
    block(max(1, (1 - WALK) * 32 * WARPS_M * WARPS_N)),
    shared(max(0, 1 - WALK) * STAGES * (BLOCK_M * (BLOCK_K + 16 / size_of(T)) + BLOCK_K * (BLOCK_N + 16 / size_of(T))) * size_of(T)),
    problems((images = 1, height = 64, width = 64, channels = 64, filters = 64)),
    gpu_problems((images = 8, height = 128, width = 128, channels = 128, filters = 128)),
    verify(
        (images = 1, height = 1, width = 1, channels = 1, filters = 1),
        (images = 2, height = 5, width = 7, channels = 12, filters = 20),
        (images = 1, height = 9, width = 8, channels = 40, filters = 72),
        (images = 3, height = 6, width = 11, channels = 16, filters = 8),
    ),
    work(
        flops = 18 * images * height * width * channels * filters,
        bytes = size_of(T) * (images * height * width * (channels + filters) + 9 * channels * filters),
    ),
    tolerance(relative = 2e-5),
    reference = reference::conv3x3,
)]
unsafe extern "C" {
    /// Convolves `x` with `weight`. `x` is images x height x width x channels, `weight` is 3 x 3 x channels x filters,
    /// and `y` is images x height x width x filters. Pixels outside an image are zero.
    pub fn conv3x3(
        images: u32,
        height: u32,
        width: u32,
        channels: u32,
        filters: u32,
        #[len(images * height * width * channels)]
        #[align(8)]
        x: &[T],
        #[len(9 * channels * filters)]
        #[align(8)]
        weight: &[T],
        #[len(images * height * width * filters)] y: &mut [T],
    );
}
