#pragma once
// Code for kernels that process single elements. A block processes THREADS * ITEMS * VECTOR_WIDTH neighbouring
// elements.

#include "run.cuh"

// Calls `body(width, at)` for the runs of this thread: `width` elements from index `at` on, which is a multiple of
// `width`. Neighbouring threads get neighbouring runs, so that they access neighbouring memory. Only the last block
// checks where n ends.
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
