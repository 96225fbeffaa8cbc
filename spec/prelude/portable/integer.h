// Integer intrinsics, and reinterpreting bits.
#ifndef KILN_INTEGER_H
#define KILN_INTEGER_H

KILN_INLINE int __popc(unsigned int x) { return __builtin_popcount(x); }
KILN_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KILN_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
KILN_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KILN_INLINE int __ffs(int x) { return __builtin_ffs(x); }
KILN_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

KILN_INLINE unsigned int __brev(unsigned int x) {
#if defined(__clang__)
    return __builtin_bitreverse32(x);
#else
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
#endif
}

KILN_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned int)x) << 32 | __brev((unsigned int)(x >> 32));
}

KILN_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
KILN_INLINE unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}
KILN_INLINE long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
KILN_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
KILN_INLINE int __mul24(int a, int b) {
    return (int)((unsigned int)(a << 8 >> 8) * (unsigned int)(b << 8 >> 8));
}
KILN_INLINE unsigned int __umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
KILN_INLINE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
KILN_INLINE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
KILN_INLINE unsigned int __sad(int a, int b, unsigned int c) {
    long long distance = (long long)a - b;
    return c + (unsigned int)(distance < 0 ? -distance : distance);
}

KILN_INLINE unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
    return (unsigned int)(((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32);
}
KILN_INLINE unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
    return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (shift & 31));
}

KILN_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned int pick = selector >> (4 * i) & 15;
        unsigned int byte = (unsigned int)(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

#if defined(KILN_HIP) && __has_builtin(__builtin_amdgcn_sudot4)
KILN_INLINE int __dp4a(int a, int b, int c) {
    return __builtin_amdgcn_sudot4(true, a, true, b, c, false);
}
KILN_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    return __builtin_amdgcn_udot4(a, b, c, false);
}
#else
KILN_INLINE int __dp4a(int a, int b, int c) {
    unsigned int sum = (unsigned int)c;
    for (int i = 0; i < 4; i++) {
        sum += (unsigned int)((int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i)));
    }
    return (int)sum;
}
KILN_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 4; i++) c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255);
    return c;
}
#endif

// The unsigned integer of a size in bytes. Shuffles and atomics exist for these sizes.
template <int bytes> struct kiln_word;
template <> struct kiln_word<1> { typedef uint8_t type; };
template <> struct kiln_word<2> { typedef uint16_t type; };
template <> struct kiln_word<4> { typedef uint32_t type; };
template <> struct kiln_word<8> { typedef uint64_t type; };

template <class To, class From>
KILN_INLINE To kiln_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits are reinterpreted between types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

KILN_INLINE int __float_as_int(float x) { return kiln_bits<int>(x); }
KILN_INLINE unsigned int __float_as_uint(float x) { return kiln_bits<unsigned int>(x); }
KILN_INLINE float __int_as_float(int x) { return kiln_bits<float>(x); }
KILN_INLINE float __uint_as_float(unsigned int x) { return kiln_bits<float>(x); }
KILN_INLINE long long __double_as_longlong(double x) { return kiln_bits<long long>(x); }
KILN_INLINE double __longlong_as_double(long long x) { return kiln_bits<double>(x); }
KILN_INLINE int __double2hiint(double x) { return (int)(kiln_bits<long long>(x) >> 32); }
KILN_INLINE int __double2loint(double x) { return (int)kiln_bits<long long>(x); }
KILN_INLINE double __hiloint2double(int hi, int lo) {
    return kiln_bits<double>((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo);
}

// min and max of mixed integer types follow CUDA: unsigned as soon as one side is.
#define KILN_MIN_MAX(T, A, B)                                                                          \
    KILN_INLINE constexpr T min(A a, B b) { return (T)a < (T)b ? (T)a : (T)b; }                        \
    KILN_INLINE constexpr T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
KILN_MIN_MAX(int, int, int)
KILN_MIN_MAX(unsigned int, unsigned int, unsigned int)
KILN_MIN_MAX(unsigned int, int, unsigned int)
KILN_MIN_MAX(unsigned int, unsigned int, int)
KILN_MIN_MAX(long, long, long)
KILN_MIN_MAX(unsigned long, unsigned long, unsigned long)
KILN_MIN_MAX(unsigned long, long, unsigned long)
KILN_MIN_MAX(unsigned long, unsigned long, long)
KILN_MIN_MAX(long long, long long, long long)
KILN_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KILN_MIN_MAX(unsigned long long, long long, unsigned long long)
KILN_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef KILN_MIN_MAX
KILN_INLINE unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
KILN_INLINE unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }

#endif
