// cub::WarpReduce and cub::WarpScan, by CUB's documentation.
#ifndef KILN_SHIM_CUB_WARP_H
#define KILN_SHIM_CUB_WARP_H

#include "shim/cub/operators.h"

namespace cub {

// Lanes of a logical warp of SIZE threads: which ones, and what they combine.
template <class T, int SIZE> struct kiln_lanes {
    static_assert(SIZE >= 1 && SIZE <= 32, "a logical warp has 1 to 32 threads");
    static constexpr bool whole = (SIZE & (SIZE - 1)) == 0;
    unsigned int first, rank, mask;

    KILN_MEMBER explicit kiln_lanes(unsigned int threads) {
        // Logical warps of other sizes than a power of two: one for each warp, as CUB has it.
        first = whole ? kiln_shim::lane() / SIZE * SIZE : 0;
        rank = kiln_shim::lane() - first;
        mask = (SIZE == 32 ? 0xffffffffu : ((1u << SIZE % 32) - 1) << first) & kiln_shim::lanes_of_warp(threads);
    }
    // Combined with those of the lanes above, up to `valid` of them; lane 0 has the whole.
    template <class Combine> KILN_MEMBER T reduce(T value, Combine combine, unsigned int valid, call_site at) const {
#pragma unroll
        for (unsigned int apart = 1; apart < SIZE; apart *= 2) {
            const unsigned int from = rank + apart;
            const bool there = from < valid && (mask >> (first + from) & 1) && from < SIZE;
            const T above = kiln_shim::value_from(at, mask, value, there ? first + from : first + rank);
            if (there) value = combine(value, above);
        }
        return value;
    }
    // Combined with those of the lanes below.
    template <class Combine> KILN_MEMBER T scan(T value, Combine combine, call_site at) const {
#pragma unroll
        for (unsigned int apart = 1; apart < SIZE; apart *= 2) {
            const T below = from_below(value, apart, at);
            if (rank >= apart) value = combine(below, value);
        }
        return value;
    }
    KILN_MEMBER T from_below(const T& value, unsigned int by, call_site at) const {
        return kiln_shim::value_from(at, mask, value, first + (rank >= by ? rank - by : rank));
    }
    KILN_MEMBER T from(const T& value, unsigned int of_rank, call_site at) const {
        return kiln_shim::value_from(at, mask, value, first + of_rank);
    }
    KILN_MEMBER unsigned int last() const { return 31 - (unsigned int)__builtin_clz(mask) - first; }
};

template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0> class WarpReduce {
    typedef kiln_lanes<T, LOGICAL_WARP_THREADS> lanes;
    KILN_MEMBER static lanes of_block() { return lanes(kiln_shim::threads_of_block()); }

public:
    struct TempStorage { unsigned char kiln_unused; };
    KILN_MEMBER explicit WarpReduce(TempStorage&) {}

    template <class Combine> KILN_MEMBER T Reduce(T value, Combine combine, call_site at = call_site::here()) {
        return of_block().reduce(value, combine, LOGICAL_WARP_THREADS, at);
    }
    template <class Combine>
    KILN_MEMBER T Reduce(T value, Combine combine, int valid, call_site at = call_site::here()) {
        return of_block().reduce(value, combine, (unsigned int)valid, at);
    }
    KILN_MEMBER T Sum(T value, call_site at = call_site::here()) { return Reduce(value, kiln_sum(), at); }
    KILN_MEMBER T Sum(T value, int valid, call_site at = call_site::here()) { return Reduce(value, kiln_sum(), valid, at); }
    KILN_MEMBER T Max(T value, call_site at = call_site::here()) { return Reduce(value, kiln_max(), at); }
    KILN_MEMBER T Min(T value, call_site at = call_site::here()) { return Reduce(value, kiln_min(), at); }
};

template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0> class WarpScan {
    typedef kiln_lanes<T, LOGICAL_WARP_THREADS> lanes;
    KILN_MEMBER static lanes of_block() { return lanes(kiln_shim::threads_of_block()); }

public:
    struct TempStorage { unsigned char kiln_unused; };
    KILN_MEMBER explicit WarpScan(TempStorage&) {}

    template <class Combine>
    KILN_MEMBER void InclusiveScan(T value, T& result, Combine combine, call_site at = call_site::here()) {
        result = of_block().scan(value, combine, at);
    }
    template <class Combine>
    KILN_MEMBER void InclusiveScan(T value, T& result, Combine combine, T& aggregate, call_site at = call_site::here()) {
        result = of_block().scan(value, combine, at);
        aggregate = of_block().from(result, of_block().last(), at);
    }
    template <class Combine>
    KILN_MEMBER void ExclusiveScan(T value, T& result, T initial, Combine combine, call_site at = call_site::here()) {
        const T below = of_block().from_below(of_block().scan(value, combine, at), 1, at);
        result = of_block().rank == 0 ? initial : combine(initial, below);
    }
    KILN_MEMBER void InclusiveSum(T value, T& result, call_site at = call_site::here()) {
        InclusiveScan(value, result, kiln_sum(), at);
    }
    KILN_MEMBER void InclusiveSum(T value, T& result, T& aggregate, call_site at = call_site::here()) {
        InclusiveScan(value, result, kiln_sum(), aggregate, at);
    }
    KILN_MEMBER void ExclusiveSum(T value, T& result, call_site at = call_site::here()) {
        ExclusiveScan(value, result, T(0), kiln_sum(), at);
    }
    KILN_MEMBER void ExclusiveSum(T value, T& result, T& aggregate, call_site at = call_site::here()) {
        T all;
        InclusiveScan(value, all, kiln_sum(), aggregate, at);
        const T below = of_block().from_below(all, 1, at);
        result = of_block().rank == 0 ? T(0) : below;
    }
    KILN_MEMBER T Broadcast(T value, unsigned int source, call_site at = call_site::here()) {
        return of_block().from(value, source, at);
    }
};

}  // namespace cub

#endif
