// Integer intrinsics on the two 16-bit parts or the four bytes of a word, and those that combine an addition, a maximum
// and a minimum. The definitions are those of the CUDA Math API, "SIMD Intrinsics".
#ifndef KILN_SIMD_H
#define KILN_SIMD_H

// `one(a, b)` of each part of the words.
template <class Part, class One> KILN_INLINE unsigned int kiln_each_part(unsigned int a, unsigned int b, One one) {
    typedef typename kiln_word<sizeof(Part)>::type bits;
    unsigned int result = 0;
    for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
        result |= (unsigned int)(bits)one((int)(Part)(a >> shift), (int)(Part)(b >> shift)) << shift;
    }
    return result;
}
KILN_INLINE int kiln_between(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
KILN_INLINE int kiln_distance(int a, int b) { return a < b ? b - a : a - b; }

#define KILN_SIMD_2(name, Part, expression)                                                            \
    KILN_INLINE unsigned int name(unsigned int x, unsigned int y) {                                    \
        return kiln_each_part<Part>(x, y, [](int a, int b) -> int { return expression; });             \
    }
#define KILN_SIMD_1(name, Part, expression)                                                            \
    KILN_INLINE unsigned int name(unsigned int x) {                                                    \
        return kiln_each_part<Part>(x, 0u, [](int a, int) -> int { return expression; });              \
    }
// A comparison: all bits of a part, or 1.
#define KILN_SIMD_COMPARE(name, n, Part, condition)                                                    \
    KILN_SIMD_2(__vcmp##name##n, Part, condition ? -1 : 0)                                             \
    KILN_SIMD_2(__vset##name##n, Part, condition ? 1 : 0)
// The sum over all parts.
#define KILN_SIMD_SUM(name, Part, expression)                                                          \
    KILN_INLINE unsigned int name(unsigned int x, unsigned int y) {                                    \
        unsigned int sum = 0;                                                                          \
        for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(Part)) {                          \
            int a = (int)(Part)(x >> shift), b = (int)(Part)(y >> shift);                              \
            sum += (unsigned int)(expression);                                                         \
        }                                                                                              \
        return sum;                                                                                    \
    }
#define KILN_SIMD(n, S, U, low, high, all)                                                             \
    KILN_SIMD_2(__vadd##n, U, a + b)                                                                   \
    KILN_SIMD_2(__vaddss##n, S, kiln_between(a + b, low, high))                                        \
    KILN_SIMD_2(__vaddus##n, U, kiln_between(a + b, 0, all))                                           \
    KILN_SIMD_2(__vsub##n, U, a - b)                                                                   \
    KILN_SIMD_2(__vsubss##n, S, kiln_between(a - b, low, high))                                        \
    KILN_SIMD_2(__vsubus##n, U, kiln_between(a - b, 0, all))                                           \
    KILN_SIMD_2(__vavgs##n, S, (a + b + (a + b >= 0 ? 1 : 0)) >> 1)                                    \
    KILN_SIMD_2(__vavgu##n, U, (a + b + 1) >> 1)                                                       \
    KILN_SIMD_2(__vhaddu##n, U, (a + b) >> 1)                                                          \
    KILN_SIMD_2(__vabsdiffs##n, S, kiln_distance(a, b))                                                \
    KILN_SIMD_2(__vabsdiffu##n, U, kiln_distance(a, b))                                                \
    KILN_SIMD_2(__vmaxs##n, S, a < b ? b : a)                                                          \
    KILN_SIMD_2(__vmaxu##n, U, a < b ? b : a)                                                          \
    KILN_SIMD_2(__vmins##n, S, b < a ? b : a)                                                          \
    KILN_SIMD_2(__vminu##n, U, b < a ? b : a)                                                          \
    KILN_SIMD_1(__vabs##n, S, a < 0 ? -a : a)                                                          \
    KILN_SIMD_1(__vabsss##n, S, a == low ? high : a < 0 ? -a : a)                                      \
    KILN_SIMD_1(__vneg##n, S, -a)                                                                      \
    KILN_SIMD_1(__vnegss##n, S, a == low ? high : -a)                                                  \
    KILN_SIMD_SUM(__vsads##n, S, kiln_distance(a, b))                                                  \
    KILN_SIMD_SUM(__vsadu##n, U, kiln_distance(a, b))                                                  \
    KILN_SIMD_COMPARE(eq, n, U, a == b)                                                                \
    KILN_SIMD_COMPARE(ne, n, U, a != b)                                                                \
    KILN_SIMD_COMPARE(ges, n, S, a >= b)                                                               \
    KILN_SIMD_COMPARE(geu, n, U, a >= b)                                                               \
    KILN_SIMD_COMPARE(gts, n, S, a > b)                                                                \
    KILN_SIMD_COMPARE(gtu, n, U, a > b)                                                                \
    KILN_SIMD_COMPARE(les, n, S, a <= b)                                                               \
    KILN_SIMD_COMPARE(leu, n, U, a <= b)                                                               \
    KILN_SIMD_COMPARE(lts, n, S, a < b)                                                                \
    KILN_SIMD_COMPARE(ltu, n, U, a < b)
KILN_SIMD(2, short, unsigned short, -32768, 32767, 65535)
KILN_SIMD(4, signed char, unsigned char, -128, 127, 255)
#undef KILN_SIMD
#undef KILN_SIMD_SUM
#undef KILN_SIMD_COMPARE
#undef KILN_SIMD_1
#undef KILN_SIMD_2

// Of three numbers, and of a sum; _relu is at least 0. A sum wraps around.
template <class T> KILN_INLINE T kiln_highest(T a, T b) { return a < b ? b : a; }
template <class T> KILN_INLINE T kiln_lowest(T a, T b) { return b < a ? b : a; }
template <class Part, class One>
KILN_INLINE unsigned int kiln_each_of_3(unsigned int a, unsigned int b, unsigned int c, One one) {
    typedef typename kiln_word<sizeof(Part)>::type bits;
    unsigned int result = 0;
    for (unsigned int shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
        result |= (unsigned int)(bits)one((Part)(a >> shift), (Part)(b >> shift), (Part)(c >> shift)) << shift;
    }
    return result;
}
#define KILN_DPX_OF(name, T, Part, expression)                                                         \
    KILN_INLINE T name(T x, T y, T z) {                                                                \
        return (T)kiln_each_of_3<Part>((unsigned int)x, (unsigned int)y, (unsigned int)z,              \
                                       [](Part a, Part b, Part c) -> Part { return expression; });     \
    }
#define KILN_DPX(part, T, Part)                                                                        \
    KILN_DPX_OF(__vimax3_##part, T, Part, kiln_highest(kiln_highest(a, b), c))                         \
    KILN_DPX_OF(__vimin3_##part, T, Part, kiln_lowest(kiln_lowest(a, b), c))                           \
    KILN_DPX_OF(__viaddmax_##part, T, Part, kiln_highest((Part)((unsigned int)a + (unsigned int)b), c)) \
    KILN_DPX_OF(__viaddmin_##part, T, Part, kiln_lowest((Part)((unsigned int)a + (unsigned int)b), c))
#define KILN_DPX_SIGNED(part, T, Part)                                                                 \
    KILN_DPX(part, T, Part)                                                                            \
    KILN_DPX_OF(__vimax3_##part##_relu, T, Part, kiln_highest(kiln_highest(kiln_highest(a, b), c), (Part)0)) \
    KILN_DPX_OF(__vimin3_##part##_relu, T, Part, kiln_highest(kiln_lowest(kiln_lowest(a, b), c), (Part)0)) \
    KILN_DPX_OF(__viaddmax_##part##_relu, T, Part,                                                     \
                kiln_highest(kiln_highest((Part)((unsigned int)a + (unsigned int)b), c), (Part)0))     \
    KILN_DPX_OF(__viaddmin_##part##_relu, T, Part,                                                     \
                kiln_highest(kiln_lowest((Part)((unsigned int)a + (unsigned int)b), c), (Part)0))
KILN_DPX_SIGNED(s32, int, int)
KILN_DPX_SIGNED(s16x2, unsigned int, short)
KILN_DPX(u32, unsigned int, unsigned int)
KILN_DPX(u16x2, unsigned int, unsigned short)
#undef KILN_DPX
#undef KILN_DPX_SIGNED
#undef KILN_DPX_OF
KILN_INLINE int __vimax_s32_relu(int a, int b) { return kiln_highest(kiln_highest(a, b), 0); }
KILN_INLINE int __vimin_s32_relu(int a, int b) { return kiln_highest(kiln_lowest(a, b), 0); }
KILN_INLINE unsigned int __vimax_s16x2_relu(unsigned int a, unsigned int b) { return __vmaxs2(__vmaxs2(a, b), 0u); }
KILN_INLINE unsigned int __vimin_s16x2_relu(unsigned int a, unsigned int b) { return __vmaxs2(__vmins2(a, b), 0u); }

#endif
