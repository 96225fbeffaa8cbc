// half and half2: the compiler's own 16-bit float with CUDA's names. float16.h has the functions.
#ifndef KILN_HALF_H
#define KILN_HALF_H

#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
typedef __fp16 half;  // C++ has no _Float16 there yet; arithmetic is in float, which this prelude does anyway
#else
typedef _Float16 half;
#endif
typedef half __half;
typedef half nv_half;
// The bits of two halves, which convert to them and from them.
struct __attribute__((aligned(4))) __half2_raw {
    unsigned short x, y;
};
struct __attribute__((aligned(4))) half2 {
    half x, y;
    half2() = default;
    KILN_MEMBER constexpr half2(half x, half y) : x(x), y(y) {}
    KILN_MEMBER half2(const __half2_raw& raw) : x(kiln_bits<half>(raw.x)), y(kiln_bits<half>(raw.y)) {}
    KILN_MEMBER operator __half2_raw() const {
        return __half2_raw{kiln_bits<unsigned short>(x), kiln_bits<unsigned short>(y)};
    }
};
typedef half2 __half2;
typedef half2 nv_half2;

// The bits of a half, which convert to it and from it.
struct __half_raw {
    unsigned short x;
    __half_raw() = default;
    KILN_MEMBER constexpr __half_raw(unsigned short x) : x(x) {}
    template <class T, class = typename kiln_only<T, half>::type>
    KILN_MEMBER __half_raw(T value) : x(kiln_bits<unsigned short>(value)) {}
    KILN_MEMBER operator half() const { return kiln_bits<half>(x); }
};

// As in CUDA, __half_raw becomes half in arithmetic and comparisons. Without these operators, it could become any number,
// because half is a type of the compiler.
#define KILN_HALF_RAW_OPERATOR(result, op)                                                             \
    KILN_INLINE result operator op(half a, __half_raw b) { return (result)(a op (half)b); }            \
    KILN_INLINE result operator op(__half_raw a, half b) { return (result)((half)a op b); }            \
    KILN_INLINE result operator op(__half_raw a, __half_raw b) { return (result)((half)a op (half)b); }
#define KILN_HALF_RAW_ASSIGNMENT(op)                                                                   \
    KILN_INLINE half& operator op##=(half& a, __half_raw b) { return a = a op b; }
KILN_HALF_RAW_OPERATOR(half, +)
KILN_HALF_RAW_OPERATOR(half, -)
KILN_HALF_RAW_OPERATOR(half, *)
KILN_HALF_RAW_OPERATOR(half, /)
KILN_HALF_RAW_ASSIGNMENT(+)
KILN_HALF_RAW_ASSIGNMENT(-)
KILN_HALF_RAW_ASSIGNMENT(*)
KILN_HALF_RAW_ASSIGNMENT(/)
KILN_HALF_RAW_OPERATOR(bool, ==)
KILN_HALF_RAW_OPERATOR(bool, !=)
KILN_HALF_RAW_OPERATOR(bool, <)
KILN_HALF_RAW_OPERATOR(bool, <=)
KILN_HALF_RAW_OPERATOR(bool, >)
KILN_HALF_RAW_OPERATOR(bool, >=)
#undef KILN_HALF_RAW_OPERATOR
#undef KILN_HALF_RAW_ASSIGNMENT

#ifdef KILN_HIP
KILN_INLINE half __hfma(half a, half b, half c) { return __builtin_fmaf16(a, b, c); }
#else
KILN_INLINE half __hfma(half a, half b, half c) {
    return (half)((double)a * (double)b + (double)c);  // exact until the one rounding
}
#endif
KILN_INLINE half __hneg(half a) { return -a; }

#define KILN_FLOAT16 half
#define KILN_FLOAT16_PAIR half2
#define KILN_FLOAT16_NAME half
#define KILN_FLOAT16_PAIR_NAME half2
#include "portable/float16.h"

#endif
