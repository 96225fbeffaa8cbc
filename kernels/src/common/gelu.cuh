#pragma once
// The Gaussian error linear unit: x times the chance that a normal variable is below x. D. Hendrycks and K. Gimpel,
// "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415.

#include "kiln.cuh"

// x / 2 * (1 + erf(x / sqrt(2))), which is max(x, 0) - |x| P(|x|) with P(a) the chance of more than a. P has no cancellation
// that way, and its base-2 logarithm is nearly a parabola: a polynomial of this project's own fit, within 7e-7 of P
// relatively up to a = 4, and less exact where |x| P is small: it errs by 3e-11 there. Beyond 9 the term is held at 1e-18.
static __device__ __forceinline__ float gelu_exact(float x)
{
    const float all = x < 0.0f ? -x : x, a = all < 9.0f ? all : 9.0f;
    float log = 6.75749305e-8f;
    log = log * a - 1.87713977e-6f;
    log = log * a + 1.94150580e-5f;
    log = log * a - 6.60409059e-5f;
    log = log * a - 4.89323342e-4f;
    log = log * a + 7.62173161e-3f;
    log = log * a - 5.29706999e-2f;
    log = log * a - 4.59011376e-1f;
    log = log * a - 1.15113628f;
    log = log * a - 0.999999166f;
    // Written so that NaN remains.
    return (x < 0.0f ? 0.0f : x) - a * kiln::normal_exp2(log);
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
