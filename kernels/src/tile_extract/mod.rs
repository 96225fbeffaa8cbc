//! Copies overlapping tiles from an image, the inverse of [`tile_blend`](mod@crate::tile_blend).
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::tile_extract::tile_extract;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (channels_last, batch, channels, height, width, tile, overlap) = (0, 1, 1, 1, 5, 3, 1);
//! let image = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0])?;
//! let mut tiles = Buffer::zeros(&stream, 2 * 9)?;
//! tile_extract(&stream, channels_last, batch, channels, height, width, tile, overlap, &image, &mut tiles)?;
//! let tiles = tiles.to_vec(&stream)?;
//! assert_eq!((&tiles[..3], &tiles[9..12]), (&[1.0, 2.0, 3.0][..], &[3.0, 4.0, 5.0][..]));
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::tile_extract::KERNEL;

// Elements are copied unchanged, so the comparison is exact.
#[tuned_kernel(
    source = "tile_extract.cu",
    untuned = allow,
    types(T in [f32, f16]),
    params(
        THREADS_X in [8, 16, 32, 64, 128],
        THREADS_Y in [1, 2, 4, 8, 16],
        VECTOR_WIDTH in [1, 2, 4, 8],
        ROWS in [1, 2, 4],
        HINT in [plain, streaming],
    ),
    where(
        THREADS_X * THREADS_Y >= device.warp_size,
        THREADS_X * THREADS_Y <= min(1024, device.max_threads_per_block),
    ),
    baseline(
        entry = "tile_extract_simple",
        grid(
            batch * (channels - min(channels_last, 1) * (channels - 1))
                * (max(height, overlap + 1) - overlap).div_ceil(tile - overlap)
                * (max(width, overlap + 1) - overlap).div_ceil(tile - overlap),
            (tile * (1 + min(channels_last, 1) * (channels - 1))).div_ceil(256),
            tile
        ),
        block(256)
    ),
    try_first(
        (THREADS_X = 8, THREADS_Y = 16, VECTOR_WIDTH = 8, ROWS = 4, HINT = plain),
        (THREADS_X = 128, THREADS_Y = 1, VECTOR_WIDTH = 8, ROWS = 1, HINT = plain),
    ),
    grid(
        batch * (channels - min(channels_last, 1) * (channels - 1))
            * (max(height, overlap + 1) - overlap).div_ceil(tile - overlap)
            * (max(width, overlap + 1) - overlap).div_ceil(tile - overlap),
        (tile * (1 + min(channels_last, 1) * (channels - 1))).div_ceil(THREADS_X * VECTOR_WIDTH),
        tile.div_ceil(THREADS_Y * ROWS)
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
        (channels_last = 1, batch = 1, channels = 4, height = 29, width = 64, tile = 9, overlap = 7),
        (channels_last = 0, batch = 1, channels = 2, height = 40, width = 5, tile = 64, overlap = 24),
    ),
    work(
        flops = batch * channels * height * width,
        bytes = 2 * size_of(T) * batch * channels * height * width
    ),
    tolerance(relative = 0),
    reference = reference::tile_extract,
)]
unsafe extern "C" {
    /// Copies the tiles of `image` into `tiles`. Neighbouring tiles overlap by `overlap` pixels, which must be fewer
    /// than `tile`.
    ///
    /// Along each axis, tile `i` begins at pixel `i * (tile - overlap)`. There are exactly enough tiles to cover the
    /// image, and tile elements outside the image replicate the nearest pixel of the image. If `channels_last` is 0,
    /// the image is `batch x channels x height x width` and the tiles are
    /// `batch x tiles_y x tiles_x x channels x tile x tile`. If it is 1, the channels are the last dimension of both.
    pub fn tile_extract(
        channels_last: u32,
        batch: u32,
        channels: u32,
        height: u32,
        width: u32,
        tile: u32,
        overlap: u32,
        #[len(batch * channels * height * width)] image: &[T],
        #[len(
            batch * channels * tile * tile
                * (max(height, overlap + 1) - overlap).div_ceil(tile - overlap)
                * (max(width, overlap + 1) - overlap).div_ceil(tile - overlap)
        )]
        tiles: &mut [T],
    );
}
