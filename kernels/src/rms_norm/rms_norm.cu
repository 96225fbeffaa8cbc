// y = x / sqrt(mean of squares + epsilon) * weight along each row of a row-major matrix of rows x cols elements of type T
// (B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467).
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/rows.cuh"

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
rms_norm(unsigned int rows, unsigned int cols, float epsilon, const T* __restrict__ x, const T* __restrict__ weight,
         T* __restrict__ y)
{
    static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    // Threads without a row take part in the barriers too.
    const unsigned int length = row < rows ? cols : 0;
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    Run<VECTOR_WIDTH> squares = kiln::splat<VECTOR_WIDTH>(0.0f);
    for_columns(length, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        const auto add_square = [](float sum, float x) { return sum + x * x; };
        combine_into(squares, load_run<W>(x + col), add_square);
    });
    const float sum = kiln::block_sum<THREADS, ROWS>(folded(squares, kiln::add()));
    const float scale = rsqrtf(sum / cols + epsilon);
    for_columns(length, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        const auto scaled = [&](float x, float weight) { return x * scale * weight; };
        store_output<W>(y + col, combined(load_run<W>(x + col), load_run<W>(weight + col), scaled));
    });
}
