// c = a + b over a row-major matrix of rows x cols elements of type T. b is b_rows x b_cols, where b_rows is rows or 1,
// and b_cols is cols or 1. A single row or column of b is used for all rows or columns of a.
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
broadcast_add(unsigned int rows, unsigned int cols, unsigned int b_rows, unsigned int b_cols, const T* __restrict__ a,
              const T* __restrict__ b, T* __restrict__ c)
{
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= rows) {
        return;
    }
    a += (size_t)row * cols;
    c += (size_t)row * cols;
    b += b_rows == 1 ? 0 : (size_t)row * b_cols;
    if (b_cols == 1) {
        const float addend = kiln::to_float(b[0]);
        for_columns(cols, [&](auto width, unsigned int col) {
            constexpr int W = decltype(width)::value;
            store_output<W>(c + col, mapped(load_run<W>(a + col), [&](float x) { return x + addend; }));
        });
    } else {
        for_columns(cols, [&](auto width, unsigned int col) {
            constexpr int W = decltype(width)::value;
            store_output<W>(c + col, combined(load_run<W>(a + col), load_run<W>(b + col), kiln::add()));
        });
    }
}
