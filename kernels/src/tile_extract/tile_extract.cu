// Copies overlapping tiles from an image. Tile i of an axis begins at i * (tile - overlap). The part of the last tile
// beyond the image repeats the image's last row or column.
//
// Tunable parameters:
//   THREADS_X     threads of a block along a row of a tile
//   THREADS_Y     threads of a block along a column
//   VECTOR_WIDTH  elements that a thread moves at once
//   ROWS          rows that a thread copies, THREADS_Y apart
//   HINT          how tiles are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "kiln.cuh"

// One plane of one tile. A plane is one channel or, if the channels are the last dimension, all channels. Columns are
// counted in elements, and a pixel has `pixel` elements.
struct Source {
    const T* __restrict__ from;
    unsigned int height, width, pixel, first_row, first_col;

    __device__ __forceinline__ Source(unsigned int channels_last, unsigned int plane, unsigned int channels,
                                      unsigned int height, unsigned int width, unsigned int tile, unsigned int overlap,
                                      const T* __restrict__ image)
        : height(height), width(width), pixel(channels_last ? channels : 1)
    {
        const unsigned int tiles_x = kiln::div_ceil((width > overlap ? width : overlap + 1) - overlap, tile - overlap);
        const unsigned int tiles_y = kiln::div_ceil((height > overlap ? height : overlap + 1) - overlap, tile - overlap);
        const unsigned int planes = channels / pixel;
        const unsigned int number = plane / planes;
        from = image + ((size_t)(number / tiles_x / tiles_y) * planes + plane % planes) * height * width * pixel;
        first_row = number / tiles_x % tiles_y * (tile - overlap);
        first_col = number % tiles_x * (tile - overlap) * pixel;
    }

    __device__ __forceinline__ const T* row(unsigned int row) const
    {
        const unsigned int at = first_row + row < height ? first_row + row : height - 1;
        return from + (size_t)at * width * pixel;
    }

    // The element in column `col` of the tile. `row` is the row of the image that contains it.
    __device__ __forceinline__ T element(const T* row, unsigned int col) const
    {
        const unsigned int at = first_col + col;
        return row[at < width * pixel ? at : (width - 1) * pixel + at % pixel];
    }
};

extern "C" __global__ void __launch_bounds__(THREADS_X * THREADS_Y)
tile_extract(unsigned int channels_last, unsigned int batch, unsigned int channels, unsigned int height,
             unsigned int width, unsigned int tile, unsigned int overlap, const T* __restrict__ image,
             T* __restrict__ tiles)
{
    constexpr kiln::hint how = HINT == HINT_streaming ? kiln::hint::streaming : kiln::hint::plain;
    const Source source(channels_last, blockIdx.x, channels, height, width, tile, overlap, image);
    const unsigned int cols = tile * source.pixel;
    const unsigned int col = (blockIdx.y * THREADS_X + threadIdx.x) * VECTOR_WIDTH;
    if (col >= cols) {
        return;
    }
    const bool inside =
        col + VECTOR_WIDTH <= cols && source.first_col + col + VECTOR_WIDTH <= source.width * source.pixel;
#pragma unroll
    for (unsigned int i = 0; i < ROWS; ++i) {
        const unsigned int row = (blockIdx.z * ROWS + i) * THREADS_Y + threadIdx.y;
        if (row >= tile) {
            return;
        }
        const T* from = source.row(row);
        T* __restrict__ to = tiles + ((size_t)blockIdx.x * tile + row) * cols + col;
        if (inside) {
            kiln::store<how>(to, kiln::load<VECTOR_WIDTH>(from + source.first_col + col));
        } else {
            for (unsigned int j = 0; j < VECTOR_WIDTH && col + j < cols; ++j) {
                to[j] = source.element(from, col + j);
            }
        }
    }
}

// The simplest version: one thread per element.
extern "C" __global__ void __launch_bounds__(256)
tile_extract_simple(unsigned int channels_last, unsigned int batch, unsigned int channels, unsigned int height,
                    unsigned int width, unsigned int tile, unsigned int overlap, const T* __restrict__ image,
                    T* __restrict__ tiles)
{
    const Source source(channels_last, blockIdx.x, channels, height, width, tile, overlap, image);
    const unsigned int cols = tile * source.pixel;
    const unsigned int col = blockIdx.y * 256 + threadIdx.x;
    if (col < cols) {
        tiles[((size_t)blockIdx.x * tile + blockIdx.z) * cols + col] = source.element(source.row(blockIdx.z), col);
    }
}
