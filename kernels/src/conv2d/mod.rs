//! Convolution of one image with a 15 x 15 filter. The tunable parameters are those of the convolution kernel of Kernel
//! Tuner, whose recorded search spaces can therefore be compared.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::conv2d::conv2d;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (height, width) = (2, 3);
//! // The image has a border of 7 pixels around the pixels that are computed.
//! let mut image = vec![0.0_f32; (2 + 14) * (3 + 14)];
//! image[7 * 17 + 7] = 5.0;
//! let mut filter = [0.0_f32; 225];
//! filter[7 * 15 + 7] = 2.0;
//! let (x, filter) = (Buffer::from_slice(&stream, &image)?, Buffer::from_slice(&stream, &filter)?);
//! let mut y = Buffer::zeros(&stream, 6)?;
//! conv2d(&stream, height, width, &x, &filter, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [10.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::conv2d::KERNEL;

// Outputs are sums of 225 products of numbers in [-1, 1) in any order, with a magnitude of about 5. For an image of one
// pixel, the only sum may be near 0 although its addends are not, so its rounding error may be large relative to the
// sum. `absolute` allows for that.
#[tuned_kernel(
    source = "conv2d.cu",
    untuned = allow,
    params(
        block_size_x in [1, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256],
        block_size_y in [1, 2, 4, 8, 16],
        tile_size_x in [1, 2, 3, 4, 16, 32, 64],
        tile_size_y in [1, 2, 3, 4, 8],
        read_only in [0, 1],
        use_padding in [0, 1],
        use_shmem in [0, 1],
        filter_height in [15],
        filter_width in [15],
    ),
    where(
        block_size_x * block_size_y <= min(1024, device.max_threads_per_block),
        block_size_x == 1 || block_size_x * block_size_y >= device.warp_size,
        // Use a block of one thread only on processors that run the threads of a block one after another, where the
        // thread works on whole vector registers.
        block_size_x > 1 || device.lockstep_threads == 1,
        block_size_x > 1 || block_size_y == 1,
        block_size_x > 1 || use_shmem == 1,
        block_size_x > 1 || use_padding == 0,
        block_size_x > 1 || tile_size_x >= 16,
        block_size_x == 1 || tile_size_x <= 4,
        block_size_x == 1 || tile_size_y <= 4,
        use_padding == 0 || use_shmem != 0,
        read_only == 0 || use_shmem == 0,
        use_shmem * (block_size_x * tile_size_x + filter_width - 1 + use_padding)
            * (block_size_y * tile_size_y + filter_height - 1) * 4 <= device.shared_bytes_per_block,
    ),
    baseline(entry = "conv2d_naive", grid(width.div_ceil(16), height.div_ceil(16)), block(16, 16)),
    try_first(
        (block_size_x = 1, block_size_y = 1, tile_size_x = 32, tile_size_y = 8, read_only = 0, use_padding = 0, use_shmem = 1, filter_height = 15, filter_width = 15),
        (block_size_x = 32, block_size_y = 4, tile_size_x = 4, tile_size_y = 2, read_only = 0, use_padding = 0, use_shmem = 1, filter_height = 15, filter_width = 15),
    ),
    grid(width.div_ceil(block_size_x * tile_size_x), height.div_ceil(block_size_y * tile_size_y)),
    block(block_size_x, block_size_y),
    shared(
        use_shmem * (block_size_x * tile_size_x + filter_width - 1 + use_padding)
            * (block_size_y * tile_size_y + filter_height - 1) * 4
    ),
    problems((height = 512, width = 512)),
    gpu_problems((height = 4096, width = 4096)),
    verify(
        (height = 1, width = 1), (height = 33, width = 47), (height = 64, width = 257), (height = 17, width = 1024),
    ),
    work(
        flops = 450 * height * width,
        bytes = 4 * (height * width + (height + 14) * (width + 14) + 225),
    ),
    tolerance(relative = 1e-5, absolute = 1e-5),
    reference = reference::conv2d,
)]
unsafe extern "C" {
    /// Computes `y`, which is height x width. Its element `y[r][c]` is the sum over i, j of
    /// `filter[i][j] * x[r + i][c + j]`. `filter` is 15 x 15, and `x` is (height + 14) x (width + 14), all row-major.
    pub fn conv2d(
        height: u32,
        width: u32,
        #[len((height + 14) * (width + 14))] x: &[f32],
        #[len(225)] filter: &[f32],
        #[len(height * width)] y: &mut [f32],
    );
}
