// CUDA's vector types, with CUDA's alignment.
#ifndef KILN_VECTOR_H
#define KILN_VECTOR_H

#define KILN_VECTORS(name, T, align2, align4)                                                          \
    struct name##1 { T x; };                                                                           \
    struct __attribute__((aligned(align2))) name##2 { T x, y; };                                       \
    struct name##3 { T x, y, z; };                                                                     \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                                 \
    KILN_MAKE_VECTORS(name, T)

#define KILN_MAKE_VECTORS(name, T)                                                                     \
    KILN_INLINE constexpr name##1 make_##name##1(T x) { return name##1{x}; }                           \
    KILN_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                   \
    KILN_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }           \
    KILN_INLINE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }

KILN_VECTORS(char, signed char, 2, 4)
KILN_VECTORS(uchar, unsigned char, 2, 4)
KILN_VECTORS(short, short, 4, 8)
KILN_VECTORS(ushort, unsigned short, 4, 8)
KILN_VECTORS(int, int, 8, 16)
KILN_VECTORS(long, long, 16, 16)
KILN_VECTORS(ulong, unsigned long, 16, 16)
KILN_VECTORS(longlong, long long, 16, 16)
KILN_VECTORS(ulonglong, unsigned long long, 16, 16)
KILN_VECTORS(float, float, 8, 16)
KILN_VECTORS(double, double, 16, 16)

struct uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
KILN_MAKE_VECTORS(uint, unsigned int)

#undef KILN_VECTORS
#undef KILN_MAKE_VECTORS

#endif
