// What the functions of this folder are made of: sums of two numbers kept apart (double-word arithmetic after
// Dekker and Knuth), bits, and polynomials.
//
// The folder is plain C++17 over clang's and g++'s builtins, for devices that come without a mathematical
// library; spec/tests/device_math.rs measures the same code on the host. Exact products need an fma, and no
// other product may be contracted into one: hence the pragma of each file (g++: -ffp-contract=off).
// Polynomials were interpolated in Chebyshev nodes with 60 digits; the argument's range stands beside each.
#ifndef KILN_MATH_PAIR_H
#define KILN_MATH_PAIR_H

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

KILN_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KILN_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
KILN_INLINE float root(float x) { return __builtin_sqrtf(x); }
KILN_INLINE double root(double x) { return __builtin_sqrt(x); }
KILN_INLINE float nearest(float x) { return __builtin_rintf(x); }
KILN_INLINE double nearest(double x) { return __builtin_rint(x); }
KILN_INLINE float magnitude(float x) { return __builtin_fabsf(x); }
KILN_INLINE double magnitude(double x) { return __builtin_fabs(x); }
KILN_INLINE float with_sign(float x, float of) { return __builtin_copysignf(x, of); }
KILN_INLINE double with_sign(double x, double of) { return __builtin_copysign(x, of); }
KILN_INLINE float scale(float x, int exponent) { return __builtin_ldexpf(x, exponent); }
KILN_INLINE double scale(double x, int exponent) { return __builtin_ldexp(x, exponent); }

// Bits of a float and of a double, and the constants that differ.
template <class T> struct format;
template <> struct format<float> {
    typedef uint32_t word;
    static constexpr int mantissa = 23;
    static constexpr int bias = 127;
    static constexpr word infinity = 0x7f800000u;
    static constexpr word root_half = 0x3f3504f3u;  // of sqrt(1/2)
    static constexpr float largest_exp = 104.0f;    // beyond it e^x and e^-x leave the type
    static constexpr float quiet_nan = __builtin_nanf("");
    static constexpr float infinite = __builtin_inff();
    static constexpr float half_pi_high = 1.57079637f, half_pi_low = -4.37113883e-08f;
    static constexpr float log_of_2_high = 0.693147182f, log_of_2_low = -1.90465421e-09f;
    static constexpr float log_of_10_high = 2.30258512f, log_of_10_low = -3.19754356e-08f;
    static constexpr float two_thirds_high = 0x1.555556p-1f, two_thirds_low = -0x1.555556p-26f;
    // ln 2 again, with a first part of which any multiple by an exponent is exact.
    static constexpr float short_log_of_2 = 0x1.62ep-1f, rest_of_log_of_2 = 3.194618329871446e-05f;
};
template <> struct format<double> {
    typedef uint64_t word;
    static constexpr int mantissa = 52;
    static constexpr int bias = 1023;
    static constexpr word infinity = 0x7ff0000000000000ull;
    static constexpr word root_half = 0x3fe6a09e667f3bcdull;
    static constexpr double largest_exp = 746.0;
    static constexpr double quiet_nan = __builtin_nan("");
    static constexpr double infinite = __builtin_inf();
    static constexpr double half_pi_high = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
    static constexpr double log_of_2_high = 0x1.62e42fefa39efp-1, log_of_2_low = 0x1.abc9e3b39803fp-56;
    static constexpr double log_of_10_high = 0x1.26bb1bbb55516p+1;
    static constexpr double log_of_10_low = -0x1.f48ad494ea3e9p-53;
    static constexpr double two_thirds_high = 0x1.5555555555555p-1;
    static constexpr double two_thirds_low = 0x1.5555555555555p-55;
    static constexpr double short_log_of_2 = 0x1.62e42fefa2p-1, rest_of_log_of_2 = 0x1.9ef35793c7673p-41;
};

template <class T> KILN_INLINE typename format<T>::word bits_of(T x) {
    return __builtin_bit_cast(typename format<T>::word, x);
}
template <class T> KILN_INLINE T of_bits(typename format<T>::word bits) {
    return __builtin_bit_cast(T, bits);
}
template <class T> KILN_INLINE bool is_nan(T x) { return x != x; }
template <class T> KILN_INLINE bool is_infinite(T x) { return magnitude(x) == format<T>::infinite; }
template <class T> KILN_INLINE bool is_finite(T x) { return magnitude(x) < format<T>::infinite; }

// Whether a number is an odd integer, or any integer.
template <class T> KILN_INLINE bool is_integer(T x) { return nearest(x) == x; }
template <class T> KILN_INLINE bool is_odd(T x) {
    return is_finite(x) && is_integer(x) && !is_integer(x * (T)0.5);
}

// high + low, where low is at most half a unit in the last place of high.
template <class T> struct pair {
    T high, low;
};

template <class T> KILN_INLINE pair<T> two_sum(T a, T b) {
    T sum = a + b, other = sum - a;
    return pair<T>{sum, (a - (sum - other)) + (b - other)};
}
// For |a| >= |b|, or a = 0.
template <class T> KILN_INLINE pair<T> quick_sum(T a, T b) {
    T sum = a + b;
    return pair<T>{sum, b - (sum - a)};
}
template <class T> KILN_INLINE pair<T> two_product(T a, T b) {
    T product = a * b;
    return pair<T>{product, fused(a, b, -product)};
}
template <class T> KILN_INLINE pair<T> product(pair<T> a, pair<T> b) {
    pair<T> high = two_product(a.high, b.high);
    return quick_sum(high.high, high.low + fused(a.high, b.low, a.low * b.high));
}
template <class T> KILN_INLINE pair<T> sum(pair<T> a, pair<T> b) {
    pair<T> high = two_sum(a.high, b.high);
    return quick_sum(high.high, high.low + (a.low + b.low));
}
template <class T> KILN_INLINE pair<T> quotient(pair<T> a, pair<T> b) {
    T high = a.high / b.high;
    T rest = fused(-high, b.high, a.high) + fused(-high, b.low, a.low);
    return quick_sum(high, rest / b.high);
}
template <class T> KILN_INLINE pair<T> negated(pair<T> a) { return pair<T>{-a.high, -a.low}; }
template <class T> KILN_INLINE pair<T> halved(pair<T> a) {
    return pair<T>{a.high * (T)0.5, a.low * (T)0.5};
}
template <class T> KILN_INLINE T value(pair<T> a) { return a.high + a.low; }

// first + x * (second + x * (.. )), by fma.
template <class T> KILN_INLINE T horner(T, T last) { return last; }
template <class T, class... Rest> KILN_INLINE T horner(T x, T first, Rest... rest) {
    return fused(x, horner(x, (T)rest...), first);
}

// Constants as pairs.
template <class T> KILN_INLINE pair<T> half_pi() {
    return {format<T>::half_pi_high, format<T>::half_pi_low};
}
template <class T> KILN_INLINE pair<T> pi() {
    return {format<T>::half_pi_high * (T)2, format<T>::half_pi_low * (T)2};
}
template <class T> KILN_INLINE pair<T> log_of_2() {
    return {format<T>::log_of_2_high, format<T>::log_of_2_low};
}
template <class T> KILN_INLINE pair<T> log_of_10() {
    return {format<T>::log_of_10_high, format<T>::log_of_10_low};
}
template <class T> KILN_INLINE pair<T> two_thirds() {
    return {format<T>::two_thirds_high, format<T>::two_thirds_low};
}

}  // namespace kiln_math

#endif
