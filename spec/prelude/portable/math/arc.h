// Inverse sines, cosines and tangents.
#ifndef KILN_MATH_ARC_H
#define KILN_MATH_ARC_H

#include "portable/math/pair.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// (atan x - x) / x^3 in z = x^2 <= 0.1717.
KILN_INLINE float atan_tail(float z) {
    return horner(z, -0.333333343f, 0.199999765f, -0.142841473f, 0.110712878f, -0.0862409845f,
                  0.050466489f);
}
KILN_INLINE double atan_tail(double z) {
    return horner(z, -0.33333333333333331, 0.19999999999999993, -0.14285714285711498,
                  0.11111111110752325, -0.090909090668664455, 0.076923067309617954,
                  -0.066666419083020512, 0.058819236261333008, -0.052580257920073425,
                  0.047192944054738367, -0.041040297505018211, 0.030626287828475894,
                  -0.013908703447288225);
}
// (asin x - x) / x^3 in z = x^2 <= 1/4.
KILN_INLINE float asin_tail(float z) {
    return horner(z, 0.166666657f, 0.0750009418f, 0.0445994027f, 0.0311006624f, 0.0171492379f,
                  0.0336908475f);
}
KILN_INLINE double asin_tail(double z) {
    return horner(z, 0.16666666666666666, 0.075000000000001177, 0.044642857142551895,
                  0.03038194447553234, 0.022372157443507221, 0.017352816540325496, 0.01396378001220357,
                  0.011566459612121669, 0.0096218429701002816, 0.0093195607947674456,
                  0.0030448799094556773, 0.019554513336123378, -0.019241671746743041,
                  0.029612011264955121);
}

// atan of a pair in [0, 1].
template <class T> KILN_INLINE pair<T> first_atan(pair<T> x) {
    bool upper = x.high > (T)0.4142135623730950488;
    pair<T> base{upper ? half_pi<T>().high * (T)0.5 : (T)0, upper ? half_pi<T>().low * (T)0.5 : (T)0};
    if (upper) x = quotient(sum(x, pair<T>{(T)-1, 0}), sum(x, pair<T>{(T)1, 0}));
    T z = x.high * x.high;
    T tail = z * x.high * atan_tail(z);
    pair<T> whole = two_sum(base.high, x.high);
    return quick_sum(whole.high, whole.low + (base.low + (fused(-x.low, z, x.low) + tail)));
}

template <class T> KILN_INLINE T atan(T x) {
    if (is_nan(x)) return x;
    T size = magnitude(x);
    if (size > (T)1) {
        pair<T> rest = is_infinite(x) ? pair<T>{0, 0} : quotient(pair<T>{(T)1, 0}, pair<T>{size, 0});
        return with_sign(value(sum(half_pi<T>(), negated(first_atan(rest)))), x);
    }
    return x == 0 ? x : with_sign(value(first_atan(pair<T>{size, 0})), x);
}

template <class T> KILN_INLINE T atan2(T y, T x) {
    if (is_nan(x) || is_nan(y)) return x + y;
    T up = magnitude(y), along = magnitude(x);
    bool steep = up > along;
    T less = steep ? along : up, more = steep ? up : along;
    pair<T> ratio{0, 0};
    if (is_infinite(less)) {
        ratio.high = (T)1;
    } else if (less != 0 && !is_infinite(more)) {
        // Both are scaled to where neither the quotient's products nor its rest leave the type.
        int shift = (int)(bits_of(more) >> format<T>::mantissa) - format<T>::bias;
        less = scale(less, -shift);
        more = scale(more, -shift);
        ratio = quotient(pair<T>{less, 0}, pair<T>{more, 0});
        if (!(less > (T)0)) ratio = pair<T>{0, 0};
    }
    pair<T> angle = first_atan(ratio);
    if (steep) angle = sum(half_pi<T>(), negated(angle));
    if (bits_of(x) >> (8 * sizeof(T) - 1)) angle = sum(pi<T>(), negated(angle));
    return with_sign(value(angle), y);
}

// asin x for |x| <= 1/2, as a pair; of a pair, whose low part is passed on.
template <class T> KILN_INLINE pair<T> small_asin(pair<T> x) {
    T z = x.high * x.high;
    return quick_sum(x.high, fused(z * x.high, asin_tail(z), x.low));
}
// sqrt((1 - x) / 2) for 1/2 <= x <= 1.
template <class T> KILN_INLINE pair<T> half_chord(T x) {
    T z = ((T)1 - x) * (T)0.5, side = root(z);
    T rest = side > 0 ? fused(-side, side, z) / (side * (T)2) : (T)0;
    return {side, rest};
}

template <class T> KILN_INLINE T asin(T x) {
    T size = magnitude(x);
    if (!(size <= (T)1)) return is_nan(x) ? x : format<T>::quiet_nan;
    if (size <= (T)0.5) return x == 0 ? x : value(small_asin(pair<T>{x, 0}));
    pair<T> half = small_asin(half_chord(size));
    pair<T> twice{half.high * (T)-2, half.low * (T)-2};
    return with_sign(value(sum(half_pi<T>(), twice)), x);
}

template <class T> KILN_INLINE T acos(T x) {
    T size = magnitude(x);
    if (!(size <= (T)1)) return is_nan(x) ? x : format<T>::quiet_nan;
    if (size <= (T)0.5) return value(sum(half_pi<T>(), negated(small_asin(pair<T>{x, 0}))));
    pair<T> half = small_asin(half_chord(size));
    pair<T> angle{half.high * (T)2, half.low * (T)2};
    return value(x < 0 ? sum(pi<T>(), negated(angle)) : angle);
}

}  // namespace kiln_math

#endif
