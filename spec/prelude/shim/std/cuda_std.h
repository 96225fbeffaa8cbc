// What cuda::std has is std's.
#ifndef KILN_SHIM_STD_CUDA_STD_H
#define KILN_SHIM_STD_CUDA_STD_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace cuda {
namespace std {
using namespace ::std;

#define KILN_STD_OPERATOR(name, expression)                                                            \
    template <class T = void> struct name {                                                            \
        KILN_MEMBER constexpr T operator()(const T& a, const T& b) const { return expression; }        \
    };                                                                                                 \
    template <> struct name<void> {                                                                    \
        template <class T> KILN_MEMBER constexpr T operator()(const T& a, const T& b) const { return expression; } \
    };
KILN_STD_OPERATOR(plus, a + b)
KILN_STD_OPERATOR(multiplies, a * b)
KILN_STD_OPERATOR(bit_and, a & b)
KILN_STD_OPERATOR(bit_or, a | b)
KILN_STD_OPERATOR(bit_xor, a ^ b)
}  // namespace std

KILN_STD_OPERATOR(maximum, a < b ? b : a)
KILN_STD_OPERATOR(minimum, b < a ? b : a)
#undef KILN_STD_OPERATOR
}  // namespace cuda

#endif
