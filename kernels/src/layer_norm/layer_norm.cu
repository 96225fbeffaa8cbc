// y = (x - mean) / sqrt(variance + epsilon) * weight + bias along each row of a row-major matrix of rows x cols elements of
// type T (J. Ba, J. Kiros and G. Hinton, "Layer Normalization", arXiv:1607.06450).
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks
//   METHOD        METHOD_passes: one pass for the mean, and one for the squared differences from it; METHOD_joined: one
//                 pass for both, which joins partial means and sums of squares (T. Chan, G. Golub and R. LeVeque,
//                 "Updating formulae and a pairwise algorithm for computing sample variances", 1979)
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/rows.cuh"

// The moments of some elements: their number, their mean, and the sum of their squared differences from the mean.
struct Moments {
    float count;
    float mean;
    float squares;
};

struct Join {
    __device__ __forceinline__ Moments operator()(Moments a, Moments b) const
    {
        const float count = a.count + b.count;
        // If both are empty, the result is empty too.
        const float share = b.count / fmaxf(count, 1.0f);
        const float apart = b.mean - a.mean;
        return Moments{count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
    }
};

// The moments of a run.
template <int W> static __device__ __forceinline__ Moments moments_of(const Run<W>& run)
{
    Moments moments = {(float)W, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < W; ++i) {
        moments.mean += run[i] * (1.0f / W);
    }
#pragma unroll
    for (int i = 0; i < W; ++i) {
        const float apart = run[i] - moments.mean;
        moments.squares += apart * apart;
    }
    return moments;
}

// The moments of a row. Every thread that shares the row gets them.
static __device__ __forceinline__ Moments look_at(const T* __restrict__ row, unsigned int cols)
{
    Moments moments = {0.0f, 0.0f, 0.0f};
#if METHOD == METHOD_joined
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        moments = Join()(moments, moments_of(load_run<W>(row + col)));
    });
    return kiln::block_reduce<THREADS, ROWS>(moments, Join());
#else
    Run<VECTOR_WIDTH> apart = kiln::splat<VECTOR_WIDTH>(0.0f);
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        combine_into(apart, load_run<W>(row + col), kiln::add());
    });
    moments.mean = kiln::block_sum<THREADS, ROWS>(folded(apart, kiln::add())) / fmaxf((float)cols, 1.0f);
    apart = kiln::splat<VECTOR_WIDTH>(0.0f);
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        const auto add_square = [&](float sum, float x) { return sum + (x - moments.mean) * (x - moments.mean); };
        combine_into(apart, load_run<W>(row + col), add_square);
    });
    moments.squares = kiln::block_sum<THREADS, ROWS>(folded(apart, kiln::add()));
    return moments;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
layer_norm(unsigned int rows, unsigned int cols, float epsilon, const T* __restrict__ x, const T* __restrict__ weight,
           const T* __restrict__ bias, T* __restrict__ y)
{
    static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    // Threads without a row take part in the barriers too.
    const unsigned int length = row < rows ? cols : 0;
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    const Moments moments = look_at(x, length);
    const float scale = rsqrtf(moments.squares / cols + epsilon);
    for_columns(length, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        Run<W> run = load_run<W>(x + col);
        const Run<W> weights = load_run<W>(weight + col);
        const Run<W> biases = load_run<W>(bias + col);
        KILN_EACH_ELEMENT
        for (int i = 0; i < W; ++i) {
            run[i] = (run[i] - moments.mean) * scale * weights[i] + biases[i];
        }
        store_output<W>(y + col, run);
    });
}
