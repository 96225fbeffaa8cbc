// c = a * b, single precision, row-major: a is m x k, b is k x n, c is m x n.
//
// Tunable parameters:
//   BLOCK_M, BLOCK_N   the tile of c that a block computes
//   BLOCK_K            the extent along k of the tiles in shared memory
//   THREAD_M, THREAD_N the tile of c that a thread computes; they divide BLOCK_M and BLOCK_N
//   VECTOR_WIDTH       floats that a thread moves at once: 1, 2 or 4; divides BLOCK_K and THREAD_N
//   UNROLL             steps along k between two loop checks
//   WALK               0: every thread has one tile of THREAD_M x THREAD_N, and a block has (BLOCK_M / THREAD_M) *
//                      (BLOCK_N / THREAD_N) threads, in one dimension. 1: a block is one thread that goes from tile to
//                      tile, for processors that run threads one after another

#include "../common/run.cuh"

// The simplest version: one thread per element of c. It is launched with blocks of 16 x 16.
extern "C" __global__ void __launch_bounds__(256)
gemm_naive(unsigned int m, unsigned int n, unsigned int k, const float* __restrict__ a,
           const float* __restrict__ b, float* __restrict__ c)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) {
        return;
    }
    float sum = 0.0f;
    for (unsigned int i = 0; i < k; ++i) {
        sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    }
    c[(size_t)row * n + col] = sum;
}

#if WALK

#define THREADS 1

// Computes the micro-tile of c that begins at (row, col); parts of it outside c are left out. `from` points to the
// micro-tile's first column in the shared tile of b. If `added` is true, c already contains the sums of the steps
// before.
static __device__ __forceinline__ void micro_tile(unsigned int m, unsigned int n, unsigned int k, const float* __restrict__ a,
                                                  const float* __restrict__ from, unsigned int count, bool added,
                                                  float* __restrict__ c, unsigned int row, unsigned int col)
{
    const float* __restrict__ left[THREAD_M];
    Run<THREAD_N> sum[THREAD_M];
    const bool whole = row + THREAD_M <= m && col + THREAD_N <= n;
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        // Rows beyond the last one are computed like the last one, but not written.
        left[i] = a + (size_t)min(row + i, m - 1) * k;
        sum[i] = kiln::splat<THREAD_N>(0.0f);
        float* to = c + (size_t)(row + i) * n + col;
        if (added && whole) {
            sum[i] = kiln::load<THREAD_N>(to);
        } else if (added && row + i < m) {
            sum[i] = kiln::load_part<THREAD_N>(to, n - col, 0.0f);
        }
    }
#pragma unroll UNROLL
    for (unsigned int i = 0; i < count; ++i) {
        const Run<THREAD_N> right = kiln::load_aligned<THREAD_N>(from + i * BLOCK_N);
#pragma unroll
        for (int j = 0; j < THREAD_M; ++j) {
            kiln::add_product(sum[j], left[j][i], right);
        }
    }
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        float* to = c + (size_t)(row + i) * n + col;
        if (whole) {
            kiln::store(to, sum[i]);
        } else if (row + i < m) {
            kiln::store_part(to, sum[i], n - col);
        }
    }
}

static __device__ __forceinline__ void walk(unsigned int m, unsigned int n, unsigned int k, const float* __restrict__ a,
                                            const float* __restrict__ b, float* __restrict__ c)
{
    __shared__ __align__(64) float b_tile[BLOCK_K][BLOCK_N];

    const unsigned int first_row = blockIdx.y * BLOCK_M, first_col = blockIdx.x * BLOCK_N;
    const unsigned int rows = min(m - first_row, (unsigned int)BLOCK_M), cols = min(n - first_col, (unsigned int)BLOCK_N);
    // Run once even if k is 0, because c must then become zero.
    for (unsigned int first_k = 0; first_k == 0 || first_k < k; first_k += BLOCK_K) {
        const unsigned int count = min(k - first_k, (unsigned int)BLOCK_K);
        for (unsigned int i = 0; i < count; ++i) {
            const float* from = b + (size_t)(first_k + i) * n + first_col;
            for (unsigned int col = 0; col < BLOCK_N; col += THREAD_N) {
                const Run<THREAD_N> run = col + THREAD_N <= cols ? kiln::load<THREAD_N>(from + col)
                                          : col < cols ? kiln::load_part<THREAD_N>(from + col, cols - col, 0.0f)
                                                       : kiln::splat<THREAD_N>(0.0f);
                store_run(&b_tile[i][col], run);
            }
        }
        for (unsigned int col = 0; col < cols; col += THREAD_N) {
            for (unsigned int row = 0; row < rows; row += THREAD_M) {
                micro_tile(m, n, k, a + first_k, &b_tile[0][col], count, first_k > 0, c, first_row + row, first_col + col);
            }
        }
    }
}

#else

#define THREADS_N (BLOCK_N / THREAD_N)
#define THREADS ((BLOCK_M / THREAD_M) * THREADS_N)

// The tile of a is stored with k as the outermost dimension, so that a thread's rows are adjacent. The padding spreads
// these stores over the banks of shared memory, and keeps rows aligned.
#define PADDED_M (BLOCK_M + 4)

// Loads VECTOR_WIDTH floats from column `col` of a row of `cols` floats, with zeros beyond its end. `aligned` is true
// if every row begins at a multiple of VECTOR_WIDTH.
static __device__ __forceinline__ Run<VECTOR_WIDTH> load_row(const float* __restrict__ row, unsigned int col,
                                                             unsigned int cols, bool aligned)
{
    if (aligned && col + VECTOR_WIDTH <= cols) {
        return load_run<VECTOR_WIDTH>(row + col);
    }
    Run<VECTOR_WIDTH> run;
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH; ++i) {
        run[i] = col + i < cols ? row[col + i] : 0.0f;
    }
    return run;
}

// Stores VECTOR_WIDTH floats from column `col` of a row on, except those beyond its end.
static __device__ __forceinline__ void store_row(float* __restrict__ row, unsigned int col, unsigned int cols, bool aligned,
                                                 const Run<VECTOR_WIDTH>& run)
{
    if (aligned && col + VECTOR_WIDTH <= cols) {
        store_run(row + col, run);
        return;
    }
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH; ++i) {
        if (col + i < cols) {
            row[col + i] = run[i];
        }
    }
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS)
gemm(unsigned int m, unsigned int n, unsigned int k, const float* __restrict__ a,
     const float* __restrict__ b, float* __restrict__ c)
{
    static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "threads must tile the block");
#if WALK
    walk(m, n, k, a, b, c);
#else
    static_assert(BLOCK_K % VECTOR_WIDTH == 0 && THREAD_N % VECTOR_WIDTH == 0, "runs must tile rows");
    static_assert(THREADS <= 1024, "a block has at most 1024 threads");

    __shared__ float a_tile[BLOCK_K][PADDED_M];
    __shared__ __align__(16) float b_tile[BLOCK_K][BLOCK_N];

    const unsigned int thread = threadIdx.x;
    const unsigned int first_row = blockIdx.y * BLOCK_M;
    const unsigned int first_col = blockIdx.x * BLOCK_N;
    const unsigned int thread_row = thread / THREADS_N * THREAD_M;
    // A thread's columns are runs of VECTOR_WIDTH. Neighbouring threads have neighbouring runs, so that a warp reads
    // and writes whole cache lines.
    const auto thread_col = [=](int col) {
        return (col / VECTOR_WIDTH * THREADS_N + thread % THREADS_N) * VECTOR_WIDTH + col % VECTOR_WIDTH;
    };
    const bool a_aligned = k % VECTOR_WIDTH == 0;
    const bool b_aligned = n % VECTOR_WIDTH == 0;

    float sum[THREAD_M][THREAD_N] = {};

    for (unsigned int first_k = 0; first_k < k; first_k += BLOCK_K) {
        for (unsigned int i = thread * VECTOR_WIDTH; i < BLOCK_M * BLOCK_K; i += THREADS * VECTOR_WIDTH) {
            const unsigned int row = i / BLOCK_K;
            const unsigned int col = i % BLOCK_K;
            Run<VECTOR_WIDTH> run = {};
            if (first_row + row < m) {
                run = load_row(a + (size_t)(first_row + row) * k, first_k + col, k, a_aligned);
            }
#pragma unroll
            for (int j = 0; j < VECTOR_WIDTH; ++j) {
                a_tile[col + j][row] = run[j];
            }
        }
        for (unsigned int i = thread * VECTOR_WIDTH; i < BLOCK_K * BLOCK_N; i += THREADS * VECTOR_WIDTH) {
            const unsigned int row = i / BLOCK_N;
            const unsigned int col = i % BLOCK_N;
            Run<VECTOR_WIDTH> run = {};
            if (first_k + row < k) {
                run = load_row(b + (size_t)(first_k + row) * n, first_col + col, n, b_aligned);
            }
            store_run(&b_tile[row][col], run);
        }
        __syncthreads();

#pragma unroll UNROLL
        for (int i = 0; i < BLOCK_K; ++i) {
            float a_run[THREAD_M];
            float b_run[THREAD_N];
#pragma unroll
            for (int row = 0; row < THREAD_M; ++row) {
                a_run[row] = a_tile[i][thread_row + row];
            }
#pragma unroll
            for (int col = 0; col < THREAD_N; ++col) {
                b_run[col] = b_tile[i][thread_col(col)];
            }
#pragma unroll
            for (int row = 0; row < THREAD_M; ++row) {
#pragma unroll
                for (int col = 0; col < THREAD_N; ++col) {
                    sum[row][col] += a_run[row] * b_run[col];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int row = 0; row < THREAD_M; ++row) {
        const unsigned int to_row = first_row + thread_row + row;
        if (to_row >= m) {
            continue;
        }
        float* __restrict__ to = c + (size_t)to_row * n;
#pragma unroll
        for (int col = 0; col < THREAD_N; col += VECTOR_WIDTH) {
            Run<VECTOR_WIDTH> run;
#pragma unroll
            for (int i = 0; i < VECTOR_WIDTH; ++i) {
                run[i] = sum[row][col + i];
            }
            store_row(to, first_col + thread_col(col), n, b_aligned, run);
        }
    }
#endif
}
