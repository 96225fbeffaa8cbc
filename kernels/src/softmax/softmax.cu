// y = softmax(x) along each row of a row-major matrix of rows x cols floats.
//
// Tunable parameters:
//   THREADS       threads that share a row: a power of two from 32 to 1024
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  floats that a thread moves at once: 1, 2 or 4
//   ITEMS         runs that a thread takes between two loop checks
//   REDUCE        how the threads of a row combine their values: REDUCE_tree, a tree in shared memory, or
//                 REDUCE_warp, shuffles within warps and shared memory between them

#include "../common/run.cuh"

struct Maximum {
    static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
};

struct Sum {
    static __device__ __forceinline__ float of(float a, float b) { return a + b; }
};

#if REDUCE == REDUCE_tree

// The values of a row's threads combined, for all of them.
template <class Operation>
static __device__ __forceinline__ float reduce(float value)
{
    __shared__ float partial[ROWS][THREADS];
    float* row = partial[threadIdx.y];
    const unsigned int thread = threadIdx.x;
    row[thread] = value;
    __syncthreads();
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            row[thread] = Operation::of(row[thread], row[thread + half]);
        }
        __syncthreads();
    }
    const float result = row[0];
    __syncthreads();
    return result;
}

#else

// The values of a row's threads combined, for all of them.
template <class Operation>
static __device__ __forceinline__ float reduce(float value)
{
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        value = Operation::of(value, __shfl_xor_sync(0xffffffffu, value, apart));
    }
#if THREADS > 32
    __shared__ float partial[ROWS][THREADS / 32];
    float* row = partial[threadIdx.y];
    if (threadIdx.x % 32 == 0) {
        row[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = row[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) {
        value = Operation::of(value, row[warp]);
    }
    __syncthreads();
#endif
    return value;
}

#endif

// Floats that the threads of a row take between two loop checks.
#define STEP (THREADS * VECTOR_WIDTH * ITEMS)

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
softmax(unsigned int rows, unsigned int cols, const float* __restrict__ x, float* __restrict__ y)
{
    static_assert(THREADS >= 32 && (THREADS & (THREADS - 1)) == 0, "a row has a power of two of threads");
    static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");

    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    // Threads without a row go through the barriers all the same.
    const unsigned int length = row < rows ? cols : 0;
    const float* __restrict__ from = x + (size_t)row * cols;
    float* __restrict__ to = y + (size_t)row * cols;
    // Runs where rows begin at a multiple of their width; whole steps of them; the rest one by one.
    const unsigned int whole = cols % VECTOR_WIDTH == 0 ? length / STEP * STEP : 0;
    const unsigned int thread = threadIdx.x;

    float largest = -INFINITY;
    for (unsigned int step = 0; step < whole; step += STEP) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            Run<VECTOR_WIDTH> run = load_run<VECTOR_WIDTH>(from + step + (i * THREADS + thread) * VECTOR_WIDTH);
#pragma unroll
            for (int j = 0; j < VECTOR_WIDTH; ++j) {
                largest = fmaxf(largest, run[j]);
            }
        }
    }
    for (unsigned int col = whole + thread; col < length; col += THREADS) {
        largest = fmaxf(largest, from[col]);
    }
    largest = reduce<Maximum>(largest);

    float sum = 0.0f;
    for (unsigned int step = 0; step < whole; step += STEP) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            Run<VECTOR_WIDTH> run = load_run<VECTOR_WIDTH>(from + step + (i * THREADS + thread) * VECTOR_WIDTH);
#pragma unroll
            for (int j = 0; j < VECTOR_WIDTH; ++j) {
                sum += __expf(run[j] - largest);
            }
        }
    }
    for (unsigned int col = whole + thread; col < length; col += THREADS) {
        sum += __expf(from[col] - largest);
    }
    const float scale = 1.0f / reduce<Sum>(sum);

    for (unsigned int step = 0; step < whole; step += STEP) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const unsigned int at = step + (i * THREADS + thread) * VECTOR_WIDTH;
            Run<VECTOR_WIDTH> run = load_run<VECTOR_WIDTH>(from + at);
#pragma unroll
            for (int j = 0; j < VECTOR_WIDTH; ++j) {
                run[j] = __expf(run[j] - largest) * scale;
            }
            store_run(to + at, run);
        }
    }
    for (unsigned int col = whole + thread; col < length; col += THREADS) {
        to[col] = __expf(from[col] - largest) * scale;
    }
}
