#pragma once
// A sum of products of tiles that come from global memory, through STAGES pairs of tiles in dynamic shared memory: while
// one pair is multiplied, the next ones are copied.
//
// Tunable parameters, besides those of block_product.cuh:
//   STAGES  pairs of tiles in shared memory: STAGES * (BLOCK_M * (BLOCK_K + CHUNK) + BLOCK_K * (BLOCK_N + CHUNK)) elements

#include "block_product.cuh"

// Neighbouring elements in global memory: the first `count` of them are there, the others are zero.
struct Piece {
    const T* from;
    unsigned int count;
};

// Begins to copy a tile of ROWS x COLS elements, of which `piece(row, col)` gives CHUNK at a time. `whole` says that each
// piece is there or is not, and that it is aligned to 16 bytes; it is the same for all threads.
//
// A step of the product spends its instructions here unless every turn's place is known at compile time: the number of
// turns is a constant, and the path of single elements is a loop of its own that is not unrolled.
template <int ROWS, int COLS, int LEADING, class Pieces>
static __device__ __forceinline__ void fetch_tile(T* to, Pieces piece, bool whole)
{
    constexpr int ACROSS = COLS / CHUNK, DOWN = THREADS / ACROSS, TURNS = (ROWS + DOWN - 1) / DOWN;
    static_assert(THREADS % ACROSS == 0, "threads copy whole rows of pieces");
    const int first_row = (int)threadIdx.x / ACROSS, col = (int)threadIdx.x % ACROSS * CHUNK;
    if (whole) {
#pragma unroll
        for (int turn = 0; turn < TURNS; ++turn) {
            const int row = first_row + turn * DOWN;
            if (ROWS % DOWN == 0 || row < ROWS) {
                const Piece from = piece(row, col);
                kiln::copy_async_or_zero<CHUNK>(to + row * LEADING + col, from.from, from.count > 0);
            }
        }
        return;
    }
#pragma unroll 1
    for (int row = first_row; row < ROWS; row += DOWN) {
        const Piece from = piece(row, col);
#pragma unroll 1
        for (int i = 0; i < CHUNK; ++i) {
            to[row * LEADING + col + i] = (unsigned int)i < from.count ? from.from[i] : kiln::from_float<T>(0.0f);
        }
    }
}

// The sum over `steps` of the products of the tiles that `a(step, row, col)` and `b(step, row, col)` say piece by piece, for
// a col that is a multiple of CHUNK.
template <class A, class B>
static __device__ __forceinline__ Product sum_of_products(unsigned int steps, A a, bool whole_a, B b, bool whole_b)
{
    T* const a_tiles = kiln::dynamic_shared<T>();
    T* const b_tiles = a_tiles + STAGES * BLOCK_M * LEADING_A;
    const auto fetch = [&](unsigned int step) {
        T* const to_a = a_tiles + step % STAGES * (BLOCK_M * LEADING_A);
        T* const to_b = b_tiles + step % STAGES * (BLOCK_K * LEADING_B);
        fetch_tile<BLOCK_M, BLOCK_K, LEADING_A>(to_a, [&](int row, int col) { return a(step, row, col); }, whole_a);
        fetch_tile<BLOCK_K, BLOCK_N, LEADING_B>(to_b, [&](int row, int col) { return b(step, row, col); }, whole_b);
    };

    Product product;
    product.clear();
    for (unsigned int step = 0; step + 1 < STAGES; ++step) {
        if (step < steps) {
            fetch(step);
        }
        kiln::copy_commit();
    }
    for (unsigned int step = 0; step < steps; ++step) {
#if STAGES == 1
        fetch(step);
        kiln::copy_commit();
        kiln::copy_wait<0>();
        __syncthreads();
#else
        kiln::copy_wait<STAGES - 2>();
        // All have multiplied the pair of the last step: the next one may take its place.
        __syncthreads();
        if (step + STAGES - 1 < steps) {
            fetch(step + STAGES - 1);
        }
        kiln::copy_commit();
#endif
        product.add(a_tiles + step % STAGES * (BLOCK_M * LEADING_A), b_tiles + step % STAGES * (BLOCK_K * LEADING_B));
#if STAGES == 1
        __syncthreads();
#endif
    }
    return product;
}
