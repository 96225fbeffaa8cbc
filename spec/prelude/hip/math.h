// CUDA's mathematical functions. What the hardware or clang's backend computes goes there; the rest is in
// portable/math, which says how exact it is.
#ifndef KILN_HIP_MATH_H
#define KILN_HIP_MATH_H

#include "portable/constants.h"
#include "portable/math/angle.h"
#include "portable/math/arc.h"
#include "portable/math/error_function.h"
#include "portable/math/exponential.h"
#include "portable/math/gamma.h"
#include "portable/math/logarithm.h"
#include "portable/math/parts.h"
#include "portable/math/root.h"

#pragma clang fp contract(fast)

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))

// Begins CUDA's overload of a C function for float. A template, so that integers go to double.
#define KILN_HIP_OVERLOAD                                                                              \
    template <class T> KILN_INLINE typename kiln_only<T, float>::type

// name(double), namef(float) and the overload name(float), by an expression of x (and y).
#define KILN_HIP_MATH_1(name, single, twice)                                                           \
    KILN_INLINE float name##f(float x) { return single; }                                              \
    KILN_INLINE double name(double x) { return twice; }                                                \
    KILN_HIP_OVERLOAD name(T x) { return name##f(x); }
#define KILN_HIP_MATH_2(name, single, twice)                                                           \
    KILN_INLINE float name##f(float x, float y) { return single; }                                     \
    KILN_INLINE double name(double x, double y) { return twice; }                                      \
    KILN_HIP_OVERLOAD name(T x, T y) { return name##f(x, y); }
#define KILN_HIP_BACKEND_1(name) KILN_HIP_MATH_1(name, __builtin_##name##f(x), __builtin_##name(x))
#define KILN_HIP_BACKEND_2(name) \
    KILN_HIP_MATH_2(name, __builtin_##name##f(x, y), __builtin_##name(x, y))
#define KILN_HIP_OWN_1(name) KILN_HIP_MATH_1(name, kiln_math::name(x), kiln_math::name(x))
#define KILN_HIP_OWN_2(name) KILN_HIP_MATH_2(name, kiln_math::name(x, y), kiln_math::name(x, y))
// The backend expands these in single precision only.
#define KILN_HIP_MIXED_1(name) KILN_HIP_MATH_1(name, __builtin_##name##f(x), kiln_math::name(x))

KILN_HIP_BACKEND_1(sqrt)
KILN_HIP_BACKEND_1(fabs)
KILN_HIP_BACKEND_1(floor)
KILN_HIP_BACKEND_1(ceil)
KILN_HIP_BACKEND_1(trunc)
KILN_HIP_BACKEND_1(round)
KILN_HIP_BACKEND_1(rint)
KILN_HIP_BACKEND_1(nearbyint)
KILN_HIP_BACKEND_2(copysign)
KILN_HIP_BACKEND_2(fmax)
KILN_HIP_BACKEND_2(fmin)
KILN_HIP_MIXED_1(exp)
KILN_HIP_MIXED_1(exp2)
KILN_HIP_MIXED_1(exp10)
KILN_HIP_MIXED_1(log)
KILN_HIP_MIXED_1(log2)
KILN_HIP_MIXED_1(log10)
KILN_HIP_OWN_1(expm1)
KILN_HIP_OWN_1(log1p)
KILN_HIP_OWN_1(logb)
KILN_HIP_OWN_1(cbrt)
KILN_HIP_OWN_1(rcbrt)
KILN_HIP_OWN_1(sin)
KILN_HIP_OWN_1(cos)
KILN_HIP_OWN_1(tan)
KILN_HIP_OWN_1(sinpi)
KILN_HIP_OWN_1(cospi)
KILN_HIP_OWN_1(asin)
KILN_HIP_OWN_1(acos)
KILN_HIP_OWN_1(atan)
KILN_HIP_OWN_1(sinh)
KILN_HIP_OWN_1(cosh)
KILN_HIP_MATH_1(tanh, kiln_math::quick_tanh(x), kiln_math::tanh(x))
KILN_HIP_OWN_1(asinh)
KILN_HIP_OWN_1(acosh)
KILN_HIP_OWN_1(atanh)
KILN_HIP_OWN_1(erf)
KILN_HIP_OWN_1(erfc)
KILN_HIP_OWN_1(normcdf)
KILN_HIP_OWN_1(lgamma)
KILN_HIP_OWN_1(tgamma)
KILN_HIP_OWN_2(pow)
KILN_HIP_OWN_2(fmod)
KILN_HIP_OWN_2(remainder)
KILN_HIP_OWN_2(nextafter)
KILN_HIP_OWN_2(atan2)
KILN_HIP_OWN_2(hypot)
KILN_HIP_MATH_2(fdim, x > y ? x - y : x <= y ? 0.0f : x + y, x > y ? x - y : x <= y ? 0.0 : x + y)

KILN_INLINE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KILN_INLINE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
KILN_HIP_OVERLOAD fma(T x, T y, T z) { return __builtin_fmaf(x, y, z); }
KILN_INLINE float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
KILN_INLINE double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
KILN_HIP_OVERLOAD ldexp(T x, int e) { return __builtin_ldexpf(x, e); }
KILN_INLINE float frexpf(float x, int* e) { return kiln_math::frexp(x, e); }
KILN_INLINE double frexp(double x, int* e) { return kiln_math::frexp(x, e); }
KILN_INLINE float modff(float x, float* whole) {
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(kiln_math::is_infinite(x) ? 0.0f : x - *whole, x);
}
KILN_INLINE double modf(double x, double* whole) {
    *whole = __builtin_trunc(x);
    return __builtin_copysign(kiln_math::is_infinite(x) ? 0.0 : x - *whole, x);
}
KILN_INLINE void sincosf(float x, float* s, float* c) { kiln_math::sincos(x, s, c); }
KILN_INLINE void sincos(double x, double* s, double* c) { kiln_math::sincos(x, s, c); }
KILN_INLINE float remquof(float x, float y, int* quotient) { return kiln_math::remquo(x, y, quotient); }
KILN_INLINE double remquo(double x, double y, int* quotient) { return kiln_math::remquo(x, y, quotient); }
KILN_INLINE int ilogbf(float x) { return kiln_math::ilogb(x); }
KILN_INLINE int ilogb(double x) { return kiln_math::ilogb(x); }
KILN_INLINE float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
KILN_INLINE double scalbn(double x, int e) { return __builtin_ldexp(x, e); }
KILN_INLINE float scalblnf(float x, long e) { return __builtin_ldexpf(x, (int)(e < -9999 ? -9999 : e > 9999 ? 9999 : e)); }
KILN_INLINE double scalbln(double x, long e) { return __builtin_ldexp(x, (int)(e < -9999 ? -9999 : e > 9999 ? 9999 : e)); }
KILN_INLINE long long llrintf(float x) { return (long long)__builtin_rintf(x); }
KILN_INLINE long long llrint(double x) { return (long long)__builtin_rint(x); }
KILN_INLINE long long llroundf(float x) { return (long long)__builtin_roundf(x); }
KILN_INLINE long long llround(double x) { return (long long)__builtin_round(x); }
KILN_INLINE long lrintf(float x) { return (long)__builtin_rintf(x); }
KILN_INLINE long lrint(double x) { return (long)__builtin_rint(x); }
KILN_INLINE long lroundf(float x) { return (long)__builtin_roundf(x); }
KILN_INLINE long lround(double x) { return (long)__builtin_round(x); }
KILN_INLINE float powif(float x, int n) { return kiln_math::pow(x, (float)n); }

KILN_INLINE double nan(const char*) { return __builtin_nan(""); }
KILN_INLINE float nanf(const char*) { return __builtin_nanf(""); }
KILN_INLINE int abs(int x) { return x < 0 ? -x : x; }
KILN_INLINE long abs(long x) { return x < 0 ? -x : x; }
KILN_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
KILN_INLINE float abs(float x) { return __builtin_fabsf(x); }
KILN_INLINE double abs(double x) { return __builtin_fabs(x); }
KILN_INLINE long labs(long x) { return abs(x); }
KILN_INLINE long long llabs(long long x) { return abs(x); }

KILN_INLINE float max(float a, float b) { return fmaxf(a, b); }
KILN_INLINE float min(float a, float b) { return fminf(a, b); }
KILN_INLINE double max(double a, double b) { return fmax(a, b); }
KILN_INLINE double min(double a, double b) { return fmin(a, b); }
KILN_INLINE double max(float a, double b) { return fmax((double)a, b); }
KILN_INLINE double min(float a, double b) { return fmin((double)a, b); }
KILN_INLINE double max(double a, float b) { return fmax(a, (double)b); }
KILN_INLINE double min(double a, float b) { return fmin(a, (double)b); }

KILN_INLINE bool isnan(float x) { return __builtin_isnan(x); }
KILN_INLINE bool isnan(double x) { return __builtin_isnan(x); }
KILN_INLINE bool isinf(float x) { return __builtin_isinf(x); }
KILN_INLINE bool isinf(double x) { return __builtin_isinf(x); }
KILN_INLINE bool isfinite(float x) { return __builtin_isfinite(x); }
KILN_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
KILN_INLINE bool signbit(float x) { return __builtin_signbit(x); }
KILN_INLINE bool signbit(double x) { return __builtin_signbit(x); }

// The hardware takes subnormal numbers for zero here.
KILN_INLINE float rsqrtf(float x) {
    bool small = x < 0x1p-100f;
    return __builtin_amdgcn_rsqf(small ? x * 0x1p+24f : x) * (small ? 0x1p+12f : 1.0f);
}
KILN_INLINE float rsqrt(float x) { return rsqrtf(x); }
KILN_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

// Fast forms, by the hardware's functions of base two and of whole turns.
KILN_INLINE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
KILN_INLINE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
KILN_INLINE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
KILN_INLINE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
KILN_INLINE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029996f; }
KILN_INLINE float __powf(float x, float y) {
    return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x));
}
KILN_INLINE float __sinf(float x) {
    return __builtin_amdgcn_sinf(__builtin_amdgcn_fractf(x * 0.159154943f));
}
KILN_INLINE float __cosf(float x) {
    return __builtin_amdgcn_cosf(__builtin_amdgcn_fractf(x * 0.159154943f));
}
KILN_INLINE float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
KILN_INLINE float __tanhf(float x) {
    return 1.0f - 2.0f * __builtin_amdgcn_rcpf(__expf(2.0f * x) + 1.0f);
}
KILN_INLINE void __sincosf(float x, float* s, float* c) {
    *s = __sinf(x);
    *c = __cosf(x);
}
KILN_INLINE float __fdividef(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
KILN_INLINE float fdividef(float x, float y) { return x / y; }

#undef KILN_HIP_OVERLOAD
#undef KILN_HIP_MATH_1
#undef KILN_HIP_MATH_2
#undef KILN_HIP_BACKEND_1
#undef KILN_HIP_BACKEND_2
#undef KILN_HIP_OWN_1
#undef KILN_HIP_OWN_2
#undef KILN_HIP_MIXED_1

#endif
