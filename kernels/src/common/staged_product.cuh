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

// Begins to copy CHUNK elements. In whole pieces all of them are there or none, and `from` is aligned to 16 bytes.
static __device__ __forceinline__ void stage(T* to, Piece piece, const T* any, bool whole)
{
    if (whole) {
        kiln::copy_async_or_zero<CHUNK>(to, piece.count > 0 ? piece.from : any, piece.count > 0);
        return;
    }
#pragma unroll
    for (int i = 0; i < CHUNK; ++i) {
        to[i] = (unsigned int)i < piece.count ? piece.from[i] : kiln::from_float<T>(0.0f);
    }
}

// The sum over `steps` of the products of the tiles that `a(step, row, col)` and `b(step, row, col)` say piece by piece, for
// a col that is a multiple of CHUNK. `any_a` and `any_b` are addresses that may be given where nothing is read.
template <class A, class B>
static __device__ __forceinline__ Product sum_of_products(unsigned int steps, A a, const T* any_a, bool whole_a, B b,
                                                          const T* any_b, bool whole_b)
{
    T* const a_tiles = kiln::dynamic_shared<T>();
    T* const b_tiles = a_tiles + STAGES * BLOCK_M * LEADING_A;
    const auto fetch = [&](unsigned int step) {
        T* const to_a = a_tiles + step % STAGES * (BLOCK_M * LEADING_A);
        T* const to_b = b_tiles + step % STAGES * (BLOCK_K * LEADING_B);
#pragma unroll
        for (int i = threadIdx.x; i < BLOCK_M * BLOCK_K / CHUNK; i += THREADS) {
            const int row = i / (BLOCK_K / CHUNK), col = i % (BLOCK_K / CHUNK) * CHUNK;
            stage(to_a + row * LEADING_A + col, a(step, row, col), any_a, whole_a);
        }
#pragma unroll
        for (int i = threadIdx.x; i < BLOCK_K * BLOCK_N / CHUNK; i += THREADS) {
            const int row = i / (BLOCK_N / CHUNK), col = i % (BLOCK_N / CHUNK) * CHUNK;
            stage(to_b + row * LEADING_B + col, b(step, row, col), any_b, whole_b);
        }
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
