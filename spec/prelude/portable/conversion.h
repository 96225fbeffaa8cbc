// Operations whose rounding is in their names, and conversions between numbers.
#ifndef KILN_CONVERSION_H
#define KILN_CONVERSION_H

#include "portable/rounding.h"

// Keeps a product from becoming part of an fma.
#if defined(__clang__)
#define KILN_UNFUSED _Pragma("clang fp contract(off)")
#define KILN_APART(x) (x)
#else
#define KILN_UNFUSED
#define KILN_APART(x) __builtin_assoc_barrier(x)
#endif

KILN_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

#define KILN_OPERATION(name, T, op)                                                                    \
    KILN_INLINE T name##_rn(T x, T y) {                                                                \
        KILN_UNFUSED                                                                                   \
        return KILN_APART(KILN_APART(x) op KILN_APART(y));                                             \
    }
KILN_OPERATION(__fadd, float, +)
KILN_OPERATION(__fsub, float, -)
KILN_OPERATION(__fmul, float, *)
KILN_OPERATION(__fdiv, float, /)
KILN_OPERATION(__dadd, double, +)
KILN_OPERATION(__dsub, double, -)
KILN_OPERATION(__dmul, double, *)
KILN_OPERATION(__ddiv, double, /)
#undef KILN_OPERATION
#undef KILN_UNFUSED
#undef KILN_APART
KILN_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KILN_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KILN_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
// Right for every float: no reciprocal root is nearer to the middle of two floats than the error in double.
KILN_INLINE float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
KILN_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
KILN_INLINE double __drcp_rn(double x) { return 1.0 / x; }
KILN_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }

// Results as pairs of doubles. Products of floats are exact in double, so it does not matter whether the compiler fuses
// them with a sum. The low part of a quotient or a root is what the high part lacks.
KILN_INLINE kiln_exact kiln_exact_fma(float x, float y, float z) { return kiln_exact_sum((double)x * (double)y, (double)z); }
KILN_INLINE kiln_exact kiln_exact_quotient(float x, float y) {
    double high = (double)x / (double)y;
    return kiln_exact{high, __builtin_fma(-high, (double)y, (double)x) / (double)y};
}
KILN_INLINE kiln_exact kiln_exact_root(float x) {
    double high = __builtin_sqrt((double)x);
    return kiln_exact{high, __builtin_fma(-high, high, (double)x) / (2 * high)};
}
// A sum that is exactly zero is -0 if it is rounded down, unless both parts are +0.
KILN_INLINE float kiln_sum_down(float x, float y, kiln_exact sum) {
    float nearest = (float)sum.high;
    if (sum.high == 0) return kiln_is_negative(x) || kiln_is_negative(y) ? -0.0f : nearest;
    return kiln_down(nearest, sum.high, sum.low);
}
#define KILN_TOWARD(how, function)                                                                     \
    KILN_INLINE float __fmul_##how(float x, float y) {                                                 \
        double product = (double)x * (double)y;                                                        \
        return function((float)product, product);                                                      \
    }                                                                                                  \
    KILN_INLINE float __fdiv_##how(float x, float y) {                                                 \
        kiln_exact quotient = kiln_exact_quotient(x, y);                                               \
        return function((float)quotient.high, quotient.high, quotient.low);                            \
    }                                                                                                  \
    KILN_INLINE float __frcp_##how(float x) { return __fdiv_##how(1.0f, x); }                          \
    KILN_INLINE float __fsqrt_##how(float x) {                                                         \
        kiln_exact root = kiln_exact_root(x);                                                          \
        return function((float)root.high, root.high, root.low);                                        \
    }                                                                                                  \
    KILN_INLINE float __double2float_##how(double x) { return function((float)x, x); }                 \
    KILN_INLINE float __int2float_##how(int x) { return __double2float_##how((double)x); }             \
    KILN_INLINE float __uint2float_##how(unsigned int x) { return __double2float_##how((double)x); }   \
    KILN_INLINE float __ll2float_##how(long long x) {                                                  \
        kiln_exact whole = kiln_exact_sum((double)(x >> 32) * 0x1p32, (double)(unsigned int)x);        \
        return function((float)x, whole.high, whole.low);                                              \
    }                                                                                                  \
    KILN_INLINE float __ull2float_##how(unsigned long long x) {                                        \
        kiln_exact whole = kiln_exact_sum((double)(x >> 32) * 0x1p32, (double)(unsigned int)x);        \
        return function((float)x, whole.high, whole.low);                                              \
    }
KILN_TOWARD(rz, kiln_toward_zero)
KILN_TOWARD(rd, kiln_down)
KILN_TOWARD(ru, kiln_up)
#undef KILN_TOWARD
#define KILN_TOWARD_SUM(how, function)                                                                 \
    KILN_INLINE float __fmaf_##how(float x, float y, float z) {                                        \
        kiln_exact sum = kiln_exact_fma(x, y, z);                                                      \
        return function((float)sum.high, sum.high, sum.low);                                           \
    }                                                                                                  \
    KILN_INLINE float __fadd_##how(float x, float y) { return __fmaf_##how(x, 1.0f, y); }              \
    KILN_INLINE float __fsub_##how(float x, float y) { return __fmaf_##how(x, 1.0f, -y); }
KILN_TOWARD_SUM(rz, kiln_toward_zero)
KILN_TOWARD_SUM(ru, kiln_up)
#undef KILN_TOWARD_SUM
KILN_INLINE float __fmaf_rd(float x, float y, float z) { return kiln_sum_down(x * y, z, kiln_exact_fma(x, y, z)); }
KILN_INLINE float __fadd_rd(float x, float y) { return __fmaf_rd(x, 1.0f, y); }
KILN_INLINE float __fsub_rd(float x, float y) { return __fmaf_rd(x, 1.0f, -y); }

#include "portable/double_rounding.h"

// Conversions saturate; a plain cast would be undefined. A NaN becomes 0, but the top bit alone if it is a double or
// the result has 64 bits: PTX ISA, 9.7.9.21, "cvt".
#define KILN_CONVERT_TO(From, name, To, low, high, of_nan)                                             \
    KILN_INLINE To kiln_to_##name(From x) {                                                            \
        return x >= (From)high ? (To)(high - 1) : x <= (From)low ? (To)low : x == x ? (To)x : (To)(of_nan); \
    }
#define KILN_CONVERT(From, name, To, low, high, of_nan)                                                \
    KILN_CONVERT_TO(From, name, To, low, high, of_nan)                                                 \
    KILN_INLINE To __##name##_rn(From x) { return kiln_to_##name(rint(x)); }                           \
    KILN_INLINE To __##name##_rz(From x) { return kiln_to_##name(x); }                                 \
    KILN_INLINE To __##name##_rd(From x) { return kiln_to_##name(floor(x)); }                          \
    KILN_INLINE To __##name##_ru(From x) { return kiln_to_##name(ceil(x)); }
#define KILN_LOW_64 (-(__int128)9223372036854775807ll - 1)
#define KILN_HIGH_64 ((__int128)1 << 63)
KILN_CONVERT(float, float2int, int, -2147483648ll, 2147483648ll, 0)
KILN_CONVERT(float, float2uint, unsigned int, 0, 4294967296ll, 0)
KILN_CONVERT(float, float2ll, long long, KILN_LOW_64, KILN_HIGH_64, KILN_LOW_64)
KILN_CONVERT(float, float2ull, unsigned long long, 0, ((__int128)1 << 64), KILN_HIGH_64)
KILN_CONVERT(double, double2int, int, -2147483648ll, 2147483648ll, -2147483648ll)
KILN_CONVERT(double, double2uint, unsigned int, 0, 4294967296ll, 2147483648ll)
KILN_CONVERT(double, double2ll, long long, KILN_LOW_64, KILN_HIGH_64, KILN_LOW_64)
KILN_CONVERT(double, double2ull, unsigned long long, 0, ((__int128)1 << 64), KILN_HIGH_64)
KILN_CONVERT_TO(float, float2short, short, -32768, 32768, 0)
KILN_CONVERT_TO(float, float2ushort, unsigned short, 0, 65536, 0)
KILN_CONVERT_TO(float, float2char, signed char, -128, 128, 0)
KILN_CONVERT_TO(float, float2uchar, unsigned char, 0, 256, 0)
#undef KILN_LOW_64
#undef KILN_HIGH_64
#undef KILN_CONVERT
#undef KILN_CONVERT_TO
KILN_INLINE float __int2float_rn(int x) { return (float)x; }
KILN_INLINE float __uint2float_rn(unsigned int x) { return (float)x; }
KILN_INLINE float __ll2float_rn(long long x) { return (float)x; }
KILN_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
KILN_INLINE double __int2double_rn(int x) { return (double)x; }
KILN_INLINE double __uint2double_rn(unsigned int x) { return (double)x; }
KILN_INLINE double __ll2double_rn(long long x) { return (double)x; }
KILN_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }
KILN_INLINE float __double2float_rn(double x) { return (float)x; }

// The larger and the smaller of two 16-bit floats, of which +0 is the larger zero. A NaN loses.
template <class T> KILN_INLINE T kiln_higher(T a, T b) {
#ifndef KILN_HIP
    // The hardware of AMD orders zeros itself.
    if ((float)a == (float)b) return kiln_bits<T>((unsigned short)(kiln_bits<unsigned short>(a) & kiln_bits<unsigned short>(b)));
#endif
    return (T)fmaxf((float)a, (float)b);
}
template <class T> KILN_INLINE T kiln_lower(T a, T b) {
#ifndef KILN_HIP
    if ((float)a == (float)b) return kiln_bits<T>((unsigned short)(kiln_bits<unsigned short>(a) | kiln_bits<unsigned short>(b)));
#endif
    return (T)fminf((float)a, (float)b);
}
template <class T> KILN_INLINE bool kiln_is_pair_of_numbers(T a, T b) {
    return (float)a == (float)a && (float)b == (float)b;
}

#endif
