#pragma once
// The product of two tiles in shared memory, spread over the warps of a block: sum += a * b in floats, a of BLOCK_M x
// BLOCK_K and b of BLOCK_K x BLOCK_N elements of type T, both row-major.
//
// Tunable parameters:
//   BLOCK_M, BLOCK_N, BLOCK_K  the tiles
//   WARPS_M, WARPS_N           warps along the rows and columns of the product
//   TILES                      1: by tiles of 16 x 16, on tensor cores where there are any; 0: by fused multiply-adds
//   LANES_M                    lanes of a warp along the rows of the product, where TILES is 0

#include "kiln.cuh"

#define THREADS (32 * WARPS_M * WARPS_N)

// The part of the product that a warp holds.
#define WARP_M (BLOCK_M / WARPS_M)
#define WARP_N (BLOCK_N / WARPS_N)

// Elements of 16 bytes: what a copy moves, and what rows are padded with, so that they begin in other banks.
static __device__ constexpr int CHUNK = 16 / (int)sizeof(T);
static __device__ constexpr int LEADING_A = BLOCK_K + CHUNK;
static __device__ constexpr int LEADING_B = BLOCK_N + CHUNK;

static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0, "warps tile the block");
static_assert(BLOCK_M * BLOCK_N <= 128 * THREADS, "a thread's sums fit into registers");
static_assert(TILES == 0 || LANES_M == 4, "tiles have lanes of their own");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");

#if TILES

// This thread's elements of the product, as tiles hold them.
struct Product {
    static constexpr int ROWS = WARP_M / 16, COLS = WARP_N / 16;
    kiln::tile_acc sum[ROWS][COLS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                kiln::tile_fill(sum[row][col], 0.0f);
            }
        }
    }

    __device__ __forceinline__ static int first_row() { return (int)(kiln::warp() / WARPS_N) * WARP_M; }
    __device__ __forceinline__ static int first_col() { return (int)(kiln::warp() % WARPS_N) * WARP_N; }

    __device__ __forceinline__ void add(const T* a, const T* b)
    {
#pragma unroll
        for (int k = 0; k < BLOCK_K; k += 16) {
            kiln::tile_b<T> right[COLS];
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                const T* from = b + k * LEADING_B + first_col() + col * 16;
                kiln::tile_load_shared<kiln::layout::row_major>(right[col], from, LEADING_B);
            }
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                kiln::tile_a<T> left;
                const T* from = a + (first_row() + row * 16) * LEADING_A + k;
                kiln::tile_load_shared<kiln::layout::row_major>(left, from, LEADING_A);
#pragma unroll
                for (int col = 0; col < COLS; ++col) {
                    kiln::mma(sum[row][col], left, right[col]);
                }
            }
        }
    }

    // Calls `body(row, col, value)` for each element that this thread holds, by its place in the block's product.
    template <class Body> __device__ __forceinline__ void for_each(Body body) const
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
#pragma unroll
                for (int i = 0; i < kiln::tile_acc::elements; ++i) {
                    body(first_row() + row * 16 + kiln::tile_acc::row(i), first_col() + col * 16 + kiln::tile_acc::col(i),
                         sum[row][col].value[i]);
                }
            }
        }
    }
};

#else

// This thread's elements of the product: a micro-tile of neighbouring ones.
struct Product {
    static constexpr int LANES_N = 32 / LANES_M;
    static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;
    float sum[ROWS][COLS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                sum[row][col] = 0.0f;
            }
        }
    }

    __device__ __forceinline__ static int first_row()
    {
        return (int)(kiln::warp() / WARPS_N) * WARP_M + (int)(kiln::lane() / LANES_N) * ROWS;
    }
    __device__ __forceinline__ static int first_col()
    {
        return (int)(kiln::warp() % WARPS_N) * WARP_N + (int)(kiln::lane() % LANES_N) * COLS;
    }

    __device__ __forceinline__ void add(const T* a, const T* b)
    {
        const T* left = a + first_row() * LEADING_A;
        const T* right = b + first_col();
#pragma unroll 4
        for (int k = 0; k < BLOCK_K; ++k) {
            float column[ROWS], row_of_b[COLS];
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                column[row] = kiln::to_float(left[row * LEADING_A + k]);
            }
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                row_of_b[col] = kiln::to_float(right[k * LEADING_B + col]);
            }
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
#pragma unroll
                for (int col = 0; col < COLS; ++col) {
                    sum[row][col] += column[row] * row_of_b[col];
                }
            }
        }
    }

    // Calls `body(row, col, value)` for each element that this thread holds, by its place in the block's product.
    template <class Body> __device__ __forceinline__ void for_each(Body body) const
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                body(first_row() + row, first_col() + col, sum[row][col]);
            }
        }
    }
};

#endif
