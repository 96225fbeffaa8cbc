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

// Shared memory for N values whose constructors do not run.
template <class T, int N> struct kiln_storage {
    alignas(T) unsigned char bytes[sizeof(T) * N];
    KILN_MEMBER T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

}  // namespace cub

#endif
