#pragma once
// The Gaussian error linear unit: x times the probability that a normal variable is below x (D. Hendrycks and K.
// Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415).

#include "kiln.cuh"

// x / 2 * (1 + erf(x / sqrt(2))), computed as max(x, 0) - |x| P(|x|), where P(a) is the probability that a normal
// variable exceeds a. This form avoids cancellation. The base-2 logarithm of P is nearly a parabola, so a polynomial
// approximates it well (the coefficients are this project's own fit). The relative error of P is at most 7e-7 up to a =
// 4. For larger a it grows, but |x| P is small there, and its absolute error is 3e-11. Beyond a = 9 the term stays at
// 1e-18.
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
    // This form keeps NaN.
    return (x < 0.0f ? 0.0f : x) - a * kiln::normal_exp2(log);
}

// The approximation x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))). The hyperbolic tangent needs one fast
// exponential, because 1 + tanh(u) is 2 / (1 + exp(-2 u)).
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

// Calls `body(gelu)` with the exact form if `form` is 1, and with the approximation otherwise. A CPU checks the form
// once, because vector code would compute both forms for each element. A GPU checks it for each element, because two
// loops need more registers than one.
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
