// c = a + b over n elements of type T.
//
// Tunable parameters:
//   VECTOR_WIDTH  elements that a thread moves at once
//   THREADS       threads of a block
//   ITEMS         runs per thread, THREADS runs apart, so that neighbouring threads access neighbouring memory
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/elements.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
tensor_add(unsigned int n, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c)
{
    for_elements(n, [&](auto width, size_t at) {
        constexpr int W = decltype(width)::value;
        const Run<W> x = load_run<W>(a + at);
        const Run<W> y = load_run<W>(b + at);
        store_output<W>(c + at, combined(x, y, [](float x, float y) { return x + y; }));
    });
}
