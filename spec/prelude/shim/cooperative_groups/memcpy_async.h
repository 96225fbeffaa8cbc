// cooperative_groups::memcpy_async and the waits for it. A copy is done when the call returns, but other threads' parts
// of it are there after the wait alone.
#ifndef KILN_SHIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define KILN_SHIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T>
KILN_MEMBER void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
    for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group> KILN_MEMBER void wait(const Group& group, call_site at = call_site::here()) { group.sync(at); }
template <unsigned int PENDING, class Group>
KILN_MEMBER void wait_prior(const Group& group, call_site at = call_site::here()) {
    group.sync(at);
}

}  // namespace cooperative_groups

#endif
