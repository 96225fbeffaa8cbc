// Integer intrinsics. simd.h has those of 8-bit and 16-bit parts of a word.
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
KILN_INLINE unsigned int __uhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}
KILN_INLINE unsigned int __urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}
KILN_INLINE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a < b ? b - a : a - b); }
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
// A shift of more than 32 bits is one of 32.
KILN_INLINE unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift < 32 ? __funnelshift_l(lo, hi, shift) : lo;
}
KILN_INLINE unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
    return shift < 32 ? __funnelshift_r(lo, hi, shift) : hi;
}

// Unlike PTX's prmt, which copies a byte's sign if bit 3 of its selector is set, this ignores the bit.
KILN_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned int pick = selector >> (4 * i) & 7;
        result |= ((unsigned int)(bytes >> (8 * pick)) & 255) << (8 * i);
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

KILN_INLINE int __dp4a(char4 a, char4 b, int c) { return __dp4a(kiln_bits<int>(a), kiln_bits<int>(b), c); }
KILN_INLINE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return __dp4a(kiln_bits<unsigned int>(a), kiln_bits<unsigned int>(b), c);
}

// Sums of products of two 16-bit parts with the two lower bytes, or the two upper ones, of the other word.
KILN_INLINE int __dp2a_lo(int a, int b, int c) {
    unsigned int low = (unsigned int)((short)a * (signed char)b), high = (unsigned int)((a >> 16) * (signed char)(b >> 8));
    return (int)((unsigned int)c + low + high);
}
KILN_INLINE unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
KILN_INLINE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
KILN_INLINE unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) { return __dp2a_lo(a, b >> 16, c); }
KILN_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(kiln_bits<int>(a), kiln_bits<int>(b), c); }
KILN_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(kiln_bits<int>(a), kiln_bits<int>(b), c); }
KILN_INLINE unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_lo(kiln_bits<unsigned int>(a), kiln_bits<unsigned int>(b), c);
}
KILN_INLINE unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_hi(kiln_bits<unsigned int>(a), kiln_bits<unsigned int>(b), c);
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
