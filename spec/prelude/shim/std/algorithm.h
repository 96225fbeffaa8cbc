// The functions of <algorithm> that kernels use, for compilers without the C++ standard library.
#ifndef KILN_SHIM_ALGORITHM_H
#define KILN_SHIM_ALGORITHM_H

#include <utility>

namespace std {

template <class T> KILN_MEMBER constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> KILN_MEMBER constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class Less> KILN_MEMBER constexpr const T& min(const T& a, const T& b, Less less) {
    return less(b, a) ? b : a;
}
template <class T, class Less> KILN_MEMBER constexpr const T& max(const T& a, const T& b, Less less) {
    return less(a, b) ? b : a;
}
template <class T> KILN_MEMBER constexpr const T& clamp(const T& x, const T& least, const T& most) {
    return x < least ? least : most < x ? most : x;
}
template <class To, class T> KILN_MEMBER constexpr void fill(To first, To last, const T& value) {
    for (; first != last; ++first) *first = value;
}
template <class From, class To> KILN_MEMBER constexpr To copy(From first, From last, To to) {
    for (; first != last; ++first, ++to) *to = *first;
    return to;
}
// The first place in an ordered range whose element is not less than the value or, if UPPER is set, is greater.
template <bool UPPER, class It, class T> KILN_MEMBER constexpr It kiln_bound(It first, It last, const T& value) {
    auto count = last - first;
    while (count > 0) {
        auto half = count / 2;
        It middle = first + half;
        bool is_before = UPPER ? !(value < *middle) : *middle < value;
        first = is_before ? middle + 1 : first;
        count = is_before ? count - half - 1 : half;
    }
    return first;
}
template <class It, class T> KILN_MEMBER constexpr It lower_bound(It first, It last, const T& value) {
    return kiln_bound<false>(first, last, value);
}
template <class It, class T> KILN_MEMBER constexpr It upper_bound(It first, It last, const T& value) {
    return kiln_bound<true>(first, last, value);
}

}  // namespace std

#endif
