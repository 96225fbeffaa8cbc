// The sum (operation 1) or the maximum (operation 2) of each row of a row-major matrix of rows x cols elements of type T.
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks

#include "../common/rows.cuh"

// Combines the elements of a row. Every thread that shares the row gets the result.
template <class Combine>
static __device__ __forceinline__ float reduced(const T* __restrict__ row, unsigned int cols, float none, Combine combine)
{
    Run<VECTOR_WIDTH> apart = kiln::splat<VECTOR_WIDTH>(none);
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        combine_into(apart, load_run<W>(row + col), combine);
    });
    return kiln::block_reduce<THREADS, ROWS>(folded(apart, combine), combine);
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
reduce(unsigned int rows, unsigned int cols, unsigned int operation, const T* __restrict__ x, T* __restrict__ y)
{
    static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    // Threads without a row take part in the barriers too.
    const unsigned int length = row < rows ? cols : 0;
    x += (size_t)row * cols;
    const float result = operation == 1 ? reduced(x, length, 0.0f, kiln::add())
                                        : reduced(x, length, -INFINITY, kiln::maximum());
    if (row < rows && threadIdx.x == 0) {
        y[row] = kiln::from_float<T>(result);
    }
}
