// y = gelu(x + bias) along each row of a row-major matrix of rows x cols elements of type T. Form 1 is the exact
// function, and form 2 is the approximation with a hyperbolic tangent.
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/gelu.cuh"
#include "../common/rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
bias_gelu(unsigned int rows, unsigned int cols, unsigned int form, const T* __restrict__ x, const T* __restrict__ bias,
          T* __restrict__ y)
{
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= rows) {
        return;
    }
    x += (size_t)row * cols;
    y += (size_t)row * cols;
    with_gelu(form, [&](auto gelu) {
        for_columns(cols, [&](auto width, unsigned int col) {
            constexpr int W = decltype(width)::value;
            const auto of_sum = [&](float x, float bias) { return gelu(x + bias); };
            store_output<W>(y + col, combined(load_run<W>(x + col), load_run<W>(bias + col), of_sum));
        });
    });
}
