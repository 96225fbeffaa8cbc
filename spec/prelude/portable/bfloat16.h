// __nv_bfloat16 and __nv_bfloat162. g++ 12 has no arithmetic on __bf16, so it is a struct of 16 bits.
#ifndef KILN_BFLOAT16_H
#define KILN_BFLOAT16_H

struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    KILN_MEMBER __nv_bfloat16(float x) : bits(rounded(x)) {}
    KILN_MEMBER operator float() const { return __uint_as_float((unsigned int)bits << 16); }
    // To nearest, ties to even; a NaN keeps its sign and becomes quiet.
    KILN_MEMBER static unsigned short rounded(float x) {
        unsigned int word = __float_as_uint(x);
        unsigned int nearest = (word + 0x7fffu + (word >> 16 & 1)) >> 16;
        return (unsigned short)(x == x ? nearest : word >> 16 | 0x40u);
    }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __nv_bfloat162 nv_bfloat162;

#define KILN_BFLOAT16_OPERATOR(op)                                                                     \
    KILN_INLINE __nv_bfloat16 operator op(__nv_bfloat16 a, __nv_bfloat16 b) {                          \
        return __nv_bfloat16((float)a op (float)b);                                                    \
    }                                                                                                  \
    KILN_INLINE __nv_bfloat16& operator op##=(__nv_bfloat16& a, __nv_bfloat16 b) {                     \
        return a = a op b;                                                                             \
    }
KILN_BFLOAT16_OPERATOR(+)
KILN_BFLOAT16_OPERATOR(-)
KILN_BFLOAT16_OPERATOR(*)
KILN_BFLOAT16_OPERATOR(/)
#undef KILN_BFLOAT16_OPERATOR
KILN_INLINE __nv_bfloat16 operator-(__nv_bfloat16 a) { return __nv_bfloat16(-(float)a); }

KILN_INLINE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
KILN_INLINE __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
KILN_INLINE __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16((float)x); }
KILN_INLINE float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KILN_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
KILN_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
    return kiln_bits<__nv_bfloat16>(x);
}
KILN_INLINE __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return a + b; }
KILN_INLINE __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return a - b; }
KILN_INLINE __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return a * b; }
KILN_INLINE __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return a / b; }
KILN_INLINE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return __nv_bfloat16(__builtin_fmaf((float)a, (float)b, (float)c));
}
KILN_INLINE __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }
KILN_INLINE __nv_bfloat16 __habs(__nv_bfloat16 a) {
    return __nv_bfloat16(__builtin_fabsf((float)a));
}
KILN_INLINE __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(fmaxf((float)a, (float)b));
}
KILN_INLINE __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat16(fminf((float)a, (float)b));
}
KILN_INLINE bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
KILN_INLINE bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a != (float)b; }
KILN_INLINE bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
KILN_INLINE bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a <= (float)b; }
KILN_INLINE bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b; }
KILN_INLINE bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a >= (float)b; }
KILN_INLINE bool __hisnan(__nv_bfloat16 a) { return isnan((float)a); }

KILN_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return __nv_bfloat162{x, y};
}
KILN_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return __nv_bfloat162{x, y};
}
KILN_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162{x, x}; }
KILN_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) {
    return __nv_bfloat162{__nv_bfloat16(x), __nv_bfloat16(x)};
}
KILN_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return __nv_bfloat162{__nv_bfloat16(x), __nv_bfloat16(y)};
}
KILN_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return float2{(float)v.x, (float)v.y}; }
KILN_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
KILN_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
KILN_INLINE float __low2float(__nv_bfloat162 v) { return (float)v.x; }
KILN_INLINE float __high2float(__nv_bfloat162 v) { return (float)v.y; }
KILN_INLINE __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162{a.x + b.x, a.y + b.y};
}
KILN_INLINE __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162{a.x * b.x, a.y * b.y};
}
KILN_INLINE __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return __nv_bfloat162{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

#endif
