// CUDA's mathematical functions. Names of the C library are declared as the C library declares them, so
// that a later <cmath> agrees; what has no such name, or a faster form, is defined here.
#ifndef KILN_CPU_MATH_H
#define KILN_CPU_MATH_H

#define KILN_CPU_C_INLINE extern "C" inline __attribute__((always_inline))

#ifndef INFINITY
#define INFINITY (__builtin_inff ())
#endif
#ifndef NAN
#define NAN (__builtin_nanf (""))
#endif
#include "portable/constants.h"
#include "cpu/float_math.h"

// name(double), namef(float), and CUDA's overload name(float).
#define KILN_CPU_MATH_1(name)                                                                          \
    extern "C" double name(double) noexcept;                                                           \
    extern "C" float name##f(float) noexcept;                                                          \
    KILN_CPU_OVERLOAD(float) name(T x) { return __builtin_##name##f(x); }
#define KILN_CPU_MATH_2(name)                                                                          \
    extern "C" double name(double, double) noexcept;                                                   \
    extern "C" float name##f(float, float) noexcept;                                                   \
    KILN_CPU_OVERLOAD(float) name(T x, T y) { return __builtin_##name##f(x, y); }

// The same, where namef is this prelude's own.
#define KILN_CPU_MATH_OWN(name)                                                                        \
    extern "C" double name(double) noexcept;                                                           \
    KILN_CPU_OVERLOAD(float) name(T x) { return name##f(x); }

KILN_CPU_MATH_OWN(exp)
KILN_CPU_MATH_OWN(exp2)
KILN_CPU_MATH_OWN(log)
KILN_CPU_MATH_OWN(tanh)
KILN_CPU_MATH_OWN(erf)
KILN_CPU_MATH_OWN(erfc)
KILN_CPU_MATH_1(sqrt)
KILN_CPU_MATH_1(cbrt)
KILN_CPU_MATH_1(expm1)
KILN_CPU_MATH_1(log2)
KILN_CPU_MATH_1(log10)
KILN_CPU_MATH_1(log1p)
KILN_CPU_MATH_1(logb)
KILN_CPU_MATH_1(sin)
KILN_CPU_MATH_1(cos)
KILN_CPU_MATH_1(tan)
KILN_CPU_MATH_1(asin)
KILN_CPU_MATH_1(acos)
KILN_CPU_MATH_1(atan)
KILN_CPU_MATH_1(sinh)
KILN_CPU_MATH_1(cosh)
KILN_CPU_MATH_1(asinh)
KILN_CPU_MATH_1(acosh)
KILN_CPU_MATH_1(atanh)
KILN_CPU_MATH_1(lgamma)
KILN_CPU_MATH_1(tgamma)
KILN_CPU_MATH_1(fabs)
KILN_CPU_MATH_1(floor)
KILN_CPU_MATH_1(ceil)
KILN_CPU_MATH_1(trunc)
KILN_CPU_MATH_1(round)
KILN_CPU_MATH_1(rint)
KILN_CPU_MATH_1(nearbyint)
KILN_CPU_MATH_2(pow)
KILN_CPU_MATH_2(fmod)
KILN_CPU_MATH_2(remainder)
KILN_CPU_MATH_2(copysign)
KILN_CPU_MATH_2(nextafter)
KILN_CPU_MATH_2(atan2)
KILN_CPU_MATH_2(hypot)
KILN_CPU_MATH_2(fdim)
#undef KILN_CPU_MATH_OWN
#undef KILN_CPU_MATH_1
#undef KILN_CPU_MATH_2

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double exp10(double) noexcept;
extern "C" float exp10f(float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long lround(double) noexcept;
extern "C" long lroundf(float) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" long long llround(double) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" int ilogbf(float) noexcept;
extern "C" double scalbn(double, int) noexcept;
extern "C" float scalbnf(float, int) noexcept;
extern "C" double scalbln(double, long) noexcept;
extern "C" float scalblnf(float, long) noexcept;
extern "C" double remquo(double, double, int*) noexcept;
extern "C" float remquof(float, float, int*) noexcept;

KILN_CPU_OVERLOAD(float) fma(T x, T y, T z) { return __builtin_fmaf(x, y, z); }
KILN_CPU_OVERLOAD(float) ldexp(T x, int e) { return __builtin_ldexpf(x, e); }
KILN_CPU_OVERLOAD(float) abs(T x) { return __builtin_fabsf(x); }
KILN_CPU_OVERLOAD(double) abs(T x) { return __builtin_fabs(x); }
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
KILN_CPU_OVERLOAD(long) abs(T x) { return x < 0 ? -x : x; }
KILN_CPU_OVERLOAD(long long) abs(T x) { return x < 0 ? -x : x; }
KILN_INLINE float powif(float x, int n) { return __builtin_powif(x, n); }

// The C library's fmaxf is a call; this is a compare and a blend, with the same answer for NaN.
KILN_CPU_C_INLINE float fmaxf(float a, float b) noexcept { return a > b || b != b ? a : b; }
KILN_CPU_C_INLINE float fminf(float a, float b) noexcept { return a < b || b != b ? a : b; }
KILN_CPU_C_INLINE double fmax(double a, double b) noexcept { return a > b || b != b ? a : b; }
KILN_CPU_C_INLINE double fmin(double a, double b) noexcept { return a < b || b != b ? a : b; }
KILN_CPU_OVERLOAD(float) fmax(T a, T b) { return fmaxf(a, b); }
KILN_CPU_OVERLOAD(float) fmin(T a, T b) { return fminf(a, b); }
KILN_INLINE float max(float a, float b) { return fmaxf(a, b); }
KILN_INLINE float min(float a, float b) { return fminf(a, b); }
KILN_INLINE double max(double a, double b) { return fmax(a, b); }
KILN_INLINE double min(double a, double b) { return fmin(a, b); }
KILN_INLINE double max(float a, double b) { return fmax((double)a, b); }
KILN_INLINE double min(float a, double b) { return fmin((double)a, b); }
KILN_INLINE double max(double a, float b) { return fmax(a, (double)b); }
KILN_INLINE double min(double a, float b) { return fmin(a, (double)b); }

template <class T> concept kiln_cpu_float = __is_same(T, float) || __is_same(T, double);
template <kiln_cpu_float T> KILN_INLINE bool isnan(T x) { return __builtin_isnan(x); }
template <kiln_cpu_float T> KILN_INLINE bool isinf(T x) { return __builtin_isinf(x); }
template <kiln_cpu_float T> KILN_INLINE bool isfinite(T x) { return __builtin_isfinite(x); }
template <kiln_cpu_float T> KILN_INLINE bool signbit(T x) { return __builtin_signbit(x); }

KILN_CPU_C_INLINE double nan(const char*) noexcept { return __builtin_nan(""); }
KILN_CPU_C_INLINE float nanf(const char*) noexcept { return __builtin_nanf(""); }

// glibc 2.42 declares rsqrt and rsqrtf with C linkage.
KILN_CPU_OVERLOAD(float) rsqrt(T x) { return rsqrtf(x); }
KILN_CPU_C_INLINE double rsqrt(double x) noexcept { return 1.0 / __builtin_sqrt(x); }
KILN_INLINE float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
KILN_INLINE float kiln_cpu_half_turns(float x) {
    return (x - 2.0f * __builtin_rintf(0.5f * x)) * CUDART_PI_F;
}
KILN_INLINE double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
KILN_INLINE double normcdf(double x) { return 0.5 * __builtin_erfc(x * -M_SQRT1_2); }
KILN_INLINE double kiln_cpu_half_turns(double x) { return (x - 2.0 * __builtin_rint(0.5 * x)) * M_PI; }
KILN_CPU_C_INLINE double sinpi(double x) noexcept { return __builtin_sin(kiln_cpu_half_turns(x)); }
KILN_CPU_C_INLINE double cospi(double x) noexcept { return __builtin_cos(kiln_cpu_half_turns(x)); }
KILN_CPU_C_INLINE float sinpif(float x) noexcept { return __builtin_sinf(kiln_cpu_half_turns(x)); }
KILN_CPU_C_INLINE float cospif(float x) noexcept { return __builtin_cosf(kiln_cpu_half_turns(x)); }

KILN_CPU_C_INLINE float __exp10f(float x) noexcept { return exp2f(x * 3.32192809f); }
KILN_CPU_C_INLINE float __log2f(float x) noexcept { return __builtin_log2f(x); }
KILN_CPU_C_INLINE float __log10f(float x) noexcept { return __builtin_log10f(x); }
KILN_CPU_C_INLINE float __powf(float x, float y) noexcept { return __builtin_powf(x, y); }
KILN_CPU_C_INLINE float __sinf(float x) noexcept { return __builtin_sinf(x); }
KILN_CPU_C_INLINE float __cosf(float x) noexcept { return __builtin_cosf(x); }
KILN_CPU_C_INLINE float __tanf(float x) noexcept { return __builtin_tanf(x); }
KILN_CPU_C_INLINE void __sincosf(float x, float* s, float* c) noexcept { sincosf(x, s, c); }
KILN_INLINE float __fdividef(float x, float y) { return x / y; }
KILN_INLINE float fdividef(float x, float y) { return x / y; }

#endif
