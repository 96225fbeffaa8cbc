// Operations of doubles that round in a direction. Results are computed exactly, as whole numbers of 128 bits, because
// no type has room for what a double cannot hold of them.
#ifndef KILN_DOUBLE_ROUNDING_H
#define KILN_DOUBLE_ROUNDING_H

// bits * 2^exponent, with a sign. The last bit also stands for all smaller bits that are not zero.
struct kiln_whole {
    unsigned __int128 bits;
    int exponent;
    bool negative;
};

KILN_INLINE int kiln_zeros_above(unsigned __int128 x) {
    unsigned long long high = (unsigned long long)(x >> 64), low = (unsigned long long)x;
    return high ? __builtin_clzll(high) : 64 + (low ? __builtin_clzll(low) : 64);
}
// Moved so that the top bit is bit 125. No bit is lost.
KILN_INLINE kiln_whole kiln_normal(kiln_whole x) {
    int by = kiln_zeros_above(x.bits) - 2;
    return kiln_whole{by < 0 ? x.bits >> -by : x.bits << by, x.exponent - by, x.negative};
}
// A double that is finite and not zero, exactly.
KILN_INLINE kiln_whole kiln_whole_of(double x) {
    unsigned long long bits = kiln_bits<unsigned long long>(x), fraction = bits & 0xfffffffffffffull;
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent) fraction |= 1ull << 52;
    return kiln_whole{fraction, (exponent ? exponent : 1) - 1075, bits >> 63 != 0};
}
KILN_INLINE bool kiln_is_finite(double x) { return __builtin_fabs(x) <= 1.7976931348623157e308; }

// Rounded away from zero or towards it.
KILN_INLINE double kiln_rounded(kiln_whole x, bool away) {
    x = kiln_normal(x);
    // Bit 125 of a number of 2^exponent; a double has 52 bits below its top bit, and fewer below 2^-1022.
    int exponent = x.exponent + 125, lost = 73 + (exponent < -1022 ? -1022 - exponent : 0);
    unsigned long long kept = lost > 125 ? 0 : (unsigned long long)(x.bits >> lost);
    bool exact = lost <= 125 && !(x.bits & (((unsigned __int128)1 << lost) - 1));
    kept += away && !exact;
    unsigned long long bits = exponent < -1022 ? kept : ((unsigned long long)(exponent + 1022) << 52) + kept;
    if (exponent > 1023) bits = 0x7fefffffffffffffull + away;
    return kiln_bits<double>(bits | (unsigned long long)x.negative << 63);
}
KILN_INLINE double kiln_rounded_toward_zero(kiln_whole x) { return kiln_rounded(x, false); }
KILN_INLINE double kiln_rounded_down(kiln_whole x) { return kiln_rounded(x, x.negative); }
KILN_INLINE double kiln_rounded_up(kiln_whole x) { return kiln_rounded(x, !x.negative); }

KILN_INLINE kiln_whole kiln_product(double x, double y) {
    kiln_whole a = kiln_whole_of(x), b = kiln_whole_of(y);
    return kiln_whole{a.bits * b.bits, a.exponent + b.exponent, a.negative != b.negative};
}
// The bits of the smaller number that lie below those of the larger one become its last bit. Numbers whose difference
// has fewer bits than they have are too close for that: their last 20 bits are zero.
KILN_INLINE kiln_whole kiln_sum_of(kiln_whole a, kiln_whole b) {
    a = kiln_normal(a);
    b = kiln_normal(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.bits < b.bits)) {
        kiln_whole swapped = a;
        a = b;
        b = swapped;
    }
    int by = a.exponent - b.exponent;
    unsigned __int128 moved = by > 125 ? 1 : b.bits >> by;
    if (by <= 125 && moved << by != b.bits) moved |= 1;
    return kiln_whole{a.negative == b.negative ? a.bits + moved : a.bits - moved, a.exponent, a.negative};
}
// 63 bits of the quotient, and one bit for the rest.
KILN_INLINE kiln_whole kiln_quotient(double x, double y) {
    kiln_whole a = kiln_whole_of(x), b = kiln_whole_of(y);
    unsigned long long rest = (unsigned long long)a.bits, by = (unsigned long long)b.bits, quotient = 0;
    int up = __builtin_clzll(rest) - 11, up_by = __builtin_clzll(by) - 11;
    rest <<= up;
    by <<= up_by;
    for (int i = 0; i < 63; ++i) {
        quotient <<= 1;
        if (rest >= by) {
            rest -= by;
            quotient |= 1;
        }
        rest <<= 1;
    }
    return kiln_whole{(unsigned __int128)quotient << 1 | (rest != 0), a.exponent - up - b.exponent + up_by - 63, a.negative != b.negative};
}
// The root, rounded to nearest, and what it lacks. Numbers that are so small that this is not a double are scaled.
KILN_INLINE kiln_exact kiln_root_and_rest(double x, double scale) {
    double root = __builtin_sqrt(x * scale);
    return kiln_exact{root, __builtin_fma(-root, root, x * scale)};
}
// The sum of zeros of two signs, or of two numbers that differ by their sign alone, is -0 if it is rounded down.
KILN_INLINE double kiln_zero(double x, double y, bool down) {
    double zero = x + y;
    return down && (kiln_is_negative(x) || kiln_is_negative(y)) ? -0.0 : zero;
}

// What is not finite, and a quotient by zero, does not depend on the direction.
#define KILN_TOWARD(how, function, stepped, down)                                                      \
    KILN_INLINE double __fma_##how(double x, double y, double z) {                                     \
        if (!kiln_is_finite(x) || !kiln_is_finite(y) || !kiln_is_finite(z)) return __builtin_fma(x, y, z); \
        if (x == 0 || y == 0) return z == 0 ? kiln_zero(x * y, z, down) : z;                           \
        kiln_whole product = kiln_product(x, y);                                                       \
        if (z == 0) return function(product);                                                          \
        kiln_whole sum = kiln_sum_of(product, kiln_whole_of(z));                                       \
        return sum.bits == 0 ? down ? -0.0 : 0.0 : function(sum);                                      \
    }                                                                                                  \
    KILN_INLINE double __dadd_##how(double x, double y) { return __fma_##how(x, 1.0, y); }             \
    KILN_INLINE double __dsub_##how(double x, double y) { return __fma_##how(x, 1.0, -y); }            \
    KILN_INLINE double __dmul_##how(double x, double y) {                                              \
        if (!kiln_is_finite(x) || !kiln_is_finite(y) || x == 0 || y == 0) return x * y;                \
        return function(kiln_product(x, y));                                                           \
    }                                                                                                  \
    KILN_INLINE double __ddiv_##how(double x, double y) {                                              \
        if (!kiln_is_finite(x) || !kiln_is_finite(y) || x == 0 || y == 0) return x / y;                \
        return function(kiln_quotient(x, y));                                                          \
    }                                                                                                  \
    KILN_INLINE double __drcp_##how(double x) { return __ddiv_##how(1.0, x); }                         \
    KILN_INLINE double __dsqrt_##how(double x) {                                                       \
        bool small = x < 0x1p-900;                                                                     \
        kiln_exact root = kiln_root_and_rest(x, small ? 0x1p200 : 1.0);                                \
        return stepped(root.high, root.high, root.low) * (small ? 0x1p-100 : 1.0);                     \
    }                                                                                                  \
    KILN_INLINE double __ll2double_##how(long long x) {                                                \
        unsigned long long size = x < 0 ? 0ull - (unsigned long long)x : (unsigned long long)x;        \
        return x == 0 ? 0.0 : function(kiln_whole{size, 0, x < 0});                                    \
    }                                                                                                  \
    KILN_INLINE double __ull2double_##how(unsigned long long x) {                                      \
        return x == 0 ? 0.0 : function(kiln_whole{x, 0, false});                                       \
    }
KILN_TOWARD(rz, kiln_rounded_toward_zero, kiln_toward_zero, false)
KILN_TOWARD(rd, kiln_rounded_down, kiln_down, true)
KILN_TOWARD(ru, kiln_rounded_up, kiln_up, false)
#undef KILN_TOWARD

#endif
