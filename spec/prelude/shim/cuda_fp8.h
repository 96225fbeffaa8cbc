// 8-bit floats: E4M3, which has no infinity, and E5M2. By the CUDA Math API, "FP8 Intrinsics". Conversions to them round
// to nearest, ties to even; types saturate, and functions do so if they are asked to.
#ifndef KILN_SHIM_CUDA_FP8_H
#define KILN_SHIM_CUDA_FP8_H

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// The number as a multiple of the distance of its neighbours, which is 2^(exponent - fraction).
template <class Real, int fraction>
KILN_INLINE __nv_fp8_storage_t kiln_fp8(Real x, int bias, unsigned int largest, unsigned int infinite, unsigned int nan) {
    typedef typename kiln_word<sizeof(Real)>::type word;
    constexpr int width = sizeof(Real) == 4 ? 23 : 52, top = sizeof(Real) == 4 ? 127 : 1023;
    const word bits = kiln_bits<word>(x), size = bits & ~((word)1 << (8 * sizeof(Real) - 1));
    const unsigned int sign = bits == size ? 0 : 0x80;
    if (x != x) return (__nv_fp8_storage_t)nan;
    int exponent = (int)(size >> width) - top;
    if (exponent > top) return (__nv_fp8_storage_t)(infinite | sign);
    if (exponent < 1 - bias) exponent = 1 - bias;
    const Real scale = kiln_bits<Real>((word)(top + fraction - exponent) << width);
    const unsigned int code = (unsigned int)rint(kiln_bits<Real>(size) * scale) + ((unsigned int)(exponent + bias - 1) << fraction);
    return (__nv_fp8_storage_t)((code > largest ? infinite : code) | sign);
}
template <class Real>
KILN_INLINE __nv_fp8_storage_t kiln_to_fp8(Real x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind, unsigned int nan) {
    const bool finite = saturate == __NV_SATFINITE;
    return kind == __NV_E4M3 ? kiln_fp8<Real, 3>(x, 7, 0x7e, finite ? 0x7e : 0x7f, nan | 0x7f)
                             : kiln_fp8<Real, 2>(x, 15, 0x7b, finite ? 0x7b : 0x7c, nan);
}
KILN_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return kiln_to_fp8(x, saturate, kind, 0x7f);
}
KILN_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    // The NaN of a double keeps its sign and the first bits of its fraction.
    return kiln_to_fp8(x, saturate, kind, (kiln_is_negative(x) ? 0xfe : 0x7e) | (unsigned int)(kiln_bits<uint64_t>(x) >> 50 & 1));
}
KILN_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8((float)kiln_bits<half>(x.x), saturate, kind);
}
KILN_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
KILN_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    const unsigned int size = x & 0x7f, sign = (x & 0x80u) << 8;
    if (size > (kind == __NV_E4M3 ? 0x7eu : 0x7cu)) return __half_raw((unsigned short)0x7fff);
    if (kind == __NV_E5M2) return __half_raw((unsigned short)(size << 8 | sign));
    // A half has bias 15 and ten bits of fraction.
    const half small = (half)((float)size * 0x1p-9f);
    return __half_raw((unsigned short)((size < 8 ? kiln_bits<unsigned short>(small) : (size << 7) + (8u << 10)) | sign));
}

#define KILN_FP8_PAIR(from, From, first, second)                                                       \
    KILN_INLINE __nv_fp8x2_storage_t __nv_cvt_##from##2_to_fp8x2(From x, __nv_saturation_t saturate,   \
                                                                 __nv_fp8_interpretation_t kind) {     \
        return (__nv_fp8x2_storage_t)(first | second << 8);                                            \
    }
KILN_FP8_PAIR(float, float2, __nv_cvt_float_to_fp8(x.x, saturate, kind), __nv_cvt_float_to_fp8(x.y, saturate, kind))
KILN_FP8_PAIR(double, double2, __nv_cvt_double_to_fp8(x.x, saturate, kind), __nv_cvt_double_to_fp8(x.y, saturate, kind))
KILN_FP8_PAIR(halfraw, __half2_raw, __nv_cvt_halfraw_to_fp8(__half_raw(x.x), saturate, kind),
              __nv_cvt_halfraw_to_fp8(__half_raw(x.y), saturate, kind))
KILN_FP8_PAIR(bfloat16raw, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, kind),
              __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, kind))
#undef KILN_FP8_PAIR
KILN_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

// Whole numbers are converted by way of float. Conversions to whole numbers saturate.
#define KILN_FP8_OF(name, From) \
    KILN_MEMBER explicit name(From x) : __x(__nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kiln_kind)) {}
#define KILN_FP8_TO(To, convert) \
    KILN_MEMBER explicit operator To() const { return (To)convert((float)*this); }
#define KILN_FP8(name, kind)                                                                           \
    struct name {                                                                                      \
        static constexpr __nv_fp8_interpretation_t kiln_kind = kind;                                   \
        __nv_fp8_storage_t __x;                                                                        \
        name() = default;                                                                              \
        KILN_FP8_OF(name, half)                                                                        \
        KILN_FP8_OF(name, __nv_bfloat16)                                                               \
        KILN_FP8_OF(name, float)                                                                       \
        KILN_MEMBER explicit name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind)) {}  \
        KILN_FP8_OF(name, short)                                                                       \
        KILN_FP8_OF(name, unsigned short)                                                              \
        KILN_FP8_OF(name, int)                                                                         \
        KILN_FP8_OF(name, unsigned int)                                                                \
        KILN_FP8_OF(name, long)                                                                        \
        KILN_FP8_OF(name, unsigned long)                                                               \
        KILN_FP8_OF(name, long long)                                                                   \
        KILN_FP8_OF(name, unsigned long long)                                                          \
        KILN_MEMBER explicit operator half() const {                                                   \
            return kiln_bits<half>(__nv_cvt_fp8_to_halfraw(__x, kind).x);                              \
        }                                                                                              \
        KILN_MEMBER explicit operator float() const { return (float)(half)*this; }                     \
        KILN_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }    \
        KILN_MEMBER explicit operator double() const { return (double)(float)*this; }                  \
        KILN_FP8_TO(signed char, kiln_to_float2char)                                                   \
        KILN_FP8_TO(char, kiln_to_float2char)                                                          \
        KILN_FP8_TO(unsigned char, kiln_to_float2uchar)                                                \
        KILN_FP8_TO(short, kiln_to_float2short)                                                        \
        KILN_FP8_TO(unsigned short, kiln_to_float2ushort)                                              \
        KILN_FP8_TO(int, kiln_to_float2int)                                                            \
        KILN_FP8_TO(unsigned int, kiln_to_float2uint)                                                  \
        KILN_FP8_TO(long, kiln_to_float2ll)                                                            \
        KILN_FP8_TO(unsigned long, kiln_to_float2ull)                                                  \
        KILN_FP8_TO(long long, kiln_to_float2ll)                                                       \
        KILN_FP8_TO(unsigned long long, kiln_to_float2ull)                                             \
        KILN_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                       \
    };
KILN_FP8(__nv_fp8_e4m3, __NV_E4M3)
KILN_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef KILN_FP8
#undef KILN_FP8_OF
#undef KILN_FP8_TO

// The first of two or four is in the lowest byte.
#define KILN_FP8_VECTORS(pair, four, kind)                                                             \
    struct __attribute__((aligned(2))) pair {                                                          \
        __nv_fp8x2_storage_t __x;                                                                      \
        pair() = default;                                                                              \
        KILN_MEMBER explicit pair(half2 x) : pair(float2{(float)x.x, (float)x.y}) {}                   \
        KILN_MEMBER explicit pair(__nv_bfloat162 x) : pair(float2{(float)x.x, (float)x.y}) {}          \
        KILN_MEMBER explicit pair(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kind)) {} \
        KILN_MEMBER explicit pair(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, kind)) {} \
        KILN_MEMBER explicit operator half2() const {                                                  \
            const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2(__x, kind);                             \
            return half2(kiln_bits<half>(raw.x), kiln_bits<half>(raw.y));                              \
        }                                                                                              \
        KILN_MEMBER explicit operator float2() const {                                                 \
            const half2 both = (half2)*this;                                                           \
            return float2{(float)both.x, (float)both.y};                                               \
        }                                                                                              \
        KILN_MEMBER explicit operator __nv_bfloat162() const {                                         \
            const float2 both = (float2)*this;                                                         \
            return __nv_bfloat162(__nv_bfloat16(both.x), __nv_bfloat16(both.y));                       \
        }                                                                                              \
    };                                                                                                 \
    struct __attribute__((aligned(4))) four {                                                          \
        __nv_fp8x4_storage_t __x;                                                                      \
        four() = default;                                                                              \
        KILN_MEMBER explicit four(pair low, pair high) : __x(low.__x | (unsigned int)high.__x << 16) {} \
        KILN_MEMBER explicit four(half2 low, half2 high) : four(pair(low), pair(high)) {}              \
        KILN_MEMBER explicit four(__nv_bfloat162 low, __nv_bfloat162 high) : four(pair(low), pair(high)) {} \
        KILN_MEMBER explicit four(float4 x) : four(pair(float2{x.x, x.y}), pair(float2{x.z, x.w})) {}  \
        KILN_MEMBER explicit four(double4 x) : four(pair(double2{x.x, x.y}), pair(double2{x.z, x.w})) {} \
        KILN_MEMBER explicit operator float4() const {                                                 \
            pair low, high;                                                                            \
            low.__x = (__nv_fp8x2_storage_t)__x;                                                       \
            high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                              \
            const float2 one = (float2)low, other = (float2)high;                                      \
            return float4{one.x, one.y, other.x, other.y};                                             \
        }                                                                                              \
    };
KILN_FP8_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
KILN_FP8_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef KILN_FP8_VECTORS

#endif
