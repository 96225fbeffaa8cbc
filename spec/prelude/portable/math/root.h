// Cube roots and hypotenuses.
#ifndef KILN_MATH_ROOT_H
#define KILN_MATH_ROOT_H

#include "portable/math/pair.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// x^(-1/3) of a normal positive number: a third of the exponent in bits, then Newton's steps r (4 - x r^3) / 3.
KILN_INLINE float reciprocal_cube_root_guess(float x) {
    return of_bits<float>(0x54a24000u - bits_of(x) / 3);
}
KILN_INLINE double reciprocal_cube_root_guess(double x) {
    return of_bits<double>(0x553ef00000000000ull - bits_of(x) / 3);
}
template <class T> KILN_INLINE T reciprocal_cube_root(T x) {
    T r = reciprocal_cube_root_guess(x);
    constexpr int steps = sizeof(T) == 4 ? 3 : 4;
    for (int i = 0; i < steps; i++) {
        T cube = x * r * r * r;
        r = fused(r, ((T)1 - cube) * (T)(1.0 / 3.0), r);
    }
    return r;
}

template <class T> KILN_INLINE T cbrt(T x) {
    if (x == 0 || !is_finite(x)) return x;
    T size = magnitude(x);
    int shift = 0;
    if (bits_of(size) < (typename format<T>::word)1 << format<T>::mantissa) {
        size = scale(size, 54);
        shift = -18;
    }
    T r = reciprocal_cube_root(size);
    T square = r * r, side = size * square;
    // What the cube of `side` lacks of x, exactly, over three times its square.
    pair<T> power = product(two_product(side, side), pair<T>{side, 0});
    T lacking = (size - power.high) - power.low;
    return with_sign(scale(fused(lacking * square, (T)(1.0 / 3.0), side), shift), x);
}

template <class T> KILN_INLINE T rcbrt(T x) {
    if (x == 0) return with_sign(format<T>::infinite, x);
    if (!is_finite(x)) return is_nan(x) ? x : with_sign((T)0, x);
    return (T)1 / cbrt(x);
}

template <class T> KILN_INLINE T hypot(T x, T y) {
    if (is_infinite(x) || is_infinite(y)) return format<T>::infinite;
    if (is_nan(x) || is_nan(y)) return x + y;
    T a = magnitude(x), b = magnitude(y);
    T more = a > b ? a : b, less = a > b ? b : a;
    if (more == 0) return more;
    int shift = (int)(bits_of(more) >> format<T>::mantissa) - format<T>::bias;
    more = scale(more, -shift);
    less = scale(less, -shift);
    pair<T> square = sum(two_product(more, more), two_product(less, less));
    T side = root(square.high);
    T rest = (fused(-side, side, square.high) + square.low) / (side * (T)2);
    return scale(side + rest, shift);
}

}  // namespace kiln_math

#endif
