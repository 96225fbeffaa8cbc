// <limits> for the compilers of GPUs that have none.
#ifndef KILN_SHIM_STD_LIMITS_H
#define KILN_SHIM_STD_LIMITS_H

namespace std {

template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };

#define KILN_INTEGER_LIMITS(T, least, most)                                                            \
    template <> struct numeric_limits<T> {                                                             \
        static constexpr bool is_specialized = true, is_integer = true, is_exact = true;               \
        static constexpr bool is_signed = (T)-1 < (T)0, has_infinity = false, has_quiet_NaN = false;   \
        static constexpr int radix = 2, digits = (int)sizeof(T) * 8 - is_signed;                       \
        static constexpr int digits10 = digits * 30103 / 100000;                                       \
        KILN_MEMBER static constexpr T min() noexcept { return least; }                                \
        KILN_MEMBER static constexpr T lowest() noexcept { return least; }                             \
        KILN_MEMBER static constexpr T max() noexcept { return most; }                                 \
        KILN_MEMBER static constexpr T epsilon() noexcept { return 0; }                                \
    };
KILN_INTEGER_LIMITS(signed char, -128, 127)
KILN_INTEGER_LIMITS(unsigned char, 0, 255)
KILN_INTEGER_LIMITS(char, (char)-1 < 0 ? (char)-128 : (char)0, (char)-1 < 0 ? (char)127 : (char)255)
KILN_INTEGER_LIMITS(short, -32768, 32767)
KILN_INTEGER_LIMITS(unsigned short, 0, 65535)
KILN_INTEGER_LIMITS(int, -2147483647 - 1, 2147483647)
KILN_INTEGER_LIMITS(unsigned int, 0, 4294967295u)
KILN_INTEGER_LIMITS(long, (long)(~0ul / 2 + 1), (long)(~0ul / 2))
KILN_INTEGER_LIMITS(unsigned long, 0, ~0ul)
KILN_INTEGER_LIMITS(long long, -9223372036854775807ll - 1, 9223372036854775807ll)
KILN_INTEGER_LIMITS(unsigned long long, 0, ~0ull)
#undef KILN_INTEGER_LIMITS

// NVRTC makes no constant of them.
#if defined(KILN_CUDA)
#define KILN_SPECIAL static
#else
#define KILN_SPECIAL static constexpr
#endif

#define KILN_FLOAT_LIMITS(T, bits, tens, least, most, step, denormal, infinite, no_number)             \
    template <> struct numeric_limits<T> {                                                             \
        static constexpr bool is_specialized = true, is_integer = false, is_exact = false;             \
        static constexpr bool is_signed = true, has_infinity = true, has_quiet_NaN = true;             \
        static constexpr int radix = 2, digits = bits, digits10 = tens;                                \
        KILN_MEMBER static constexpr T min() noexcept { return least; }                                \
        KILN_MEMBER static constexpr T lowest() noexcept { return -most; }                             \
        KILN_MEMBER static constexpr T max() noexcept { return most; }                                 \
        KILN_MEMBER static constexpr T epsilon() noexcept { return step; }                             \
        KILN_MEMBER static constexpr T denorm_min() noexcept { return denormal; }                      \
        KILN_MEMBER KILN_SPECIAL T infinity() noexcept { return infinite; }                            \
        KILN_MEMBER KILN_SPECIAL T quiet_NaN() noexcept { return no_number; }                          \
    };
KILN_FLOAT_LIMITS(float, 24, 6, 1.17549435082228750797e-38f, 3.40282346638528859812e+38f, 1.19209289550781250000e-7f,
                  1.40129846432481707092e-45f, INFINITY, NAN)
KILN_FLOAT_LIMITS(double, 53, 15, 2.22507385850720138309e-308, 1.79769313486231570815e+308, 2.22044604925031308085e-16,
                  4.94065645841246544177e-324, CUDART_INF, CUDART_NAN)
#undef KILN_FLOAT_LIMITS
#undef KILN_SPECIAL

}  // namespace std

#endif
