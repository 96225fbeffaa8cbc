#pragma once
// Runs of W floats that move in one memory operation, with a scalar path where they cannot.

template <int W> struct Vector;
template <> struct Vector<1> { typedef float type; };
template <> struct Vector<2> { typedef float2 type; };
template <> struct Vector<4> { typedef float4 type; };

// The W floats at `from`, which is aligned to W floats.
template <int W>
__device__ __forceinline__ void load_vector(float (&to)[W], const float* __restrict__ from)
{
    *reinterpret_cast<typename Vector<W>::type*>(to) = *reinterpret_cast<const typename Vector<W>::type*>(from);
}

// Writes W floats to `to`, which is aligned to W floats.
template <int W>
__device__ __forceinline__ void store_vector(float* __restrict__ to, const float (&from)[W])
{
    *reinterpret_cast<typename Vector<W>::type*>(to) = *reinterpret_cast<const typename Vector<W>::type*>(from);
}
