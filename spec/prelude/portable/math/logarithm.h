// Logarithms, what is made of them, and powers.
#ifndef KILN_MATH_LOGARITHM_H
#define KILN_MATH_LOGARITHM_H

#include "portable/math/exponential.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// 2/5 + 2/7 z + 2/9 z^2 + .. for z = s^2 <= 0.02945: the tail of ln((1 + s) / (1 - s)).
KILN_INLINE float log_tail(float z) {
    return horner(z, 0.400000006f, 0.285715312f, 0.222047508f, 0.191207781f);
}
KILN_INLINE double log_tail(double z) {
    return horner(z, 0.40000000000000002, 0.2857142857142857, 0.22222222222222157,
                  0.18181818181846549, 0.15384615378367542, 0.13333334122905927, 0.11764645233976624,
                  0.10529191230770499, 0.094418594260416391, 0.099717988215777251);
}

// ln x of a finite positive pair, good to some ten bits more than the type has.
template <class T> KILN_INLINE pair<T> log_of(pair<T> x) {
    typedef format<T> f;
    typedef typename f::word word;
    int exponent = 0;
    if (bits_of(x.high) < (word)1 << f::mantissa) {
        x.high = scale(x.high, 64);
        exponent = -64;
    }
    word bits = bits_of(x.high), above = bits - f::root_half;
    // Arithmetic shift: exponents below that of one are negative.
    int power = sizeof(T) == 4 ? (int)(int32_t)above >> 23 : (int)((int64_t)above >> 52);
    exponent += power;
    T one = of_bits<T>(bits - ((word)(int64_t)power << f::mantissa));
    T low = scale(x.low, -exponent);
    T over = one - (T)1;
    // s = over / (2 + over), as a pair.
    pair<T> below = quick_sum((T)2, over);
    pair<T> s = quotient(pair<T>{over, low}, pair<T>{below.high, below.low + low});
    pair<T> square = product(s, s);
    pair<T> cubic = product(product(square, s), two_thirds<T>());
    T tail = square.high * square.high * s.high * log_tail(square.high);
    T n = (T)exponent;
    pair<T> whole = two_sum(n * format<T>::short_log_of_2, s.high * (T)2);
    T small = fused(n, format<T>::rest_of_log_of_2, fused(s.low, (T)2, cubic.low) + tail);
    pair<T> more = two_sum(whole.high, cubic.high);
    return quick_sum(more.high, more.low + (whole.low + small));
}

template <class T> KILN_INLINE pair<T> log_of(T x) { return log_of(pair<T>{x, 0}); }

// What a logarithm of an x that is zero, negative, infinite or no number is.
template <class T> KILN_INLINE bool log_is_special(T x) { return !(x > 0 && is_finite(x)); }
template <class T> KILN_INLINE T special_log(T x) {
    return x == 0 ? -format<T>::infinite : x < 0 ? format<T>::quiet_nan : x;
}

template <class T> KILN_INLINE T log(T x) {
    return log_is_special(x) ? special_log(x) : value(log_of(x));
}
template <class T> KILN_INLINE T log2(T x) {
    if (log_is_special(x)) return special_log(x);
    return value(quotient(log_of(x), log_of_2<T>()));
}
template <class T> KILN_INLINE T log10(T x) {
    if (log_is_special(x)) return special_log(x);
    return value(quotient(log_of(x), log_of_10<T>()));
}

// ln(1 + x) of a pair above -1.
template <class T> KILN_INLINE pair<T> log1p_of(pair<T> x) {
    pair<T> whole = two_sum((T)1, x.high);
    whole = quick_sum(whole.high, whole.low + x.low);
    return log_of(whole);
}

template <class T> KILN_INLINE T log1p(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa + 2));
    if (magnitude(x) < small) return x;
    if (!(x > (T)-1 && is_finite(x))) return special_log(x + (T)1);
    return value(log1p_of(pair<T>{x, 0}));
}

template <class T> KILN_INLINE T asinh(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 2));
    constexpr T large = (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 4));
    T size = magnitude(x);
    if (!(size >= small) || is_infinite(x)) return x;
    if (size > large) return with_sign(value(sum(log_of(size), log_of_2<T>())), x);
    // asinh x = ln(1 + x + x^2 / (1 + sqrt(1 + x^2)))
    pair<T> square = two_product(size, size);
    T side = root(square.high + (T)1);
    T more = square.high / (side + (T)1);
    return with_sign(value(log1p_of(two_sum(size, more))), x);
}

template <class T> KILN_INLINE T acosh(T x) {
    constexpr T large = (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 4));
    if (!(x >= (T)1)) return is_nan(x) ? x : format<T>::quiet_nan;
    if (is_infinite(x)) return x;
    if (x > large) return value(sum(log_of(x), log_of_2<T>()));
    // acosh x = ln(1 + t + sqrt(t (t + 2))) with t = x - 1
    T t = x - (T)1;
    pair<T> inside = product(pair<T>{t, 0}, two_sum(t, (T)2));
    T side = root(inside.high);
    T rest = side > 0 ? (fused(-side, side, inside.high) + inside.low) / (side * (T)2) : (T)0;
    pair<T> whole = two_sum(side, t);
    whole.low += rest;
    return value(log1p_of(whole));
}

template <class T> KILN_INLINE T atanh(T x) {
    constexpr T small = (T)1 / (T)((typename format<T>::word)1 << (format<T>::mantissa / 2 + 2));
    T size = magnitude(x);
    if (!(size >= small)) return x;
    if (!(size < (T)1)) return size == (T)1 ? with_sign(format<T>::infinite, x) : format<T>::quiet_nan;
    pair<T> below = two_sum((T)1, -size);
    pair<T> ratio = quotient(pair<T>{size * (T)2, 0}, below);
    return with_sign(value(halved(log1p_of(ratio))), x);
}

// x^y as C has it: pow(x, 0) = pow(1, y) = 1 whatever the other is, odd powers keep the sign.
template <class T> KILN_INLINE T pow(T x, T y) {
    if (y == 0 || x == (T)1) return (T)1;
    if (is_nan(x) || is_nan(y)) return x + y;
    T size = magnitude(x);
    T sign = is_odd(y) ? with_sign((T)1, x) : (T)1;
    if (is_infinite(y)) return size == (T)1 ? (T)1 : (size > (T)1) == (y > 0) ? y * y : (T)0;
    if (x == 0) return y > 0 ? sign * size : sign * format<T>::infinite;
    if (is_infinite(x)) return y > 0 ? sign * size : sign * (T)0;
    if (x < 0 && !is_integer(y)) return format<T>::quiet_nan;
    pair<T> log = log_of(size);
    pair<T> whole = two_product(y, log.high);
    // Beyond every result; the low part would be no number.
    if (!(magnitude(whole.high) < format<T>::largest_exp)) {
        return whole.high > 0 ? sign * format<T>::infinite : sign * (T)0;
    }
    whole.low = fused(y, log.low, whole.low);
    return sign * exp_value(whole);
}

}  // namespace kiln_math

#endif
