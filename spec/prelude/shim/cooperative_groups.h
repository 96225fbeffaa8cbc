// Cooperative groups, by CUDA's Programming Guide, "Cooperative Groups": thread blocks, tiles of up to 32 threads,
// coalesced threads, and a grid that cannot wait for itself.
#ifndef KILN_SHIM_COOPERATIVE_GROUPS_H
#define KILN_SHIM_COOPERATIVE_GROUPS_H

#include "shim/call_site.h"

namespace cooperative_groups {

using kiln_shim::call_site;

// Some lanes of this warp, or the whole block.
class thread_group {
protected:
    unsigned int lanes_;  // of this warp; unused for a block
    unsigned int size_;
    unsigned int rank_;
    bool block_;

    KILN_MEMBER thread_group(unsigned int lanes, unsigned int size, unsigned int rank, bool block)
        : lanes_(lanes), size_(size), rank_(rank), block_(block) {}

public:
    // For this header alone.
    KILN_MEMBER static thread_group kiln_of_lanes(unsigned int lanes) {
        const unsigned int below = lanes & ((1u << kiln_shim::lane()) - 1);
        return thread_group(lanes, (unsigned int)__builtin_popcount(lanes), (unsigned int)__builtin_popcount(below), false);
    }
    KILN_MEMBER unsigned int kiln_lanes() const { return lanes_; }

    KILN_MEMBER unsigned long long size() const { return size_; }
    KILN_MEMBER unsigned long long num_threads() const { return size_; }
    KILN_MEMBER unsigned long long thread_rank() const { return rank_; }
    KILN_MEMBER bool is_valid() const { return true; }
    KILN_MEMBER void sync(call_site at = call_site::here()) const {
        if (block_) kiln_shim::sync_block(at);
        else kiln_shim::sync_lanes(at, lanes_);
    }
};

class thread_block : public thread_group {
public:
    // For this header alone: this_thread_block makes it.
    KILN_MEMBER explicit thread_block(int)
        : thread_group(0, kiln_shim::threads_of_block(), kiln_shim::thread_in_block(), true) {}

    KILN_MEMBER unsigned int size() const { return size_; }
    KILN_MEMBER unsigned int num_threads() const { return size_; }
    KILN_MEMBER unsigned int thread_rank() const { return rank_; }
    // The size is known, so neither is a branch at run time.
    KILN_MEMBER static void sync(call_site at = call_site::here()) { kiln_shim::sync_block(at); }
    struct arrival_token {};
    KILN_MEMBER static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    KILN_MEMBER static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    KILN_MEMBER static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    KILN_MEMBER static dim3 dim_threads() { return group_dim(); }
    // Nothing is between an arrival and its wait on these targets: the wait is the barrier.
    KILN_MEMBER static arrival_token barrier_arrive() { return arrival_token(); }
    KILN_MEMBER static void barrier_wait(arrival_token, call_site at = call_site::here()) { kiln_shim::sync_block(at); }
};
KILN_MEMBER thread_block this_thread_block() { return thread_block(0); }

// Shuffles and votes of lanes whose `lane_of(rank)` says which lane of the warp has a rank.
template <class Group> class kiln_exchanging {
    KILN_MEMBER const Group& self() const { return *static_cast<const Group*>(this); }

public:
    template <class T> KILN_MEMBER T shfl(T value, int rank, call_site at = call_site::here()) const {
        const unsigned int size = self().num_threads();
        return kiln_shim::value_from(at, self().kiln_lanes(), value, self().kiln_lane_of((unsigned int)rank % size));
    }
    template <class T> KILN_MEMBER T shfl_down(T value, unsigned int by, call_site at = call_site::here()) const {
        const unsigned int rank = self().thread_rank(), from = rank + by < self().num_threads() ? rank + by : rank;
        return kiln_shim::value_from(at, self().kiln_lanes(), value, self().kiln_lane_of(from));
    }
    template <class T> KILN_MEMBER T shfl_up(T value, unsigned int by, call_site at = call_site::here()) const {
        const unsigned int rank = self().thread_rank(), from = rank >= by ? rank - by : rank;
        return kiln_shim::value_from(at, self().kiln_lanes(), value, self().kiln_lane_of(from));
    }
    KILN_MEMBER unsigned int ballot(int predicate, call_site at = call_site::here()) const {
        return self().kiln_packed(kiln_shim::ballot(at, self().kiln_lanes(), predicate != 0));
    }
    KILN_MEMBER int any(int predicate, call_site at = call_site::here()) const {
        return kiln_shim::ballot(at, self().kiln_lanes(), predicate != 0) != 0;
    }
    KILN_MEMBER int all(int predicate, call_site at = call_site::here()) const {
        return kiln_shim::ballot(at, self().kiln_lanes(), predicate == 0) == 0;
    }
    template <class T> KILN_MEMBER unsigned int match_any(T value, call_site at = call_site::here()) const {
        return self().kiln_packed(kiln_shim::match(at, self().kiln_lanes(), value));
    }
    template <class T> KILN_MEMBER unsigned int match_all(T value, int& agreed, call_site at = call_site::here()) const {
        const unsigned int lanes = self().kiln_lanes();
        agreed = kiln_shim::match(at, lanes, value) == lanes;
        return agreed ? self().kiln_packed(lanes) : 0;
    }
};

template <unsigned int SIZE, class Parent = void>
class thread_block_tile : public thread_group, public kiln_exchanging<thread_block_tile<SIZE, Parent>> {
    static_assert(SIZE >= 1 && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0,
                  "on this target a tile has 1, 2, 4, 8, 16 or 32 threads: larger ones need `only(cuda)`");

    KILN_MEMBER static unsigned int first_lane() { return kiln_shim::lane() / SIZE * SIZE; }

public:
    // For this header alone: tiled_partition makes tiles.
    KILN_MEMBER explicit thread_block_tile(int)
        : thread_group((SIZE == 32 ? 0xffffffffu : (1u << SIZE % 32) - 1) << first_lane(), SIZE,
                       kiln_shim::lane() % SIZE, false) {}
    // A tile may forget what it is a part of.
    template <class Other> KILN_MEMBER thread_block_tile(const thread_block_tile<SIZE, Other>& tile) : thread_group(tile) {}
    KILN_MEMBER unsigned int kiln_lane_of(unsigned int rank) const { return first_lane() + rank; }
    KILN_MEMBER unsigned int kiln_packed(unsigned int lanes) const { return (lanes & lanes_) >> first_lane(); }

    KILN_MEMBER static constexpr unsigned int size() { return SIZE; }
    KILN_MEMBER static constexpr unsigned int num_threads() { return SIZE; }
    KILN_MEMBER static unsigned int thread_rank() { return kiln_shim::lane() % SIZE; }
    KILN_MEMBER static unsigned int meta_group_rank() { return kiln_shim::thread_in_block() / SIZE; }
    KILN_MEMBER static unsigned int meta_group_size() { return (kiln_shim::threads_of_block() + SIZE - 1) / SIZE; }
    KILN_MEMBER void sync(call_site at = call_site::here()) const { kiln_shim::sync_lanes(at, lanes_); }
    template <class T> KILN_MEMBER T shfl_xor(T value, unsigned int flip, call_site at = call_site::here()) const {
        return kiln_shim::value_from(at, lanes_, value, first_lane() + (thread_rank() ^ flip) % SIZE);
    }
};

class coalesced_group : public thread_group, public kiln_exchanging<coalesced_group> {
public:
    KILN_MEMBER explicit coalesced_group(unsigned int lanes) : thread_group(kiln_of_lanes(lanes)) {}
    // The lane that has `rank` lanes of the group below it.
    KILN_MEMBER unsigned int kiln_lane_of(unsigned int rank) const {
        unsigned int left = lanes_;
        for (; rank; --rank) left &= left - 1;
        return (unsigned int)__builtin_ctz(left);
    }
    // The bits of the group's lanes, moved together.
    KILN_MEMBER unsigned int kiln_packed(unsigned int lanes) const {
        unsigned int packed = 0, bit = 1;
        for (unsigned int left = lanes_; left; left &= left - 1, bit <<= 1) {
            if (lanes & left & (0u - left)) packed |= bit;
        }
        return packed;
    }
    KILN_MEMBER unsigned int size() const { return size_; }
    KILN_MEMBER unsigned int num_threads() const { return size_; }
    KILN_MEMBER unsigned int thread_rank() const { return rank_; }
    KILN_MEMBER unsigned int meta_group_rank() const { return 0; }
    KILN_MEMBER unsigned int meta_group_size() const { return 1; }
    KILN_MEMBER void sync(call_site at = call_site::here()) const { kiln_shim::sync_lanes(at, lanes_); }
};
// Threads that run together: on the cpu device each alone, which CUDA allows.
KILN_MEMBER coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

class grid_group {
public:
    KILN_MEMBER static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    KILN_MEMBER static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    KILN_MEMBER static unsigned long long thread_rank() {
        return block_rank() * kiln_shim::threads_of_block() + kiln_shim::thread_in_block();
    }
    KILN_MEMBER static unsigned long long num_threads() { return num_blocks() * kiln_shim::threads_of_block(); }
    KILN_MEMBER static unsigned long long size() { return num_threads(); }
    KILN_MEMBER static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    KILN_MEMBER static dim3 group_dim() { return dim_blocks(); }
    KILN_MEMBER static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    KILN_MEMBER static bool is_valid() { return false; }
    __device__ static void sync() __attribute__((
        unavailable("Kiln makes no cooperative launches, so the blocks of a grid cannot wait for each other: split the "
                    "kernel where it calls grid_group::sync()")));
};
KILN_MEMBER grid_group this_grid() { return grid_group(); }

template <unsigned int SIZE, class Parent>
KILN_MEMBER thread_block_tile<SIZE, Parent> tiled_partition(const Parent&) {
    return thread_block_tile<SIZE, Parent>(0);
}
// A size of the run time: at most 32, a power of two.
KILN_MEMBER thread_group tiled_partition(const thread_group&, unsigned int size) {
    const unsigned int first = kiln_shim::lane() / size * size;
    return thread_group::kiln_of_lanes((size >= 32 ? 0xffffffffu : (1u << size) - 1) << first);
}
template <class Group> KILN_MEMBER coalesced_group binary_partition(const Group& group, bool which,
                                                                    call_site at = call_site::here()) {
    const unsigned int yes = kiln_shim::ballot(at, group.kiln_lanes(), which);
    return coalesced_group(which ? yes : group.kiln_lanes() & ~yes);
}
template <class Group> KILN_MEMBER coalesced_group labeled_partition(const Group& group, int label,
                                                                     call_site at = call_site::here()) {
    return coalesced_group(kiln_shim::match(at, group.kiln_lanes(), label));
}

template <class Group> KILN_MEMBER void sync(const Group& group, call_site at = call_site::here()) { group.sync(at); }
template <class Group> KILN_MEMBER auto thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> KILN_MEMBER auto group_size(const Group& group) { return group.size(); }
template <class Group, class Function> KILN_MEMBER void invoke_one(const Group& group, Function&& function) {
    if (group.thread_rank() == 0) function();
}

}  // namespace cooperative_groups

#endif
