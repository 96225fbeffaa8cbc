// cub::BlockReduce: warps by shuffles, then the first thread over what the warps bring. As in CUB the first thread alone
// has the result, and a barrier must stand between two uses of one TempStorage.
#ifndef KILN_SHIM_CUB_BLOCK_REDUCE_H
#define KILN_SHIM_CUB_BLOCK_REDUCE_H

#include "cub/warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC,
};

template <class T, int X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockReduce {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

public:
    struct TempStorage { kiln_storage<T, warps> kiln_of_warps; };

private:
    TempStorage& storage;

public:
    KILN_MEMBER BlockReduce() : storage(kiln_own_storage<BlockReduce>()) {}
    KILN_MEMBER explicit BlockReduce(TempStorage& storage) : storage(storage) {}

    template <class Combine>
    KILN_MEMBER T Reduce(T value, Combine combine, int valid, call_site at = call_site::here()) {
        const int thread = (int)kiln_shim::thread_in_block(), before = thread / 32 * 32;
        const kiln_lanes<T, 32> lanes(threads);
        value = lanes.reduce(value, combine, valid > before ? (unsigned int)(valid - before) : 0, at);
        if (thread % 32 == 0) storage.kiln_of_warps[thread / 32] = value;
        kiln_shim::sync_block(at);
        if (thread == 0) {
            for (int warp = 1; warp < warps && warp * 32 < valid; ++warp) value = combine(value, storage.kiln_of_warps[warp]);
        }
        return value;
    }
    template <class Combine> KILN_MEMBER T Reduce(T value, Combine combine, call_site at = call_site::here()) {
        return Reduce(value, combine, threads, at);
    }
    template <int ITEMS, class Combine>
    KILN_MEMBER T Reduce(T (&values)[ITEMS], Combine combine, call_site at = call_site::here()) {
        T all = values[0];
        for (int i = 1; i < ITEMS; ++i) all = combine(all, values[i]);
        return Reduce(all, combine, threads, at);
    }
    KILN_MEMBER T Sum(T value, call_site at = call_site::here()) { return Reduce(value, kiln_sum(), threads, at); }
    KILN_MEMBER T Sum(T value, int valid, call_site at = call_site::here()) { return Reduce(value, kiln_sum(), valid, at); }
    template <int ITEMS> KILN_MEMBER T Sum(T (&values)[ITEMS], call_site at = call_site::here()) {
        return Reduce(values, kiln_sum(), at);
    }
};

}  // namespace cub

#endif
