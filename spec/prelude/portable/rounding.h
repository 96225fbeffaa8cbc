// Rounding in a direction, exactly, and what it is made of. The modes are in the names: _rn to nearest, _rz towards
// zero, _rd down, _ru up.
#ifndef KILN_ROUNDING_H
#define KILN_ROUNDING_H

// The sum of two doubles, exactly (Knuth's two-sum). `low` is at most half a unit in the last place of `high`.
struct kiln_exact {
    double high, low;
};
KILN_INLINE kiln_exact kiln_exact_sum(double a, double b) {
    double sum = a + b, other = sum - a;
    return kiln_exact{sum, (a - (sum - other)) + (b - other)};
}

// `nearest` is the value high + low rounded to nearest, and has its sign. Gives the neighbour that is nearer to zero,
// below or above where `nearest` is on the wrong side of the value.
template <class To> KILN_INLINE To kiln_stepped(To nearest, bool away, bool back) {
    typedef typename kiln_word<sizeof(To)>::type word;
    word bits = kiln_bits<word>(nearest);
    return kiln_bits<To>((word)(away ? bits + 1 : back ? bits - 1 : bits));
}
template <class To> KILN_INLINE bool kiln_is_negative(To x) {
    return kiln_bits<typename kiln_word<sizeof(To)>::type>(x) >> (8 * sizeof(To) - 1) != 0;
}
template <class To, class From> KILN_INLINE To kiln_toward_zero(To nearest, From high, From low = 0) {
    From gap = (high - (From)nearest) + low;
    return kiln_stepped(nearest, false, kiln_is_negative(nearest) ? gap > 0 : gap < 0);
}
template <class To, class From> KILN_INLINE To kiln_down(To nearest, From high, From low = 0) {
    bool above = (high - (From)nearest) + low < 0, negative = kiln_is_negative(nearest);
    return kiln_stepped(nearest, above && negative, above && !negative);
}
template <class To, class From> KILN_INLINE To kiln_up(To nearest, From high, From low = 0) {
    bool below = (high - (From)nearest) + low > 0, negative = kiln_is_negative(nearest);
    return kiln_stepped(nearest, below && !negative, below && negative);
}

// Rounded to odd: of two neighbours the one whose last bit is 1, so that a second rounding, to fewer bits, is right.
KILN_INLINE float kiln_odd_float(double x) {
    float nearest = (float)x;
    double gap = x - (double)nearest;
    if (__float_as_uint(nearest) & 1) return nearest;
    bool negative = kiln_is_negative(nearest);
    return kiln_stepped(nearest, negative ? gap < 0 : gap > 0, negative ? gap > 0 : gap < 0);
}
KILN_INLINE float kiln_odd_float(unsigned long long x) {
    int extra = 40 - (x >> 24 ? __builtin_clzll(x) : 40);
    unsigned long long lost = x & ((1ull << extra) - 1);
    return (float)(lost ? (x - lost) | 1ull << extra : x);
}
KILN_INLINE float kiln_odd_float(unsigned int x) {
    unsigned int extra = x >> 24 ? 8 - (unsigned int)__builtin_clz(x) : 0, lost = x & ((1u << extra) - 1);
    return (float)(lost ? (x - lost) | 1u << extra : x);
}
KILN_INLINE float kiln_odd_float(long long x) {
    float size = kiln_odd_float(x < 0 ? 0ull - (unsigned long long)x : (unsigned long long)x);
    return x < 0 ? -size : size;
}
KILN_INLINE float kiln_odd_float(int x) {
    float size = kiln_odd_float(x < 0 ? 0u - (unsigned int)x : (unsigned int)x);
    return x < 0 ? -size : size;
}
KILN_INLINE float kiln_odd_float(short x) { return (float)x; }
KILN_INLINE float kiln_odd_float(unsigned short x) { return (float)x; }

#endif
