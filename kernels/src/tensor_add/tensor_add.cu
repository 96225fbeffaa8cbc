// c = a + b over n floats.
//
// Tunable parameters:
//   VECTOR_WIDTH  floats that a thread moves at once: 1, 2 or 4
//   THREADS       threads of a block
//   ITEMS         runs that a thread adds, THREADS runs apart so that neighbours read neighbours

#include "../common/run.cuh"

// Adds the run that begins at float `at`.
static __device__ __forceinline__ void add_run(const float* __restrict__ a, const float* __restrict__ b,
                                                  float* __restrict__ c, size_t at)
{
    Run<VECTOR_WIDTH> x = load_run<VECTOR_WIDTH>(a + at);
    Run<VECTOR_WIDTH> y = load_run<VECTOR_WIDTH>(b + at);
#pragma unroll
    for (int j = 0; j < VECTOR_WIDTH; ++j) {
        x[j] += y[j];
    }
    store_run(c + at, x);
}

extern "C" __global__ void __launch_bounds__(THREADS)
tensor_add(unsigned int n, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c)
{
    const size_t block = (size_t)blockIdx.x * (THREADS * ITEMS * VECTOR_WIDTH);
    if (block + THREADS * ITEMS * VECTOR_WIDTH <= n) {
        // Every block but the last: no thread has to look where n ends.
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            add_run(a, b, c, block + (i * THREADS + threadIdx.x) * VECTOR_WIDTH);
        }
    } else {
#pragma unroll
        for (int i = 0; i < ITEMS * VECTOR_WIDTH; ++i) {
            const size_t at = block + i * THREADS + threadIdx.x;
            if (at < n) {
                c[at] = a[at] + b[at];
            }
        }
    }
}
