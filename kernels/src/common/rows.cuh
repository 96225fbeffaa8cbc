#pragma once
// Code for kernels that process rows. THREADS threads share a row, in steps of THREADS * ITEMS * VECTOR_WIDTH elements.

#include "run.cuh"

// Calls `body(width, col)` for the columns of a row that this thread processes: runs of `width` elements from `col` on.
// Runs are longer than one element only if every row begins at a multiple of VECTOR_WIDTH.
template <class Body>
static __device__ __forceinline__ void for_columns(unsigned int cols, Body body)
{
#if !defined(KILN_CPU)
    static_assert(VECTOR_WIDTH * sizeof(T) <= 16, "a run is moved at once");
#endif
    constexpr unsigned int step = THREADS * ITEMS * VECTOR_WIDTH;
    const unsigned int thread = threadIdx.x;
    if (cols % VECTOR_WIDTH == 0) {
        const unsigned int whole = cols / step * step;
        for (unsigned int first = 0; first < whole; first += step) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                body(Width<VECTOR_WIDTH>(), first + (i * THREADS + thread) * VECTOR_WIDTH);
            }
        }
        for (unsigned int col = whole + thread * VECTOR_WIDTH; col < cols; col += THREADS * VECTOR_WIDTH) {
            body(Width<VECTOR_WIDTH>(), col);
        }
    } else {
        for (unsigned int col = thread; col < cols; col += THREADS) {
            body(Width<1>(), col);
        }
    }
}
