#pragma once
// What kernels do to each element: a block takes THREADS * ITEMS * VECTOR_WIDTH neighbouring elements.

#include "run.cuh"

// Calls `body(width, at)` for the elements of this thread: runs of `width` elements from `at` on, which is a multiple of
// it. Runs lie THREADS apart, so that neighbours read neighbours. In every block but the last no thread has to look
// where n ends.
template <class Body>
static __device__ __forceinline__ void for_elements(size_t n, Body body)
{
#if !defined(KILN_CPU)
    static_assert(VECTOR_WIDTH * sizeof(T) <= 16, "a run is moved at once");
#endif
    const size_t block = (size_t)blockIdx.x * (THREADS * ITEMS * VECTOR_WIDTH);
    if (block + THREADS * ITEMS * VECTOR_WIDTH <= n) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            body(Width<VECTOR_WIDTH>(), block + (i * THREADS + threadIdx.x) * VECTOR_WIDTH);
        }
    } else {
        KILN_EACH_ELEMENT
        for (int i = 0; i < ITEMS * VECTOR_WIDTH; ++i) {
            const size_t at = block + i * THREADS + threadIdx.x;
            if (at < n) {
                body(Width<1>(), at);
            }
        }
    }
}
