// y = softmax(x) along each row of a row-major matrix of rows x cols elements of type T.
//
// Tunable parameters:
//   THREADS       threads that share a row
//   ROWS          rows of a block; a block has THREADS x ROWS threads
//   VECTOR_WIDTH  elements that a thread moves at once, if rows begin at multiples of VECTOR_WIDTH
//   ITEMS         runs of VECTOR_WIDTH elements per thread between two loop checks
//   METHOD        METHOD_passes: one pass for the maximum, one for the sum, and one for the outputs; METHOD_online: one
//                 pass for maximum and sum, which rescales the sum whenever the maximum grows (M. Milakov and N.
//                 Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867)
//   KEEP          1: the exponentials stay in shared memory until they are written; 0: they are computed twice
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/rows.cuh"

// A maximum, and the sum of exp(x - maximum) over the elements so far.
struct Seen {
    float largest;
    float sum;
};

// The maximum of an empty row. It is finite, so that nothing is ever subtracted from infinity.
static __device__ constexpr float LEAST = -3.4e38f;

static __device__ __forceinline__ Seen no_element() { return Seen{LEAST, 0.0f}; }

// e^x in as few instructions as possible; zero below the smallest normal number.
static __device__ __forceinline__ float power(float x) { return kiln::fast_exp2(x * 1.44269504f); }

struct Join {
    __device__ __forceinline__ Seen operator()(Seen a, Seen b) const
    {
        const float largest = fmaxf(a.largest, b.largest);
        return Seen{largest, a.sum * power(a.largest - largest) + b.sum * power(b.largest - largest)};
    }
};

template <int W> static __device__ __forceinline__ float largest_of(const Run<W>& run, float largest)
{
#pragma unroll
    for (int i = 0; i < W; ++i) {
        largest = fmaxf(largest, run[i]);
    }
    return largest;
}

template <int W> static __device__ __forceinline__ float sum_of(const Run<W>& run, float largest)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < W; ++i) {
        sum += power(run[i] - largest);
    }
    return sum;
}

// The largest element of a row and the sum of its exponentials. Every thread that shares the row gets them. If KEEP is
// 1, `kept` gets the exponentials: each thread writes, and later reads, those of its own columns.
static __device__ __forceinline__ Seen look_at(const T* __restrict__ row, unsigned int cols, float* kept)
{
#if METHOD == METHOD_online
    Seen seen = no_element();
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        const Run<W> run = load_run<W>(row + col);
        const float largest = largest_of(run, seen.largest);
        seen = Seen{largest, seen.sum * power(seen.largest - largest) + sum_of(run, largest)};
    });
    return kiln::block_reduce<THREADS, ROWS>(seen, Join());
#else
    Seen seen = no_element();
    Run<VECTOR_WIDTH> apart = kiln::splat<VECTOR_WIDTH>(seen.largest);
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        combine_into(apart, load_run<W>(row + col), kiln::maximum());
    });
    seen.largest = kiln::block_max<THREADS, ROWS>(folded(apart, kiln::maximum()));
    apart = kiln::splat<VECTOR_WIDTH>(0.0f);
    for_columns(cols, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
        const auto relative_power = [&](float x) { return power(x - seen.largest); };
        const Run<W> powers = mapped(load_run<W>(row + col), relative_power);
#if KEEP
        kiln::store_aligned(kept + col, powers);
#endif
        combine_into(apart, powers, kiln::add());
    });
    seen.sum = kiln::block_sum<THREADS, ROWS>(folded(apart, kiln::add()));
    return seen;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
softmax(unsigned int rows, unsigned int cols, const T* __restrict__ x, T* __restrict__ y)
{
    static_assert(THREADS * ROWS <= 1024, "a block has at most 1024 threads");
    static_assert(KEEP == 0 || METHOD == METHOD_passes, "the online sum is scaled, so that nothing can be kept");
    const unsigned int row = blockIdx.x * ROWS + threadIdx.y;
    // Threads without a row take part in the barriers too.
    const unsigned int length = row < rows ? cols : 0;
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    float* const kept = KEEP ? kiln::dynamic_shared<float>() + (size_t)threadIdx.y * cols : nullptr;
    const Seen seen = look_at(x, length, kept);
    const float scale = 1.0f / seen.sum;
    for_columns(length, [&](auto width, unsigned int col) {
        constexpr int W = decltype(width)::value;
#if KEEP
        store_output<W>(y + col, mapped(load_run<W>(kept + col), [&](float x) { return x * scale; }));
#else
        const auto share = [&](float x) { return power(x - seen.largest) * scale; };
        store_output<W>(y + col, mapped(load_run<W>(x + col), share));
#endif
    });
}
