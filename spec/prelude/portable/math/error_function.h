// The error function, its complement, and the normal distribution.
#ifndef KILN_MATH_ERROR_FUNCTION_H
#define KILN_MATH_ERROR_FUNCTION_H

#include "portable/math/exponential.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// erf x / x - 1 in z = x^2 <= 1.
KILN_INLINE float erf_tail(float z) {
    return horner(z, 0.128379166f, -0.376126379f, 0.112837821f, -0.0268654302f, 0.00522103161f,
                  -0.000848408032f, 0.000112659589f, -9.66704465e-06f);
}
KILN_INLINE double erf_tail(double z) {
    return horner(z, 0.12837916709551259, -0.37612638903183754, 0.11283791670955126,
                  -0.026866170645131218, 0.0052239776254416736, -0.0008548327023403001,
                  0.00012055332978879483, -1.4925650236967501e-05, 1.6462110782018636e-06,
                  -1.6365768648832071e-07, 1.4806027146128752e-08, -1.2277734486795524e-09,
                  9.3237235181530271e-11, -6.1967364287876997e-12, 2.8067128195611264e-13);
}

// (1 + 2x) e^(x^2) erfc x for x >= 0.9, after Shepherd and Laframboise: a polynomial in (x - k) / (x + k).
KILN_INLINE float scaled_erfc(float x) {
    float q = (x - 2.0f) / (x + 2.0f);
    return horner(q, 1.27697837f, -0.0927638188f, -0.166030154f, 0.164050892f, -0.0542273149f,
                  -0.00802174211f, 0.00879108533f, 0.00112881116f, -0.00163163815f, 8.71856028e-05f);
}
KILN_INLINE double scaled_erfc(double x) {
    double q = (x - 4.0) / (x + 4.0);
    return horner(q, 1.2329951186255526, -0.1396211168405625, 0.015379652102620137,
                  0.068097054254688427, -0.10103906603633306, 0.093732834998553449,
                  -0.066330365811401601, 0.037167515532971367, -0.016197734069589072,
                  0.0050319700334288875, -0.00075777319145486184, -0.0001992571100795695,
                  0.0001506211996347918, -2.4397226190633484e-05, -1.1220661899005768e-05,
                  5.7035807479813551e-06, 2.9176598039407705e-07, -8.1338516370831307e-07,
                  7.5351099975508178e-08, 9.6164960899761875e-08, -1.6036493607385162e-08,
                  -6.169916731083338e-09);
}

// erfc of x >= 0.9.
template <class T> KILN_INLINE T far_erfc(T x) {
    constexpr T end = sizeof(T) == 4 ? (T)10.1 : (T)27.3;  // smaller than every number from there
    if (x > end) return (T)0;
    pair<T> square = two_product(x, x);
    split_exp<T> e = exp_of(negated(square));
    T size = value(plus_1(e.rest)) * (scaled_erfc(x) / fused(x, (T)2, (T)1));
    return scale(size, e.exponent);
}

template <class T> KILN_INLINE T erf(T x) {
    T size = magnitude(x);
    if (!(size > (T)0.9)) return fused(x, erf_tail(x * x), x);
    return with_sign(size > (T)6 ? (T)1 : (T)1 - far_erfc(size), x);
}

template <class T> KILN_INLINE T erfc(T x) {
    if (is_nan(x)) return x;
    if (x > (T)0.9) return far_erfc(x);
    if (x < (T)-0.9) return (T)2 - far_erfc(-x);
    pair<T> less = two_sum((T)1, -x);
    return less.high + fused(-x, erf_tail(x * x), less.low);
}

template <class T> KILN_INLINE T normcdf(T x) {
    // erfc(a + b) for a small b changes by -2/sqrt(pi) b e^(-a^2), which is erfc(a) (-2 a b) for a large a.
    constexpr T scale_high = (T)-0.70710678118654752440;
    constexpr T scale_low = (T)(sizeof(T) == 4 ? -1.21016175e-08 : 4.8336466567264567e-17);
    T bounded = x < (T)-40 ? (T)-40 : x > (T)40 ? (T)40 : x;
    pair<T> a = two_product(bounded, scale_high);
    a = quick_sum(a.high, fused(bounded, scale_low, a.low));
    T result = erfc(a.high);
    if (a.high > (T)1) result = fused((T)-2 * a.high * a.low, result, result);
    return result * (T)0.5;
}

}  // namespace kiln_math

#endif
