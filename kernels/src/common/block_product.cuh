#pragma once
// The product of two tiles in shared memory, computed by the warps of a block: sum += a * b in floats. a has BLOCK_M x
// BLOCK_K elements of type T and is row-major. b has BLOCK_K x BLOCK_N elements in the layout LAYOUT_B.
//
// Tunable parameters:
//   BLOCK_M, BLOCK_N, BLOCK_K  the extents of the tiles
//   WARPS_M, WARPS_N           warps along the rows and columns of the product
//   TILES                      2: by warpgroups of four warps, on GPUs that have them (device.warps_per_product is 4);
//                              1: by tiles of 16 x 16, on tensor cores if the GPU has them; 0: by fused multiply-adds
//   LANES_M                    lanes of a warp along the rows of the product, if TILES is 0
//
// Warpgroups follow each other along the rows first: there are WARPS_M / 4 times WARPS_N of them. Their tiles are
// swizzled and have no padding.

#include "kiln.cuh"

#define THREADS (32 * WARPS_M * WARPS_N)

// The part of the product that a warp computes.
#define WARP_M (BLOCK_M / WARPS_M)
#define WARP_N (BLOCK_N / WARPS_N)

// The number of elements in 16 bytes. A copy moves this many at once, and rows are padded with this many, so that
// consecutive rows begin in different banks.
static __device__ constexpr int CHUNK = 16 / (int)sizeof(T);
static __device__ constexpr int LEADING_A = BLOCK_K + CHUNK;
static __device__ constexpr int LEADING_B = BLOCK_N + CHUNK;

// The layout of b in shared memory, if TILES is not 2.
static __device__ constexpr kiln::layout LAYOUT_B = TILES ? kiln::right_layout : kiln::layout::row_major;

static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0, "warps tile the block");
static_assert(BLOCK_M * BLOCK_N <= 128 * THREADS, "a thread's sums fit into registers");
static_assert(TILES == 0 || LANES_M == 4, "tiles have lanes of their own");
static_assert(TILES == 2 || WARPS_M <= 4, "only warpgroups have more warps along the rows");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");

#if TILES == 2

#if !defined(KILN_HAS_WARPGROUPS)
#error "TILES = 2 needs a GPU whose warps multiply in groups"
#endif

static_assert(WARPS_M % kiln::warpgroup_warps == 0, "the warps of a group lie along the rows");

// This thread's elements of the product, as warpgroups hold them.
struct Product {
    static constexpr int GROUPS_M = WARPS_M / kiln::warpgroup_warps;
    static constexpr int ROWS = BLOCK_M / GROUPS_M / kiln::warpgroup_rows, COLS = WARP_N / 16;
    static_assert(ROWS * GROUPS_M * kiln::warpgroup_rows == BLOCK_M, "groups tile the block");

    using TileA = kiln::left_tile<BLOCK_K>;
    using TileB = kiln::right_tile<BLOCK_K, kiln::right_width<WARP_N>>;

    kiln::tile_acc sum[ROWS][COLS];
    int group_row, group_col;

    __device__ __forceinline__ void clear()
    {
        const int group = kiln::warpgroup();
        group_row = group / WARPS_N * (ROWS * kiln::warpgroup_rows);
        group_col = group % WARPS_N * WARP_N;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                kiln::tile_fill(sum[row][col], 0.0f);
            }
            kiln::warpgroup_results(sum[row]);
        }
    }

    // Begins to add the product of two tiles that the block has published. It is one group of products.
    __device__ __forceinline__ void begin(const T* a, const T* b)
    {
        kiln::warpgroup_begin();
#pragma unroll
        for (int k = 0; k < BLOCK_K; k += 16) {
            const unsigned long long right = TileB::descriptor(b, k, group_col);
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const int from = group_row + row * kiln::warpgroup_rows;
                kiln::warpgroup_mma<T>(sum[row], TileA::descriptor(a, from, k), right);
            }
        }
        kiln::warpgroup_commit();
    }

    // Waits for all products.
    __device__ __forceinline__ void end()
    {
        kiln::warpgroup_wait<0>();
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            kiln::warpgroup_results(sum[row]);
        }
    }

    template <int ALIGNED>
    __device__ __forceinline__ void store(T* to, size_t leading, int rows, int cols) const
    {
        const int warp_row = group_row + (int)(kiln::warp() % kiln::warpgroup_warps) * 16;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                const int at_row = warp_row + row * kiln::warpgroup_rows, at_col = group_col + col * 16;
                kiln::tile_store_part<kiln::layout::row_major, ALIGNED>(
                    to + at_row * leading + at_col, leading, sum[row][col], rows - at_row, cols - at_col);
            }
        }
    }
};

#elif TILES

// The elements of the product that this thread holds, as tiles.
struct Product {
    static constexpr int ROWS = WARP_M / 16, COLS = WARP_N / 16;
    kiln::tile_acc sum[ROWS][COLS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                kiln::tile_fill(sum[row][col], 0.0f);
            }
        }
    }

    __device__ __forceinline__ static int first_row() { return (int)(kiln::warp() / WARPS_N) * WARP_M; }
    __device__ __forceinline__ static int first_col() { return (int)(kiln::warp() % WARPS_N) * WARP_N; }

    // The operands of a warp for one step along k: its rows of `a` and its columns of `b`.
    struct Fragments {
        kiln::tile_a<T> left[ROWS];
        kiln::tile_b<T> right[COLS];

        __device__ __forceinline__ void load(const T* a, const T* b, int k)
        {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                const T* from = b + kiln::tile_offset<LAYOUT_B>(k, first_col() + col * 16, LEADING_B);
                kiln::tile_load_shared<LAYOUT_B>(right[col], from, LEADING_B);
            }
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const T* from = a + (first_row() + row * 16) * LEADING_A + k;
                kiln::tile_load_shared<kiln::layout::row_major>(left[row], from, LEADING_A);
            }
        }
    };

    __device__ __forceinline__ void add(const T* a, const T* b)
    {
        // Load the fragments of the next step while those of this step are multiplied.
        Fragments fragments[2];
        fragments[0].load(a, b, 0);
#pragma unroll
        for (int k = 0; k < BLOCK_K; k += 16) {
            if (k + 16 < BLOCK_K) {
                fragments[(k / 16 + 1) % 2].load(a, b, k + 16);
            }
            const Fragments& now = fragments[k / 16 % 2];
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
#pragma unroll
                for (int col = 0; col < COLS; ++col) {
                    kiln::mma(sum[row][col], now.left[row], now.right[col]);
                }
            }
        }
    }

    template <int ALIGNED>
    __device__ __forceinline__ void store(T* to, size_t leading, int rows, int cols) const
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                const int at_row = first_row() + row * 16, at_col = first_col() + col * 16;
                kiln::tile_store_part<kiln::layout::row_major, ALIGNED>(
                    to + at_row * leading + at_col, leading, sum[row][col], rows - at_row, cols - at_col);
            }
        }
    }
};

#else

// The elements of the product that this thread holds: COLS neighbouring columns of ROWS rows.
struct Product {
    static constexpr int LANES_N = 32 / LANES_M;
    static constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;
    float sum[ROWS][COLS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                sum[row][col] = 0.0f;
            }
        }
    }

    // The rows of different lanes alternate. The elements of `a` that a warp reads at once are therefore LEADING_A
    // apart, in different banks.
    __device__ __forceinline__ static int at_row(int row)
    {
        return (int)(kiln::warp() / WARPS_N) * WARP_M + row * LANES_M + (int)(kiln::lane() / LANES_N);
    }
    __device__ __forceinline__ static int first_col()
    {
        return (int)(kiln::warp() % WARPS_N) * WARP_N + (int)(kiln::lane() % LANES_N) * COLS;
    }

    __device__ __forceinline__ void add(const T* a, const T* b)
    {
        const T* left = a + at_row(0) * LEADING_A;
        const T* right = b + first_col();
#pragma unroll 4
        for (int k = 0; k < BLOCK_K; ++k) {
            float column[ROWS], row_of_b[COLS];
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                column[row] = kiln::to_float(left[row * LANES_M * LEADING_A + k]);
            }
#pragma unroll
            for (int col = 0; col < COLS; ++col) {
                row_of_b[col] = kiln::to_float(right[k * LEADING_B + col]);
            }
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
#pragma unroll
                for (int col = 0; col < COLS; ++col) {
                    sum[row][col] += column[row] * row_of_b[col];
                }
            }
        }
    }

    template <int ALIGNED>
    __device__ __forceinline__ void store(T* to, size_t leading, int rows, int cols) const
    {
        // The number of elements of a lane's row that are written at once.
        constexpr int WIDTH = ALIGNED < COLS ? ALIGNED : COLS;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
#pragma unroll
            for (int col = 0; col < COLS; col += WIDTH) {
                if (at_row(row) < rows && first_col() + col < cols) {
                    kiln::vec<float, WIDTH> sums;
#pragma unroll
                    for (int i = 0; i < WIDTH; ++i) {
                        sums[i] = sum[row][col + i];
                    }
                    kiln::store_aligned(to + at_row(row) * leading + first_col() + col, kiln::from_float<T>(sums));
                }
            }
        }
    }
};

#endif

// Writes the part of the block's product that lies inside the matrix to `to`, whose rows are `leading` elements apart.
// If all rows begin and end at multiples of 16 bytes, CHUNK elements are written at once.
static __device__ __forceinline__ void store(const Product& product, T* to, size_t leading, unsigned int rows_left,
                                             unsigned int cols_left)
{
    const int rows = rows_left < BLOCK_M ? (int)rows_left : BLOCK_M, cols = cols_left < BLOCK_N ? (int)cols_left : BLOCK_N;
    if (kiln::is_aligned<CHUNK>(to) && leading % CHUNK == 0 && cols % CHUNK == 0) {
        product.store<CHUNK>(to, leading, rows, cols);
    } else {
        product.store<1>(to, leading, rows, cols);
    }
}
