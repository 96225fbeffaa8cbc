// cooperative_groups::reduce and the operators that it takes.
#ifndef KILN_SHIM_COOPERATIVE_GROUPS_REDUCE_H
#define KILN_SHIM_COOPERATIVE_GROUPS_REDUCE_H

#include "cooperative_groups.h"

namespace cooperative_groups {

#define KILN_GROUP_OPERATOR(name, expression)                                                          \
    template <class T = void> struct name {                                                            \
        KILN_MEMBER T operator()(T a, T b) const { return expression; }                                \
    };                                                                                                 \
    template <> struct name<void> {                                                                    \
        template <class T> KILN_MEMBER T operator()(T a, T b) const { return expression; }             \
    };
KILN_GROUP_OPERATOR(plus, a + b)
KILN_GROUP_OPERATOR(less, b < a ? b : a)
KILN_GROUP_OPERATOR(greater, a < b ? b : a)
KILN_GROUP_OPERATOR(bit_and, a & b)
KILN_GROUP_OPERATOR(bit_or, a | b)
KILN_GROUP_OPERATOR(bit_xor, a ^ b)
#undef KILN_GROUP_OPERATOR

// The values of a tile combined, for all of its threads; the lower rank's value comes first, so that all get the same.
template <unsigned int SIZE, class Parent, class T, class Combine>
KILN_MEMBER T reduce(const thread_block_tile<SIZE, Parent>& tile, T value, Combine&& combine,
                     call_site at = call_site::here()) {
    for (unsigned int apart = SIZE / 2; apart > 0; apart /= 2) {
        const T other = tile.shfl_xor(value, apart, at);
        value = tile.thread_rank() & apart ? combine(other, value) : combine(value, other);
    }
    return value;
}
// The same for groups of any size: one value after the other.
template <class T, class Combine>
KILN_MEMBER T reduce(const coalesced_group& group, T value, Combine&& combine, call_site at = call_site::here()) {
    T all = group.shfl(value, 0, at);
    for (unsigned int rank = 1; rank < group.size(); ++rank) all = combine(all, group.shfl(value, (int)rank, at));
    return all;
}

}  // namespace cooperative_groups

#endif
