#pragma once
// Runs: neighbouring elements that are moved in one memory operation and computed in floats.

#include "kiln.cuh"

// The length of a run as a type, so that a generic lambda can take it as an argument.
template <int W> struct Width {
    static constexpr int value = W;
};

// W elements as floats.
template <int W> using Run = kiln::vec<float, W>;

// The W elements at `from`, which is aligned to W elements.
template <int W, class Element>
static __device__ __forceinline__ Run<W> load_run(const Element* __restrict__ from)
{
    return kiln::to_float(kiln::load_aligned<W>(from));
}

// Writes W elements to `to`, which is aligned to W elements.
template <int W, kiln::hint how = kiln::hint::plain, class Element>
static __device__ __forceinline__ void store_run(Element* __restrict__ to, const Run<W>& run)
{
    kiln::store_aligned<how>(to, kiln::from_float<Element>(run));
}

#if defined(HINT)
// Like store_run, for an output that the kernel does not read again.
template <int W>
static __device__ __forceinline__ void store_output(T* __restrict__ to, const Run<W>& run)
{
    store_run<W, HINT == HINT_streaming ? kiln::hint::streaming : kiln::hint::plain>(to, run);
}
#endif

// Combines two runs element by element.
template <int W, class Combine>
static __device__ __forceinline__ Run<W> combined(const Run<W>& a, const Run<W>& b, Combine combine)
{
    Run<W> result;
    KILN_EACH_ELEMENT
    for (int i = 0; i < W; ++i) {
        result[i] = combine(a[i], b[i]);
    }
    return result;
}

// Applies `map` to each element.
template <int W, class Map>
static __device__ __forceinline__ Run<W> mapped(const Run<W>& run, Map map)
{
    Run<W> result;
    KILN_EACH_ELEMENT
    for (int i = 0; i < W; ++i) {
        result[i] = map(run[i]);
    }
    return result;
}

// Combines each element of `run` with the partial result at the same position of `apart`. The partial results stay
// separate until the end of a row, so that no combination waits for another one of its run.
template <int N, int W, class Combine>
static __device__ __forceinline__ void combine_into(Run<N>& apart, const Run<W>& run, Combine combine)
{
    KILN_EACH_ELEMENT
    for (int i = 0; i < W; ++i) {
        apart[i] = combine(apart[i], run[i]);
    }
}

// Combines all elements of a run into one number, in pairs that are half a run apart.
template <int W, class Combine>
static __device__ __forceinline__ float folded(Run<W> apart, Combine combine)
{
    static_assert((W & (W - 1)) == 0, "a power of two");
#pragma unroll
    for (int half = W / 2; half > 0; half /= 2) {
        KILN_EACH_ELEMENT
        for (int i = 0; i < half; ++i) {
            apart[i] = combine(apart[i], apart[i + half]);
        }
    }
    return apart[0];
}
