// Transposes x into y. x is a row-major matrix of rows x cols elements of type T, and y is cols x rows. A block moves a
// tile of TILE x TILE elements.
//
// Tunable parameters:
//   TILE          the extent of the tile along each axis, and threads per row of the block
//   THREAD_ROWS   rows of threads of the block; each thread moves TILE / THREAD_ROWS elements
//   STAGING       STAGING_shared: through shared memory, so that reads and writes access neighbouring elements;
//                 STAGING_none: reads along rows, and writes along columns
//   PADDING       unused elements after each row of the tile in shared memory, which put a column into different banks
//   WALK          0: a block of threads. Otherwise, which is valid only on a CPU, one thread moves the tile in squares
//                 of WALK x WALK elements, which it transposes in vector registers

#include "kiln.cuh"

// The simplest version: one thread per element.
extern "C" __global__ void __launch_bounds__(256)
transpose_naive(unsigned int rows, unsigned int cols, const T* __restrict__ x, T* __restrict__ y)
{
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        y[(size_t)col * rows + row] = x[(size_t)row * cols + col];
    }
}

#if WALK > 0
// WALK elements in a vector register. They are only moved, so their type need only have the right size.
template <unsigned int BYTES> struct BitsOf { typedef unsigned int type; };
template <> struct BitsOf<2> { typedef unsigned short type; };
typedef BitsOf<sizeof(T)>::type Row __attribute__((vector_size(WALK * sizeof(T))));

// The numbers below N, as arguments of a template.
template <unsigned int... I> struct Numbers {};
template <unsigned int N, unsigned int... I> struct Below { typedef typename Below<N - 1, N - 1, I...>::type type; };
template <unsigned int... I> struct Below<0, I...> { typedef Numbers<I...> type; };

// Takes the elements of two rows alternately, beginning at FIRST: either those of the lower or those of the upper half.
template <unsigned int FIRST, unsigned int... I>
__device__ inline Row interleave(Row a, Row b, Numbers<I...>)
{
    return Row{(I % 2 == 0 ? a[FIRST + I / 2] : b[FIRST + I / 2])...};
}

// Transposes a square. If the elements are numbered row by row in binary, interleaving the first half of the rows with
// the second half moves the highest digit of each number to its end. After half of the digits have moved, row and
// column are exchanged.
__device__ inline void transpose_square(const T* x, size_t x_stride, T* y, size_t y_stride)
{
    Row rows[WALK];
#pragma unroll
    for (unsigned int i = 0; i < WALK; ++i) {
        __builtin_memcpy(&rows[i], x + i * x_stride, sizeof(Row));
    }
#pragma unroll
    for (unsigned int step = 1; step < WALK; step *= 2) {
        Row next[WALK];
#pragma unroll
        for (unsigned int i = 0; i < WALK / 2; ++i) {
            const Row a = rows[i], b = rows[i + WALK / 2];
            next[2 * i] = interleave<0>(a, b, Below<WALK>::type());
            next[2 * i + 1] = interleave<WALK / 2>(a, b, Below<WALK>::type());
        }
#pragma unroll
        for (unsigned int i = 0; i < WALK; ++i) {
            rows[i] = next[i];
        }
    }
#pragma unroll
    for (unsigned int i = 0; i < WALK; ++i) {
        __builtin_memcpy(y + i * y_stride, &rows[i], sizeof(Row));
    }
}
#endif

extern "C" __global__ void __launch_bounds__(WALK > 0 ? 1 : TILE * THREAD_ROWS)
transpose(unsigned int rows, unsigned int cols, const T* __restrict__ x, T* __restrict__ y)
{
    static_assert(TILE % THREAD_ROWS == 0, "threads tile the tile");
    static_assert(TILE * THREAD_ROWS <= 1024, "a block has at most 1024 threads");
    const unsigned int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
#if WALK > 0
    static_assert(TILE % WALK == 0, "squares tile the tile");
    for (unsigned int col = first_col; col < min(first_col + TILE, cols); col += WALK) {
        for (unsigned int row = first_row; row < min(first_row + TILE, rows); row += WALK) {
            if (row + WALK <= rows && col + WALK <= cols) {
                transpose_square(x + (size_t)row * cols + col, cols, y + (size_t)col * rows + row, rows);
                continue;
            }
            for (unsigned int j = col; j < min(col + WALK, cols); ++j) {
                for (unsigned int i = row; i < min(row + WALK, rows); ++i) {
                    y[(size_t)j * rows + i] = x[(size_t)i * cols + j];
                }
            }
        }
    }
#elif STAGING == STAGING_shared
    __shared__ T tile[TILE][TILE + PADDING];
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + i, col = first_col + threadIdx.x;
        if (row < rows && col < cols) {
            tile[i][threadIdx.x] = x[(size_t)row * cols + col];
        }
    }
    __syncthreads();
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + threadIdx.x, col = first_col + i;
        if (row < rows && col < cols) {
            y[(size_t)col * rows + row] = tile[threadIdx.x][i];
        }
    }
#else
    static_assert(PADDING == 0, "only shared memory is padded");
#pragma unroll
    for (unsigned int i = threadIdx.y; i < TILE; i += THREAD_ROWS) {
        const unsigned int row = first_row + i, col = first_col + threadIdx.x;
        if (row < rows && col < cols) {
            y[(size_t)col * rows + row] = x[(size_t)row * cols + col];
        }
    }
#endif
}
