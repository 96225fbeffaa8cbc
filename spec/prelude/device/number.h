// Whole numbers, and conversions between element types.
#ifndef KILN_DEVICE_NUMBER_H
#define KILN_DEVICE_NUMBER_H

// Whether the 16-bit types are there. On CUDA their headers cost more to compile than most kernels, so
// units have them only where they mention those types.
#if !defined(KILN_CUDA) || defined(__CUDA_FP16_TYPES_EXIST__)
#define KILN_HAS_HALF 1
#endif
#if !defined(KILN_CUDA) || defined(__CUDA_BF16_TYPES_EXIST__)
#define KILN_HAS_BFLOAT16 1
#endif

namespace kiln {

// a / b rounded up, for a >= 0 and b > 0; never overflows.
template <class A, class B> KILN_INLINE constexpr auto div_ceil(A a, B b) {
    return a / b + (a % b != 0 ? 1 : 0);
}
// The smallest multiple of b that is no smaller than a.
template <class A, class B> KILN_INLINE constexpr auto round_up(A a, B b) { return div_ceil(a, b) * b; }

template <class A, class B> constexpr bool same_type = false;
template <class A> constexpr bool same_type<A, A> = true;

// Any element type as a float. Exact for 16-bit floats; integers are rounded to nearest.
template <class T> KILN_INLINE float to_float(T x) { return (float)x; }

// A float as any element type, rounded to nearest, ties to even; integers are cut off towards zero, and what
// an integer cannot hold is its nearest value.
template <class T> struct from_float_to;
template <> struct from_float_to<float> {
    KILN_MEMBER static float of(float x) { return x; }
};
template <> struct from_float_to<double> {
    KILN_MEMBER static double of(float x) { return x; }
};
template <> struct from_float_to<int> {
    KILN_MEMBER static int of(float x) { return __float2int_rz(x); }
};
template <> struct from_float_to<unsigned int> {
    KILN_MEMBER static unsigned int of(float x) { return __float2uint_rz(x); }
};
template <> struct from_float_to<unsigned char> {
    KILN_MEMBER static unsigned char of(float x) {
        unsigned int whole = __float2uint_rz(x);
        return (unsigned char)(whole < 255u ? whole : 255u);
    }
};

#ifdef KILN_HAS_HALF
KILN_INLINE float to_float(__half x) { return __half2float(x); }
template <> struct from_float_to<__half> {
    KILN_MEMBER static __half of(float x) { return __float2half_rn(x); }
};
#endif
#ifdef KILN_HAS_BFLOAT16
KILN_INLINE float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
template <> struct from_float_to<__nv_bfloat16> {
    KILN_MEMBER static __nv_bfloat16 of(float x) { return __float2bfloat16_rn(x); }
};
#endif

template <class T> KILN_INLINE T from_float(float x) { return from_float_to<T>::of(x); }

// 2^x in one instruction of a GPU's: within 2 units in the last place; what is below the smallest normal float may be 0.
KILN_INLINE float fast_exp2(float x) {
#if defined(KILN_CUDA)
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#elif defined(KILN_HIP)
    return __builtin_amdgcn_exp2f(x);
#else
    return kiln_cpu_fast_exp2(x);
#endif
}

// `fast_exp2` for x from -126 to 127, which spares hosts what infinities, NaN and underflow cost.
KILN_INLINE float normal_exp2(float x) {
#if defined(KILN_CUDA) || defined(KILN_HIP)
    return fast_exp2(x);
#else
    return kiln_cpu_normal_exp2(x);
#endif
}

// Copies bytes between objects of different types.
template <int bytes> KILN_INLINE void copy_bytes(void* to, const void* from) {
#if defined(KILN_CUDA)
    memcpy(to, from, bytes);
#else
    __builtin_memcpy(to, from, bytes);
#endif
}

// The bits of a value as another type of the same size.
template <class To, class From> KILN_INLINE To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bits are reinterpreted between types of one size");
    To to;
    copy_bytes<sizeof(To)>(&to, &from);
    return to;
}

// Ways to combine two values. NaN loses against any number in a maximum or minimum of floats.
struct add {
    template <class T> KILN_MEMBER T operator()(T a, T b) const { return a + b; }
};
struct maximum {
    template <class T> KILN_MEMBER T operator()(T a, T b) const {
        if constexpr (same_type<T, float>) return fmaxf(a, b);
        else if constexpr (same_type<T, double>) return fmax(a, b);
        else return a < b ? b : a;
    }
};
struct minimum {
    template <class T> KILN_MEMBER T operator()(T a, T b) const {
        if constexpr (same_type<T, float>) return fminf(a, b);
        else if constexpr (same_type<T, double>) return fmin(a, b);
        else return b < a ? b : a;
    }
};

}  // namespace kiln

#endif
