// c = a * b, row-major: a is m x k, b is k x n, c is m x n elements of a 16-bit type T, accumulated in floats.
//
// Tunable parameters: those of common/staged_product.cuh, and
//   GROUP_M  consecutive blocks along m before the next ones along n; they read the same part of b from the cache

#include "../common/staged_product.cuh"

// The simplest version: one thread per element of c. It is launched with blocks of 16 x 16.
extern "C" __global__ void __launch_bounds__(256)
gemm_f16_naive(unsigned int m, unsigned int n, unsigned int k, const T* __restrict__ a, const T* __restrict__ b,
               T* __restrict__ c)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) {
        return;
    }
    float sum = 0.0f;
    for (unsigned int i = 0; i < k; ++i) {
        sum += kiln::to_float(a[(size_t)row * k + i]) * kiln::to_float(b[(size_t)i * n + col]);
    }
    c[(size_t)row * n + col] = kiln::from_float<T>(sum);
}

// The number of elements from `first` on that are below `end`.
static __device__ __forceinline__ unsigned int left(unsigned int first, unsigned int end)
{
    return first < end ? end - first : 0;
}

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_f16(unsigned int m, unsigned int n, unsigned int k, const T* __restrict__ a, const T* __restrict__ b,
         T* __restrict__ c)
{
    // Blocks are numbered in groups of GROUP_M rows of blocks. The last group may have fewer rows.
    const unsigned int blocks_m = kiln::div_ceil(m, BLOCK_M), blocks_n = kiln::div_ceil(n, BLOCK_N);
    const unsigned int group = blockIdx.x / (GROUP_M * blocks_n) * GROUP_M;
    const unsigned int within = blockIdx.x % (GROUP_M * blocks_n);
    const unsigned int tall = blocks_m - group < GROUP_M ? blocks_m - group : GROUP_M;
    const unsigned int first_row = (group + within % tall) * BLOCK_M;
    const unsigned int first_col = within / tall * BLOCK_N;

    const Product product = sum_of_products(
        kiln::div_ceil(k, BLOCK_K),
        [&](unsigned int step, int row, int col) {
            const unsigned int at_row = first_row + row, at_k = step * BLOCK_K + col;
            return Piece{a + (size_t)at_row * k + at_k, at_row < m ? left(at_k, k) : 0};
        },
        k % CHUNK == 0,
        [&](unsigned int step, int row, int col) {
            const unsigned int at_k = step * BLOCK_K + row, at_col = first_col + col;
            return Piece{b + (size_t)at_k * n + at_col, at_k < k ? left(at_col, n) : 0};
        },
        n % CHUNK == 0);
    store(product, c + (size_t)first_row * n + first_col, n, left(first_row, m), left(first_col, n));
}
