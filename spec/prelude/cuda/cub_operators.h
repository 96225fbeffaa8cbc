// CUB's function objects that CCCL 3 no longer has. A unit includes this file after the headers of CUB.
#if defined(CUB_VERSION) && CUB_VERSION >= 300000 && !defined(KILN_CUB_OPERATORS_H)
#define KILN_CUB_OPERATORS_H

namespace cub {

using Sum = ::cuda::std::plus<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;

}  // namespace cub

#endif
