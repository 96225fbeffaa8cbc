// __nv_bfloat16 and __nv_bfloat162. g++ 12 has no arithmetic on __bf16, so it is a struct of 16 bits. float16.h has the
// functions.
#ifndef KILN_BFLOAT16_H
#define KILN_BFLOAT16_H

// The bits of a bfloat16, which convert to it and from it.
struct __nv_bfloat16_raw {
    unsigned short x;
};

// g++ would let a conversion that is not a template take part in every arithmetic of bfloat16 and float.
#ifdef __cpp_concepts
template <class T> concept kiln_is_half = __is_same(T, half);
template <class T> concept kiln_is_half_by_cast = kiln_is_half<T> && sizeof(T) == 2;
#define KILN_ONLY_HALF(T) kiln_is_half T
#define KILN_EXPLICIT_HALF(T) template <kiln_is_half_by_cast T> KILN_MEMBER explicit operator T() const
#else
#define KILN_ONLY_HALF(T) class T, class = typename kiln_only<T, half>::type
#define KILN_EXPLICIT_HALF(T) KILN_MEMBER explicit operator half() const
#endif
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    KILN_MEMBER __nv_bfloat16(float x) : bits(rounded(x)) {}
    KILN_MEMBER __nv_bfloat16(double x) : bits(rounded(kiln_odd_float(x))) {}
    KILN_MEMBER __nv_bfloat16(int x) : bits(rounded(kiln_odd_float(x))) {}
    KILN_MEMBER __nv_bfloat16(unsigned int x) : bits(rounded(kiln_odd_float(x))) {}
    KILN_MEMBER __nv_bfloat16(long x) : bits(rounded(kiln_odd_float((long long)x))) {}
    KILN_MEMBER __nv_bfloat16(unsigned long x) : bits(rounded(kiln_odd_float((unsigned long long)x))) {}
    KILN_MEMBER __nv_bfloat16(long long x) : bits(rounded(kiln_odd_float(x))) {}
    KILN_MEMBER __nv_bfloat16(unsigned long long x) : bits(rounded(kiln_odd_float(x))) {}
    KILN_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    template <KILN_ONLY_HALF(T)>
    KILN_MEMBER explicit __nv_bfloat16(T x) : bits(rounded((float)x)) {}

    KILN_MEMBER operator float() const { return __uint_as_float((unsigned int)bits << 16); }
    KILN_MEMBER operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{bits}; }
    // As in CUDA, a cast makes a half of it, but nothing else does: functions of half would compute in a smaller range.
    template <KILN_ONLY_HALF(T)> KILN_MEMBER operator T() const = delete;
    KILN_EXPLICIT_HALF(T) { return (half)(float)*this; }

    // To nearest, ties to even; a NaN keeps its sign and becomes quiet. Both results are computed before one is chosen,
    // because clang does not vectorise loops in which one of them is computed behind a branch.
    KILN_MEMBER static unsigned short rounded(float x) {
        unsigned int word = __float_as_uint(x);
        unsigned int number = nearest(word), nan = word >> 16 | 0x40u;
        return (unsigned short)(x == x ? number : nan);
    }
    KILN_MEMBER static unsigned short nearest(unsigned int word) {
        return (unsigned short)((word + 0x7fffu + (word >> 16 & 1)) >> 16);
    }
};
#undef KILN_ONLY_HALF
#undef KILN_EXPLICIT_HALF
typedef __nv_bfloat16 nv_bfloat16;
// The bits of two bfloat16s, which convert to them and from them.
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
    unsigned short x, y;
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    KILN_MEMBER __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
    KILN_MEMBER __nv_bfloat162(const __nv_bfloat162_raw& raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
    KILN_MEMBER operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.bits, y.bits}; }
};
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
KILN_INLINE __nv_bfloat16 __hneg(__nv_bfloat16 a) { return -a; }

// A float that lies between two bfloat16s may be what a sum was rounded to that lies beside it. The sum is then made
// again, as a pair of doubles.
KILN_INLINE __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    float sum = __builtin_fmaf((float)a, (float)b, (float)c);
    unsigned int word = __float_as_uint(sum);
    if ((word & 0xffffu) != 0x8000u) return __nv_bfloat16(sum);
    kiln_exact exact = kiln_exact_sum((double)(float)a * (double)(float)b, (double)(float)c);
    double rest = (exact.high - (double)sum) + exact.low;
    if (rest != 0) word += (rest > 0) == (sum > 0) ? 1u : ~0u;
    return kiln_bits<__nv_bfloat16>(sum == sum ? __nv_bfloat16::nearest(word) : __nv_bfloat16::rounded(sum));
}

#define KILN_FLOAT16 __nv_bfloat16
#define KILN_FLOAT16_PAIR __nv_bfloat162
#define KILN_FLOAT16_NAME bfloat16
#define KILN_FLOAT16_PAIR_NAME bfloat162
#include "portable/float16.h"

#endif
