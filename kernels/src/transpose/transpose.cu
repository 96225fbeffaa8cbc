// y = x transposed: x is a row-major matrix of rows x cols elements of type T, y of cols x rows. A block moves a tile of
// TILE x TILE elements.
//
// Tunable parameters:
//   TILE          elements of a side of the tile, and threads of a row of the block
//   THREAD_ROWS   rows of threads of the block; each thread moves TILE / THREAD_ROWS elements
//   STAGING       STAGING_shared: through shared memory, so that reads and writes are of neighbouring elements;
//                 STAGING_none: reads along rows, writes along columns
//   PADDING       elements between the rows of the tile in shared memory, which keep columns apart in its banks

#include "kiln.cuh"

// The simplest version: one thread an element.
extern "C" __global__ void __launch_bounds__(256)
transpose_naive(unsigned int rows, unsigned int cols, const T* __restrict__ x, T* __restrict__ y)
{
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        y[(size_t)col * rows + row] = x[(size_t)row * cols + col];
    }
}

extern "C" __global__ void __launch_bounds__(TILE * THREAD_ROWS)
transpose(unsigned int rows, unsigned int cols, const T* __restrict__ x, T* __restrict__ y)
{
    static_assert(TILE % THREAD_ROWS == 0, "threads tile the tile");
    static_assert(TILE * THREAD_ROWS <= 1024, "a block has at most 1024 threads");
    const unsigned int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
#if STAGING == STAGING_shared
    __shared__ T tile[TILE][TILE + PADDING];
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + i, col = first_col + threadIdx.x;
        if (row < rows && col < cols) {
            tile[i][threadIdx.x] = x[(size_t)row * cols + col];
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + threadIdx.x, col = first_col + i;
        if (row < rows && col < cols) {
            y[(size_t)col * rows + row] = tile[threadIdx.x][i];
        }
    }
#else
    static_assert(PADDING == 0, "only shared memory is padded");
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + i, col = first_col + threadIdx.x;
        if (row < rows && col < cols) {
            y[(size_t)col * rows + row] = x[(size_t)row * cols + col];
        }
    }
#endif
}
