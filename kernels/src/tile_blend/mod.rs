//! Blends overlapping tiles into one image. Each pixel gathers the tiles that cover it.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::tile_blend::tile_blend;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (channels_last, batch, channels, height, width, tile, overlap) = (0, 1, 1, 3, 5, 3, 1);
//! // Two tiles side by side, all ones: the seam between them cannot be seen.
//! let tiles = Buffer::from_slice(&stream, &[1.0_f32; 2 * 9])?;
//! let mut image = Buffer::zeros(&stream, 3 * 5)?;
//! tile_blend(&stream, channels_last, batch, channels, height, width, tile, overlap, &tiles, &mut image)?;
//! assert_eq!(image.to_vec(&stream)?, [1.0; 15]);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::tile_blend::KERNEL;

// Outputs are rounded once to f16, which has 11 significant bits. A separate test checks the precision of f32.
#[tuned_kernel(
    source = "tile_blend.cu",
    untuned = allow,
    types(T in [f32, f16]),
    params(
        THREADS_X in [8, 16, 32, 64, 128],
        THREADS_Y in [1, 2, 4, 8, 16],
        VECTOR_WIDTH in [1, 2, 4, 8],
        ROWS in [1, 2, 4],
        COPY in [false, true],
    ),
    where(
        THREADS_X * THREADS_Y >= device.warp_size,
        THREADS_X * THREADS_Y <= min(1024, device.max_threads_per_block),
    ),
    baseline(
        entry = "tile_blend_simple",
        grid(
            (width * (1 + min(channels_last, 1) * (channels - 1))).div_ceil(256),
            height,
            batch * (channels - min(channels_last, 1) * (channels - 1))
        ),
        block(256)
    ),
    try_first(
        (THREADS_X = 64, THREADS_Y = 1, VECTOR_WIDTH = 8, ROWS = 4, COPY = true),
        (THREADS_X = 128, THREADS_Y = 8, VECTOR_WIDTH = 8, ROWS = 4, COPY = true),
    ),
    grid(
        (width * (1 + min(channels_last, 1) * (channels - 1))).div_ceil(THREADS_X * VECTOR_WIDTH),
        height.div_ceil(THREADS_Y * ROWS),
        batch * (channels - min(channels_last, 1) * (channels - 1))
    ),
    block(THREADS_X, THREADS_Y),
    problems(
        (channels_last = 0, batch = 1, channels = 4, height = 512, width = 512, tile = 64, overlap = 8),
        (channels_last = 1, batch = 1, channels = 3, height = 1024, width = 1024, tile = 256, overlap = 32),
    ),
    gpu_problems(
        (channels_last = 0, batch = 1, channels = 3, height = 1152, width = 2048, tile = 512, overlap = 64),
        (channels_last = 1, batch = 1, channels = 3, height = 1152, width = 2048, tile = 512, overlap = 64),
    ),
    verify(
        (channels_last = 0, batch = 1, channels = 1, height = 1, width = 1, tile = 1, overlap = 0),
        (channels_last = 0, batch = 2, channels = 3, height = 37, width = 131, tile = 32, overlap = 8),
        (channels_last = 1, batch = 2, channels = 3, height = 67, width = 45, tile = 16, overlap = 5),
        // Some pixels are covered by three or more tiles.
        (channels_last = 1, batch = 1, channels = 4, height = 29, width = 64, tile = 9, overlap = 7),
        // The tile is larger than the image, and the overlap is wider than the image.
        (channels_last = 0, batch = 1, channels = 2, height = 40, width = 5, tile = 64, overlap = 24),
    ),
    work(
        flops = 2 * batch * channels * height * width,
        bytes = 2 * size_of(T) * batch * channels * height * width
    ),
    tolerance(relative = 1e-3),
    reference = reference::tile_blend,
)]
unsafe extern "C" {
    /// Computes `image`, the feathered blend of `tiles`: each pixel is a weighted mean of the tiles that cover it, and
    /// a tile's weight falls linearly across the overlap. Neighbouring tiles overlap by `overlap` pixels, which must be
    /// fewer than `tile`.
    ///
    /// Along each axis, tile `i` begins at pixel `i * (tile - overlap)`. There are exactly enough tiles to cover the
    /// image, and tile elements outside the image are ignored. If `channels_last` is 0, the image is `batch x
    /// channels x height x width` and the tiles are `batch x tiles_y x tiles_x x channels x tile x tile`. If it is 1,
    /// the channels are the last dimension of both.
    pub fn tile_blend(
        channels_last: u32,
        batch: u32,
        channels: u32,
        height: u32,
        width: u32,
        tile: u32,
        overlap: u32,
        #[len(
            batch * channels * tile * tile
                * (max(height, overlap + 1) - overlap).div_ceil(tile - overlap)
                * (max(width, overlap + 1) - overlap).div_ceil(tile - overlap)
        )]
        tiles: &[T],
        #[len(batch * channels * height * width)] image: &mut [T],
    );
}
