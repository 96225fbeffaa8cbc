// Operations whose rounding is in their names, and conversions between numbers.
#ifndef KILN_CONVERSION_H
#define KILN_CONVERSION_H

KILN_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

KILN_INLINE float __fadd_rn(float x, float y) { return x + y; }
KILN_INLINE float __fsub_rn(float x, float y) { return x - y; }
KILN_INLINE float __fmul_rn(float x, float y) { return x * y; }
KILN_INLINE float __fdiv_rn(float x, float y) { return x / y; }
KILN_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KILN_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KILN_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
KILN_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }

// Conversions saturate and take NaN to zero, as on a GPU; a plain cast would be undefined.
#define KILN_CONVERT(From, name, To, low, high)                                                        \
    KILN_INLINE To kiln_to_##name(From x) {                                                            \
        return x >= (From)high ? (To)(high - 1) : x <= (From)low ? (To)low : x == x ? (To)x : (To)0;   \
    }                                                                                                  \
    KILN_INLINE To __##name##_rn(From x) { return kiln_to_##name(rint(x)); }                           \
    KILN_INLINE To __##name##_rz(From x) { return kiln_to_##name(x); }                                 \
    KILN_INLINE To __##name##_rd(From x) { return kiln_to_##name(floor(x)); }                          \
    KILN_INLINE To __##name##_ru(From x) { return kiln_to_##name(ceil(x)); }
KILN_CONVERT(float, float2int, int, -2147483648ll, 2147483648ll)
KILN_CONVERT(float, float2uint, unsigned int, 0, 4294967296ll)
KILN_CONVERT(float, float2ll, long long, -(__int128)9223372036854775807ll - 1, ((__int128)1 << 63))
KILN_CONVERT(double, double2int, int, -2147483648ll, 2147483648ll)
KILN_CONVERT(double, double2uint, unsigned int, 0, 4294967296ll)
#undef KILN_CONVERT
KILN_INLINE float __int2float_rn(int x) { return (float)x; }
KILN_INLINE float __uint2float_rn(unsigned int x) { return (float)x; }
KILN_INLINE float __ll2float_rn(long long x) { return (float)x; }
KILN_INLINE double __int2double_rn(int x) { return (double)x; }
KILN_INLINE double __uint2double_rn(unsigned int x) { return (double)x; }
KILN_INLINE float __double2float_rn(double x) { return (float)x; }

#endif
