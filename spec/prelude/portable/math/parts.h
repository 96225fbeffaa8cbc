// Remainders, and the parts of a number.
#ifndef KILN_MATH_PARTS_H
#define KILN_MATH_PARTS_H

#include "portable/math/pair.h"

namespace kiln_math {

// A positive number as significand * 2^exponent, the significand with its leading bit in place.
template <class T> struct parts {
    uint64_t significand;
    int exponent;
};
template <class T> KILN_INLINE parts<T> parts_of(T x) {
    typedef format<T> f;
    uint64_t bits = bits_of(magnitude(x));
    uint64_t significand = bits & (((uint64_t)1 << f::mantissa) - 1);
    int exponent = (int)(bits >> f::mantissa);
    if (exponent) return {significand | (uint64_t)1 << f::mantissa, exponent - f::bias - f::mantissa};
    int zeros = __builtin_clzll(significand) - (63 - f::mantissa);
    return {significand << zeros, 1 - f::bias - f::mantissa - zeros};
}

// x modulo y and the last bit of the quotient, exactly, for finite positive numbers.
template <class T> struct division {
    T rest;
    bool odd;
};
template <class T> KILN_INLINE division<T> divide(T x, T y) {
    if (x < y) return {x, false};
    parts<T> a = parts_of(x), b = parts_of(y);
    // As many bits a step as fit beside the divisor's.
    constexpr int step = 62 - format<T>::mantissa;
    int left = a.exponent - b.exponent;
    uint64_t rest = a.significand, quotient = rest / b.significand;
    rest -= quotient * b.significand;
    while (left > 0) {
        int bits = left < step ? left : step;
        rest <<= bits;
        quotient = rest / b.significand;
        rest -= quotient * b.significand;
        left -= bits;
    }
    return {scale((T)rest, b.exponent), (quotient & 1) != 0};
}

template <class T> KILN_INLINE T fmod(T x, T y) {
    if (!is_finite(x) || is_nan(y) || y == 0) return format<T>::quiet_nan;
    if (is_infinite(y)) return x;
    return with_sign(divide(magnitude(x), magnitude(y)).rest, x);
}

template <class T> KILN_INLINE T remainder(T x, T y) {
    if (!is_finite(x) || is_nan(y) || y == 0) return format<T>::quiet_nan;
    if (is_infinite(y)) return x;
    T by = magnitude(y);
    division<T> d = divide(magnitude(x), by);
    // More than half of y, or half with an odd quotient: halves of the smallest numbers are not exact.
    T other = by - d.rest;
    bool up = d.rest > other || (d.rest == other && d.odd);
    T rest = up ? -other : d.rest;
    if (rest == 0) return with_sign((T)0, x);
    return bits_of(x) >> (8 * sizeof(T) - 1) ? -rest : rest;
}

// The three lowest bits of the quotient, which *quotient gets, are those of a quotient by 8 y too.
template <class T> KILN_INLINE T remquo(T x, T y, int* quotient) {
    T rest = remainder(x, y), by = magnitude(y), eight = by * (T)8;
    *quotient = 0;
    if (is_nan(rest) || is_infinite(y)) return rest;
    T less = is_infinite(eight) ? magnitude(x) : fmod(magnitude(x), eight);
    T part = is_infinite(eight) ? (T)0.25 : (T)1;  // against overflow
    int count = (int)nearest((less * part - remainder(less, by) * part) / (by * part)) & 7;
    bool opposite = (bits_of(x) ^ bits_of(y)) >> (8 * sizeof(T) - 1) != 0;
    *quotient = opposite ? -count : count;
    return rest;
}

template <class T> KILN_INLINE T frexp(T x, int* exponent) {
    *exponent = 0;
    if (x == 0 || !is_finite(x)) return x;
    parts<T> p = parts_of(x);
    *exponent = p.exponent + format<T>::mantissa + 1;
    return with_sign(scale((T)p.significand, -format<T>::mantissa - 1), x);
}

template <class T> KILN_INLINE T logb(T x) {
    if (x == 0) return -format<T>::infinite;
    if (!is_finite(x)) return is_nan(x) ? x : format<T>::infinite;
    return (T)(parts_of(x).exponent + format<T>::mantissa);
}
template <class T> KILN_INLINE int ilogb(T x) {
    if (x == 0 || is_nan(x)) return -2147483647 - 1;
    if (is_infinite(x)) return 2147483647;
    return parts_of(x).exponent + format<T>::mantissa;
}

template <class T> KILN_INLINE T nextafter(T x, T towards) {
    typedef typename format<T>::word word;
    if (is_nan(x) || is_nan(towards)) return x + towards;
    if (x == towards) return towards;
    if (x == 0) return with_sign(of_bits<T>(1), towards);
    word bits = bits_of(x);
    return of_bits<T>((x < towards) == (x > 0) ? bits + 1 : bits - 1);
}

}  // namespace kiln_math

#endif
