// half and half2: the compiler's own 16-bit float with CUDA's names.
#ifndef KILN_HALF_H
#define KILN_HALF_H

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
typedef __fp16 half;  // C++ has no _Float16 there yet; arithmetic is in float, which this file does anyway
#else
typedef _Float16 half;
#endif
typedef half __half;
struct __attribute__((aligned(4))) half2 { half x, y; };
typedef half2 __half2;

KILN_INLINE half __float2half(float x) { return (half)x; }
KILN_INLINE half __float2half_rn(float x) { return (half)x; }
KILN_INLINE half __double2half(double x) { return (half)x; }
KILN_INLINE float __half2float(half x) { return (float)x; }
KILN_INLINE half __int2half_rn(int x) { return (half)x; }
KILN_INLINE half __uint2half_rn(unsigned int x) { return (half)x; }
KILN_INLINE int __half2int_rn(half x) { return __float2int_rn((float)x); }
KILN_INLINE int __half2int_rz(half x) { return __float2int_rz((float)x); }
KILN_INLINE unsigned short __half_as_ushort(half x) { return kiln_bits<unsigned short>(x); }
KILN_INLINE short __half_as_short(half x) { return kiln_bits<short>(x); }
KILN_INLINE half __ushort_as_half(unsigned short x) { return kiln_bits<half>(x); }
KILN_INLINE half __short_as_half(short x) { return kiln_bits<half>(x); }

// Computed in float and rounded once: right for +, -, *, / of two halves.
KILN_INLINE half __hadd(half a, half b) { return (half)((float)a + (float)b); }
KILN_INLINE half __hsub(half a, half b) { return (half)((float)a - (float)b); }
KILN_INLINE half __hmul(half a, half b) { return (half)((float)a * (float)b); }
KILN_INLINE half __hdiv(half a, half b) { return (half)((float)a / (float)b); }
#ifdef KILN_HIP
KILN_INLINE half __hfma(half a, half b, half c) { return __builtin_fmaf16(a, b, c); }
#else
KILN_INLINE half __hfma(half a, half b, half c) {
    return (half)((double)a * (double)b + (double)c);  // exact until the one rounding
}
#endif
KILN_INLINE half __hneg(half a) { return -a; }
KILN_INLINE half __habs(half a) { return (half)__builtin_fabsf((float)a); }
KILN_INLINE half __hmax(half a, half b) { return (half)fmaxf((float)a, (float)b); }
KILN_INLINE half __hmin(half a, half b) { return (half)fminf((float)a, (float)b); }
KILN_INLINE bool __heq(half a, half b) { return (float)a == (float)b; }
KILN_INLINE bool __hne(half a, half b) { return (float)a != (float)b; }
KILN_INLINE bool __hlt(half a, half b) { return (float)a < (float)b; }
KILN_INLINE bool __hle(half a, half b) { return (float)a <= (float)b; }
KILN_INLINE bool __hgt(half a, half b) { return (float)a > (float)b; }
KILN_INLINE bool __hge(half a, half b) { return (float)a >= (float)b; }
KILN_INLINE bool __hisnan(half a) { return isnan((float)a); }
KILN_INLINE int __hisinf(half a) { return __builtin_isinf_sign((float)a); }

#define KILN_HALF_1(name, function)                                                                    \
    KILN_INLINE half h##name(half x) { return (half)function((float)x); }                              \
    KILN_INLINE half2 h2##name(half2 v) { return half2{h##name(v.x), h##name(v.y)}; }
KILN_HALF_1(exp, expf)
KILN_HALF_1(exp2, exp2f)
KILN_HALF_1(exp10, exp10f)
KILN_HALF_1(log, logf)
KILN_HALF_1(log2, log2f)
KILN_HALF_1(log10, log10f)
KILN_HALF_1(sin, sinf)
KILN_HALF_1(cos, cosf)
KILN_HALF_1(tanh, tanhf)
KILN_HALF_1(sqrt, sqrtf)
KILN_HALF_1(rsqrt, rsqrtf)
KILN_HALF_1(rcp, 1.0f /)
KILN_HALF_1(floor, floorf)
KILN_HALF_1(ceil, ceilf)
KILN_HALF_1(trunc, truncf)
KILN_HALF_1(rint, rintf)
#undef KILN_HALF_1

KILN_INLINE half2 make_half2(half x, half y) { return half2{x, y}; }
KILN_INLINE half2 __halves2half2(half x, half y) { return half2{x, y}; }
KILN_INLINE half2 __half2half2(half x) { return half2{x, x}; }
KILN_INLINE half2 __float2half2_rn(float x) { return half2{(half)x, (half)x}; }
KILN_INLINE half2 __floats2half2_rn(float x, float y) { return half2{(half)x, (half)y}; }
KILN_INLINE half2 __float22half2_rn(float2 v) { return half2{(half)v.x, (half)v.y}; }
KILN_INLINE float2 __half22float2(half2 v) { return float2{(float)v.x, (float)v.y}; }
KILN_INLINE half __low2half(half2 v) { return v.x; }
KILN_INLINE half __high2half(half2 v) { return v.y; }
KILN_INLINE float __low2float(half2 v) { return (float)v.x; }
KILN_INLINE float __high2float(half2 v) { return (float)v.y; }
KILN_INLINE half2 __low2half2(half2 v) { return half2{v.x, v.x}; }
KILN_INLINE half2 __high2half2(half2 v) { return half2{v.y, v.y}; }
KILN_INLINE half2 __lowhigh2highlow(half2 v) { return half2{v.y, v.x}; }
KILN_INLINE half2 __hadd2(half2 a, half2 b) { return half2{__hadd(a.x, b.x), __hadd(a.y, b.y)}; }
KILN_INLINE half2 __hsub2(half2 a, half2 b) { return half2{__hsub(a.x, b.x), __hsub(a.y, b.y)}; }
KILN_INLINE half2 __hmul2(half2 a, half2 b) { return half2{__hmul(a.x, b.x), __hmul(a.y, b.y)}; }
KILN_INLINE half2 __h2div(half2 a, half2 b) { return half2{__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
KILN_INLINE half2 __hmax2(half2 a, half2 b) { return half2{__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
KILN_INLINE half2 __hmin2(half2 a, half2 b) { return half2{__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
KILN_INLINE half2 __hneg2(half2 v) { return half2{__hneg(v.x), __hneg(v.y)}; }
KILN_INLINE half2 __habs2(half2 v) { return half2{__habs(v.x), __habs(v.y)}; }
KILN_INLINE half2 __hfma2(half2 a, half2 b, half2 c) {
    return half2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
KILN_INLINE half2 operator+(half2 a, half2 b) { return __hadd2(a, b); }
KILN_INLINE half2 operator-(half2 a, half2 b) { return __hsub2(a, b); }
KILN_INLINE half2 operator*(half2 a, half2 b) { return __hmul2(a, b); }
KILN_INLINE half2 operator/(half2 a, half2 b) { return __h2div(a, b); }
KILN_INLINE half2& operator+=(half2& a, half2 b) { return a = a + b; }
KILN_INLINE half2& operator-=(half2& a, half2 b) { return a = a - b; }
KILN_INLINE half2& operator*=(half2& a, half2 b) { return a = a * b; }

#endif
