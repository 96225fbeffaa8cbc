// y = gelu(x) over n elements of type T. Form 1 is the exact function, and form 2 is the approximation with a
// hyperbolic tangent.
//
// Tunable parameters:
//   VECTOR_WIDTH  elements that a thread moves at once
//   THREADS       threads of a block
//   ITEMS         runs per thread, THREADS runs apart, so that neighbouring threads access neighbouring memory
//   HINT          how outputs are written: HINT_plain, or HINT_streaming, which bypasses the caches

#include "../common/elements.cuh"
#include "../common/gelu.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
gelu(unsigned int n, unsigned int form, const T* __restrict__ x, T* __restrict__ y)
{
    with_gelu(form, [&](auto gelu) {
        for_elements(n, [&](auto width, size_t at) {
            constexpr int W = decltype(width)::value;
            store_output<W>(y + at, mapped(load_run<W>(x + at), gelu));
        });
    });
}
