// Exponentials and what is made of them.
#ifndef KILN_MATH_EXPONENTIAL_H
#define KILN_MATH_EXPONENTIAL_H

#include "portable/math/pair.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// (e^x - 1 - x - x^2/2) / x^3 for |x| <= 0.3467.
KILN_INLINE float exp_tail(float x) {
    return horner(x, 0.166666672f, 0.0416665561f, 0.00833332073f, 0.00139262038f, 0.000198827198f);
}
KILN_INLINE double exp_tail(double x) {
    return horner(x, 0.16666666666666666, 0.041666666666666671, 0.0083333333333333332,
                  0.0013888888888883737, 0.00019841269841266407, 2.4801587325585839e-05,
                  2.7557319239982491e-06, 2.7557273594799413e-07, 2.5052077970128781e-08,
                  2.0914707069612355e-09, 1.6084341282207346e-10);
}

// e^x = 2^exponent * (1 + rest): the rest of an x that is no larger than format::largest_exp.
template <class T> struct split_exp {
    pair<T> rest;
    int exponent;
};

// e^(x) - 1 for |x| <= 0.3467.
template <class T> KILN_INLINE pair<T> small_exp(pair<T> x) {
    T tail = x.high * x.high * fused(x.high, exp_tail(x.high), (T)0.5);
    return quick_sum(x.high, fused(x.low, x.high, x.low) + tail);
}

template <class T> KILN_INLINE split_exp<T> exp_of(pair<T> x) {
    T n = nearest(x.high * (T)1.44269504088896340736);
    T rest = fused(-n, format<T>::short_log_of_2, x.high);
    pair<T> reduced = two_sum(rest, -n * format<T>::rest_of_log_of_2);
    reduced.low += x.low;
    return {small_exp(quick_sum(reduced.high, reduced.low)), (int)n};
}

template <class T> KILN_INLINE T clamped(T x) {
    constexpr T bound = format<T>::largest_exp;
    return x > bound ? bound : x < -bound ? -bound : x;
}

// 1 + rest, rounded once but for its pair's error.
template <class T> KILN_INLINE pair<T> plus_1(pair<T> rest) {
    pair<T> whole = quick_sum((T)1, rest.high);
    return quick_sum(whole.high, whole.low + rest.low);
}

// e^x for a pair whose high part may be of any size.
template <class T> KILN_INLINE T exp_value(pair<T> x) {
    split_exp<T> e = exp_of(pair<T>{clamped(x.high), x.low});
    return scale(value(plus_1(e.rest)), e.exponent);
}

template <class T> KILN_INLINE T exp(T x) {
    return is_nan(x) ? x : exp_value(pair<T>{x, 0});
}

template <class T> KILN_INLINE T exp2(T x) {
    if (is_nan(x)) return x;
    T bounded = x > (T)1200 ? (T)1200 : x < (T)-1200 ? (T)-1200 : x;
    T n = nearest(bounded);
    pair<T> rest = product(pair<T>{bounded - n, 0}, log_of_2<T>());
    return scale(value(plus_1(small_exp(rest))), (int)n);
}

template <class T> KILN_INLINE T exp10(T x) {
    if (is_nan(x)) return x;
    T bounded = x > (T)400 ? (T)400 : x < (T)-400 ? (T)-400 : x;
    return exp_value(product(pair<T>{bounded, 0}, log_of_10<T>()));
}

// e^x - 1 for |x| <= format::largest_exp, except where e^x leaves the type.
template <class T> KILN_INLINE pair<T> expm1_pair(T x) {
    split_exp<T> e = exp_of(pair<T>{x, 0});
    if (e.exponent == 0) return e.rest;
    T power = scale((T)1, e.exponent);
    pair<T> whole = two_sum(power - (T)1, power * e.rest.high);
    if (e.exponent > format<T>::mantissa + 1) whole.low -= (T)1;
    if (e.exponent < -format<T>::mantissa - 1) whole.low += power;
    return quick_sum(whole.high, fused(power, e.rest.low, whole.low));
}

template <class T> KILN_INLINE T expm1(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa + 2));
    if (!(magnitude(x) >= small)) return x;
    if (x < (T)-44) return (T)-1;
    if (x > (T)43) return exp(x);
    return value(expm1_pair(x));
}

template <class T> KILN_INLINE T sinh(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 2));
    T size = magnitude(x);
    if (!(size >= small)) return x;
    T result;
    if (size > (T)22) {
        split_exp<T> e = exp_of(pair<T>{clamped(size), 0});
        result = scale(value(plus_1(e.rest)), e.exponent - 1);
    } else {
        pair<T> less = expm1_pair(size);
        pair<T> other = quotient(less, sum(less, pair<T>{(T)1, 0}));
        result = value(halved(sum(less, other)));
    }
    return with_sign(result, x);
}

template <class T> KILN_INLINE T cosh(T x) {
    T size = magnitude(x);
    if (is_nan(x)) return x;
    split_exp<T> e = exp_of(pair<T>{clamped(size), 0});
    pair<T> whole = plus_1(e.rest);
    if (size > (T)22) return scale(value(whole), e.exponent - 1);
    pair<T> power{scale(whole.high, e.exponent), scale(whole.low, e.exponent)};
    return value(halved(sum(power, quotient(pair<T>{(T)1, 0}, power))));
}

// (tanh x - x) / x^3 in z = x^2 <= 0.3136.
KILN_INLINE float tanh_tail(float z) {
    return horner(z, -0.333333313f, 0.133330822f, -0.0539033487f, 0.0212727487f, -0.00654254202f);
}

// In single precision by the device's own exponential and division: kernels call it often.
KILN_INLINE float quick_tanh(float x) {
    float size = magnitude(x), z = x * x;
    float small = fused(x * z, tanh_tail(z), x);
    float large = 1.0f - 2.0f / (__builtin_expf(size * 2.0f) + 1.0f);
    return is_nan(x) ? x : with_sign(size < 0.55f ? small : large, x);
}

template <class T> KILN_INLINE T tanh(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 2));
    T size = magnitude(x);
    if (!(size >= small)) return x;
    if (size > (T)22) return with_sign((T)1, x);
    pair<T> less = expm1_pair(size * (T)2);
    return with_sign(value(quotient(less, sum(less, pair<T>{(T)2, 0}))), x);
}

}  // namespace kiln_math

#endif
