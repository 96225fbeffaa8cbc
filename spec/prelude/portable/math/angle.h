// Sines, cosines and tangents, exact in their reduction of the angle however large it is.
#ifndef KILN_MATH_ANGLE_H
#define KILN_MATH_ANGLE_H

#include "portable/math/pair.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// An angle less a multiple of a right angle: at most pi/4, and the multiple modulo four.
template <class T> struct reduced {
    pair<T> rest;
    int quarter;
};

// Bits of 2/pi, 64 a word, of which the first are before the point.
KILN_INLINE uint64_t two_over_pi(int word) {
    static constexpr uint64_t words[] = {
        0,
        0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
        0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
        0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
        0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
        0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull,
    };
    return words[word];
}

// significand * 2^exponent for exponents of -62 and more, after Payne and Hanek: bits of 2/pi that make
// whole turns are left out, and 192 bits of what follows leave more than enough of the fraction.
KILN_INLINE reduced<double> reduce_far(uint64_t significand, int exponent) {
    int first = exponent + 62, word = first / 64, shift = first % 64;
    uint64_t bits[3];
    for (int i = 0; i < 3; i++) {
        bits[i] = two_over_pi(word + i) << shift;
        if (shift) bits[i] |= two_over_pi(word + i + 1) >> (64 - shift);
    }
    unsigned __int128 low = (unsigned __int128)bits[2] * significand;
    unsigned __int128 middle = (unsigned __int128)bits[1] * significand + (uint64_t)(low >> 64);
    uint64_t high = bits[0] * significand + (uint64_t)(middle >> 64);
    int quarter = (int)(high >> 62);
    unsigned __int128 fraction = (unsigned __int128)high << 64 | (uint64_t)middle;
    fraction = fraction << 2 | (uint64_t)low >> 62;
    bool negative = fraction >> 127;
    if (negative) {
        fraction = -fraction;
        quarter++;
    }
    uint64_t upper = (uint64_t)(fraction >> 64);
    int zeros = upper ? __builtin_clzll(upper) : 63;
    fraction <<= zeros;
    upper = (uint64_t)(fraction >> 64);
    double head = (double)(upper >> 11), tail = (double)((uint64_t)(fraction >> 22) & 0x1fffffffffffffull);
    pair<double> turns{scale(head, -53 - zeros), scale(tail, -106 - zeros)};
    pair<double> rest = product(turns, half_pi<double>());
    return {negative ? negated(rest) : rest, quarter & 3};
}

// pi/2 in three parts; n times the first is taken off exactly.
KILN_INLINE reduced<float> reduce(float x) {
    if (magnitude(x) < 65536.0f) {
        float n = nearest(x * 0.636619747f);
        float rest = fused(-n, 0x1.921fb6p+0f, x);
        pair<float> second = two_product(-n, -0x1.777a5cp-25f);
        pair<float> whole = two_sum(rest, second.high);
        whole.low = fused(-n, -0x1.ee59dap-50f, whole.low + second.low);
        return {quick_sum(whole.high, whole.low), (int)n & 3};
    }
    uint32_t bits = bits_of(x);
    uint64_t significand = (bits & 0x7fffffu) | 0x800000u;
    reduced<double> far = reduce_far(significand, (int)(bits >> 23 & 255) - 150);
    float high = (float)far.rest.high;
    pair<float> rest{high, (float)(far.rest.high - (double)high)};
    if (bits >> 31) return {negated(rest), -far.quarter & 3};
    return {rest, far.quarter};
}
KILN_INLINE reduced<double> reduce(double x) {
    if (magnitude(x) < 65536.0) {
        double n = nearest(x * 0.63661977236758134308);
        pair<double> first = two_product(-n, 0x1.921fb54442d18p+0);
        pair<double> whole = two_sum(x, first.high);
        pair<double> second = two_product(-n, 0x1.1a62633145c07p-54);
        pair<double> rest = two_sum(whole.high, second.high);
        rest.low += first.low + whole.low;
        rest = quick_sum(rest.high, fused(-n, -0x1.f1976b7ed8fbcp-110, rest.low + second.low));
        return {rest, (int)n & 3};
    }
    uint64_t bits = bits_of(x);
    uint64_t significand = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    reduced<double> far = reduce_far(significand, (int)(bits >> 52 & 2047) - 1075);
    if (bits >> 63) return {negated(far.rest), -far.quarter & 3};
    return far;
}

// (sin x - x) / x^3 and (cos x - 1 + x^2/2) / x^4 in z = x^2 <= (pi/4)^2.
KILN_INLINE float sin_tail(float z) {
    return horner(z, -0.166666672f, 0.00833333191f, -0.000198400856f, 2.72498642e-06f);
}
KILN_INLINE double sin_tail(double z) {
    return horner(z, -0.16666666666666666, 0.0083333333333333315, -0.0001984126984126506,
                  2.7557319219335453e-06, -2.5052106231157904e-08, 1.6058531414589011e-10,
                  -7.5866850700912671e-13);
}
KILN_INLINE float cos_tail(float z) {
    return horner(z, 0.0416666679f, -0.00138888881f, 2.48005999e-05f, -2.73009078e-07f);
}
KILN_INLINE double cos_tail(double z) {
    return horner(z, 0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05,
                  -2.755731922140076e-07, 2.0876755790363397e-09, -1.1470460773969325e-11,
                  4.7458652037874553e-14);
}

// Of an angle of at most pi/4.
template <class T> KILN_INLINE pair<T> small_sin(pair<T> x) {
    T z = x.high * x.high;
    T low = fused(x.low * z, (T)-0.5, x.low);
    return quick_sum(x.high, fused(z * x.high, sin_tail(z), low));
}
template <class T> KILN_INLINE pair<T> small_cos(pair<T> x) {
    pair<T> square = two_product(x.high, x.high);
    T z = square.high, half = z * (T)0.5;
    pair<T> whole = quick_sum((T)1, -half);
    T low = fused(square.low, (T)-0.5, -x.high * x.low);
    return quick_sum(whole.high, fused(z * z, cos_tail(z), whole.low + low));
}

template <class T> struct sine_cosine {
    pair<T> sine, cosine;
};
template <class T> KILN_INLINE sine_cosine<T> both(reduced<T> x) {
    pair<T> sine = small_sin(x.rest), cosine = small_cos(x.rest);
    switch (x.quarter) {
        case 0: return {sine, cosine};
        case 1: return {cosine, negated(sine)};
        case 2: return {negated(sine), negated(cosine)};
        default: return {negated(cosine), sine};
    }
}

template <class T> KILN_INLINE T quarter_sin(reduced<T> x) {
    pair<T> size = x.quarter & 1 ? small_cos(x.rest) : small_sin(x.rest);
    return x.quarter & 2 ? -value(size) : value(size);
}

template <class T> KILN_INLINE T sin(T x) {
    if (!is_finite(x)) return x - x;
    return x == 0 ? x : quarter_sin(reduce(x));
}
template <class T> KILN_INLINE T cos(T x) {
    if (!is_finite(x)) return x - x;
    reduced<T> angle = reduce(x);
    angle.quarter = (angle.quarter + 1) & 3;
    return quarter_sin(angle);
}
template <class T> KILN_INLINE void sincos(T x, T* sine, T* cosine) {
    if (!is_finite(x)) {
        *sine = *cosine = x - x;
        return;
    }
    sine_cosine<T> result = both(reduce(x));
    *sine = x == 0 ? x : value(result.sine);
    *cosine = value(result.cosine);
}
template <class T> KILN_INLINE T tan(T x) {
    if (!is_finite(x)) return x - x;
    if (x == 0) return x;
    sine_cosine<T> result = both(reduce(x));
    return value(quotient(result.sine, result.cosine));
}

// x half turns, less a multiple of a quarter turn.
template <class T> KILN_INLINE reduced<T> reduce_half_turns(T x) {
    T turn = x - (T)2 * nearest(x * (T)0.5);
    T n = nearest(turn * (T)2);
    return {product(pair<T>{fused(n, (T)-0.5, turn), 0}, pi<T>()), (int)n & 3};
}
template <class T> KILN_INLINE T sinpi(T x) {
    if (!is_finite(x)) return x - x;
    if (is_integer(x)) return with_sign((T)0, x);
    return quarter_sin(reduce_half_turns(x));
}
template <class T> KILN_INLINE T cospi(T x) {
    if (!is_finite(x)) return x - x;
    reduced<T> angle = reduce_half_turns(x);
    angle.quarter = (angle.quarter + 1) & 3;
    T result = quarter_sin(angle);
    return result == 0 ? (T)0 : result;
}

}  // namespace kiln_math

#endif
