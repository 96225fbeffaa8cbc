// CUB's function objects, and what its collectives share.
#ifndef KILN_SHIM_CUB_OPERATORS_H
#define KILN_SHIM_CUB_OPERATORS_H

#include "shim/call_site.h"

namespace cub {

using kiln_shim::call_site;

struct kiln_sum {
    template <class T> KILN_MEMBER T operator()(const T& a, const T& b) const { return a + b; }
};
struct kiln_max {
    template <class T> KILN_MEMBER T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct kiln_min {
    template <class T> KILN_MEMBER T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
typedef kiln_sum Sum;
typedef kiln_max Max;
typedef kiln_min Min;

// Stands for a type that is not there, such as that of the values of a sort of keys.
struct NullType {};

template <class, class> struct kiln_same { static constexpr bool value = false; };
template <class T> struct kiln_same<T, T> { static constexpr bool value = true; };

// Shared memory for N values whose constructors do not run.
template <class T, int N> struct kiln_storage {
    alignas(T) unsigned char bytes[sizeof(T) * N];
    KILN_MEMBER T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

// The storage of a collective to which none is given. Each class has its own.
template <class Collective> KILN_INLINE typename Collective::TempStorage& kiln_own_storage() {
    __shared__ typename Collective::TempStorage kiln_own;
    return kiln_own;
}

}  // namespace cub

#endif
