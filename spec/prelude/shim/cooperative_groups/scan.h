// cooperative_groups::inclusive_scan and exclusive_scan.
#ifndef KILN_SHIM_COOPERATIVE_GROUPS_SCAN_H
#define KILN_SHIM_COOPERATIVE_GROUPS_SCAN_H

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Combine>
KILN_MEMBER T inclusive_scan(const Group& group, T value, Combine&& combine, call_site at = call_site::here()) {
    for (unsigned int apart = 1; apart < group.size(); apart *= 2) {
        const T below = group.shfl_up(value, apart, at);
        if (group.thread_rank() >= apart) value = combine(below, value);
    }
    return value;
}
template <class Group, class T> KILN_MEMBER T inclusive_scan(const Group& group, T value, call_site at = call_site::here()) {
    return inclusive_scan(group, value, plus<T>(), at);
}
// The first thread's result is zero, as CUDA has it for sums.
template <class Group, class T, class Combine>
KILN_MEMBER T exclusive_scan(const Group& group, T value, Combine&& combine, call_site at = call_site::here()) {
    const T below = group.shfl_up(inclusive_scan(group, value, combine, at), 1, at);
    return group.thread_rank() == 0 ? T() : below;
}
template <class Group, class T> KILN_MEMBER T exclusive_scan(const Group& group, T value, call_site at = call_site::here()) {
    return exclusive_scan(group, value, plus<T>(), at);
}

}  // namespace cooperative_groups

#endif
