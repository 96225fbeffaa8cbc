#pragma once
// Keys and values of BLOCK_K positions in shared memory: as halves for by_tiles.cuh, as floats for by_threads.cuh.

#include "kiln.cuh"

#define THREADS (LANES * WARPS)

// Copies BLOCK_K rows of HEAD_DIM elements from position `first` on; rows from `seq` on are zero.
template <int LEADING>
static __device__ __forceinline__ void copy_rows(__half* to, const __half* from, unsigned int first, unsigned int seq)
{
    constexpr int ACROSS = HEAD_DIM / VECTOR_WIDTH, PIECES = BLOCK_K * ACROSS, TURNS = (PIECES + THREADS - 1) / THREADS;
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
        const int i = turn * THREADS + (int)threadIdx.x;
        if (PIECES % THREADS == 0 || i < PIECES) {
            const int row = i / ACROSS, col = i % ACROSS * VECTOR_WIDTH;
            kiln::copy_async_or_zero<VECTOR_WIDTH>(to + row * LEADING + col, from + (size_t)(first + row) * HEAD_DIM + col,
                                                   first + row < seq);
        }
    }
}

// Like copy_rows, but converts the elements to floats, and has copied them when it returns.
static __device__ __forceinline__ void widen_rows(float* to, const __half* from, unsigned int first, unsigned int seq)
{
#pragma unroll
    for (int i = threadIdx.x; i < BLOCK_K * HEAD_DIM / VECTOR_WIDTH; i += THREADS) {
        const int row = i / (HEAD_DIM / VECTOR_WIDTH), col = i % (HEAD_DIM / VECTOR_WIDTH) * VECTOR_WIDTH;
        kiln::vec<float, VECTOR_WIDTH> elements = kiln::splat<VECTOR_WIDTH>(0.0f);
        if (first + row < seq) {
            elements = kiln::to_float(
                kiln::load_aligned<VECTOR_WIDTH>(from + (size_t)(first + row) * HEAD_DIM + col));
        }
        kiln::store_aligned(to + row * HEAD_DIM + col, elements);
    }
}

// The number of keys that the queries below `end` may attend to.
static __device__ __forceinline__ unsigned int keys_of(unsigned int end, unsigned int seq, unsigned int causal)
{
    return causal == 2 && end < seq ? end : seq;
}
