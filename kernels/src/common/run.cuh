#pragma once
// Runs of neighbouring elements, moved in one memory operation and computed in floats.

#include "kiln.cuh"

// The length of a run, as a type: what a generic lambda can take.
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
template <int W, class Element>
static __device__ __forceinline__ void store_run(Element* __restrict__ to, const Run<W>& run)
{
    kiln::store_aligned(to, kiln::from_float<Element>(run));
}

// `combine` of two runs, element by element.
template <int W, class Combine>
static __device__ __forceinline__ Run<W> combined(const Run<W>& a, const Run<W>& b, Combine combine)
{
    Run<W> result;
#pragma unroll
    for (int i = 0; i < W; ++i) {
        result[i] = combine(a[i], b[i]);
    }
    return result;
}

// `map` of each element.
template <int W, class Map>
static __device__ __forceinline__ Run<W> mapped(const Run<W>& run, Map map)
{
    Run<W> result;
#pragma unroll
    for (int i = 0; i < W; ++i) {
        result[i] = map(run[i]);
    }
    return result;
}
