#pragma once
// Runs of W neighbouring floats, moved in one memory operation.

template <int W> struct __align__(4 * W) Run {
    float value[W];

    __device__ __forceinline__ float& operator[](int i) { return value[i]; }
};

// The W floats at `from`, which is aligned to W floats.
template <int W>
static __device__ __forceinline__ Run<W> load_run(const float* __restrict__ from)
{
    return *reinterpret_cast<const Run<W>*>(from);
}

// Writes W floats to `to`, which is aligned to W floats.
template <int W>
static __device__ __forceinline__ void store_run(float* __restrict__ to, const Run<W>& run)
{
    *reinterpret_cast<Run<W>*>(to) = run;
}
