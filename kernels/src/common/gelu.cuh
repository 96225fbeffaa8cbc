#pragma once
// The Gaussian error linear unit: x times the chance that a normal variable is below x. D. Hendrycks and K. Gimpel,
// "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415.

// x / 2 * (1 + erf(x / sqrt(2))). The sum is 0 in its leading digits for a negative x, and loses the others, so that the
// chance comes from the complement of the error function instead.
static __device__ __forceinline__ float gelu_exact(float x)
{
    return x * normcdff(x);
}

// Its approximation, x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))). The hyperbolic tangent is worked out from
// one fast exponential: 1 + tanh(u) is 2 / (1 + exp(-2 u)).
static __device__ __forceinline__ float gelu_tanh(float x)
{
    const float twice = 1.5957691f * (x + 0.044715f * x * x * x);
    return x / (1.0f + __expf(-twice));
}

struct GeluExact {
    __device__ __forceinline__ float operator()(float x) const { return gelu_exact(x); }
};
struct GeluTanh {
    __device__ __forceinline__ float operator()(float x) const { return gelu_tanh(x); }
};

// Calls `body(gelu)` with one of them: form 1 is the exact one, anything else the approximation. A host asks once: its
// vector code would compute both for each element. A GPU asks for each element: two loops take more registers than one.
template <class Body>
static __device__ __forceinline__ void with_gelu(unsigned int form, Body body)
{
#if defined(KILN_CPU)
    if (form == 1) {
        body(GeluExact());
    } else {
        body(GeluTanh());
    }
#else
    body([=](float x) { return form == 1 ? gelu_exact(x) : gelu_tanh(x); });
#endif
}
