// cub::BlockScan: warps by shuffles, then each thread over what the warps before its own bring. As in CUB a barrier must
// stand between two uses of one TempStorage.
#ifndef KILN_SHIM_CUB_BLOCK_SCAN_H
#define KILN_SHIM_CUB_BLOCK_SCAN_H

#include "cub/warp/warp_reduce.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockScan {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

public:
    struct TempStorage {
        kiln_storage<T, warps> kiln_of_warps;
        kiln_storage<T, 1> kiln_prefix;
    };

private:
    TempStorage& storage;
    // What comes before a thread's own values: nothing for the first thread, and else `before`.
    struct place {
        T before, aggregate;
        bool first;
    };
    template <class Combine> KILN_MEMBER place scan(T value, Combine combine, call_site at) {
        const int thread = (int)kiln_shim::thread_in_block(), warp = thread / 32;
        const kiln_lanes<T, 32> lanes(threads);
        const T through = lanes.scan(value, combine, at);
        if (lanes.rank == lanes.last()) storage.kiln_of_warps[warp] = through;
        T before = lanes.from_below(through, 1, at);
        kiln_shim::sync_block(at);
        T aggregate = storage.kiln_of_warps[0];
        for (int i = 1; i < warps; ++i) {
            if (i == warp) before = lanes.rank == 0 ? aggregate : combine(aggregate, before);
            aggregate = combine(aggregate, storage.kiln_of_warps[i]);
        }
        return place{before, aggregate, thread == 0};
    }
    // The seed that the callback gives to the first thread of the block, for all.
    template <class Prefix> KILN_MEMBER T seed(const T& aggregate, Prefix& prefix, call_site at) {
        if (kiln_shim::thread_in_block() < 32) {
            const T given = prefix(aggregate);
            if (kiln_shim::thread_in_block() == 0) storage.kiln_prefix[0] = given;
        }
        kiln_shim::sync_block(at);
        return storage.kiln_prefix[0];
    }
    template <int ITEMS, class Combine> KILN_MEMBER static T total(T (&values)[ITEMS], Combine combine) {
        T all = values[0];
        for (int i = 1; i < ITEMS; ++i) all = combine(all, values[i]);
        return all;
    }
    // A thread's own values, from what comes before them on.
    template <int ITEMS, class Combine>
    KILN_MEMBER static void fill(T (&values)[ITEMS], T (&results)[ITEMS], T running, bool seeded, bool inclusive,
                                 Combine combine) {
        for (int i = 0; i < ITEMS; ++i) {
            const T value = values[i], through = seeded || i > 0 ? combine(running, value) : value;
            results[i] = inclusive ? through : running;
            running = through;
        }
    }

public:
    KILN_MEMBER BlockScan() : storage(kiln_own_storage<BlockScan>()) {}
    KILN_MEMBER explicit BlockScan(TempStorage& storage) : storage(storage) {}

    template <int ITEMS, class Combine>
    KILN_MEMBER void InclusiveScan(T (&values)[ITEMS], T (&results)[ITEMS], Combine combine, T& aggregate,
                                   call_site at = call_site::here()) {
        const place here = scan(total(values, combine), combine, at);
        aggregate = here.aggregate;
        fill(values, results, here.before, !here.first, true, combine);
    }
    template <int ITEMS, class Combine>
    KILN_MEMBER void InclusiveScan(T (&values)[ITEMS], T (&results)[ITEMS], Combine combine,
                                   call_site at = call_site::here()) {
        T aggregate;
        InclusiveScan(values, results, combine, aggregate, at);
    }
    template <int ITEMS, class Combine>
    KILN_MEMBER void ExclusiveScan(T (&values)[ITEMS], T (&results)[ITEMS], T initial, Combine combine, T& aggregate,
                                   call_site at = call_site::here()) {
        const place here = scan(total(values, combine), combine, at);
        aggregate = here.aggregate;
        fill(values, results, here.first ? initial : combine(initial, here.before), true, false, combine);
    }
    template <int ITEMS, class Combine>
    KILN_MEMBER void ExclusiveScan(T (&values)[ITEMS], T (&results)[ITEMS], T initial, Combine combine,
                                   call_site at = call_site::here()) {
        T aggregate;
        ExclusiveScan(values, results, initial, combine, aggregate, at);
    }

    template <class Combine>
    KILN_MEMBER void InclusiveScan(T value, T& result, Combine combine, T& aggregate, call_site at = call_site::here()) {
        const place here = scan(value, combine, at);
        aggregate = here.aggregate;
        result = here.first ? value : combine(here.before, value);
    }
    template <class Combine>
    KILN_MEMBER void InclusiveScan(T value, T& result, Combine combine, call_site at = call_site::here()) {
        T aggregate;
        InclusiveScan(value, result, combine, aggregate, at);
    }
    template <class Combine>
    KILN_MEMBER void ExclusiveScan(T value, T& result, T initial, Combine combine, T& aggregate,
                                   call_site at = call_site::here()) {
        const place here = scan(value, combine, at);
        aggregate = here.aggregate;
        result = here.first ? initial : combine(initial, here.before);
    }
    template <class Combine>
    KILN_MEMBER void ExclusiveScan(T value, T& result, T initial, Combine combine, call_site at = call_site::here()) {
        T aggregate;
        ExclusiveScan(value, result, initial, combine, aggregate, at);
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
        ExclusiveScan(value, result, T(0), kiln_sum(), aggregate, at);
    }
    template <int ITEMS>
    KILN_MEMBER void InclusiveSum(T (&values)[ITEMS], T (&results)[ITEMS], call_site at = call_site::here()) {
        InclusiveScan(values, results, kiln_sum(), at);
    }
    template <int ITEMS>
    KILN_MEMBER void InclusiveSum(T (&values)[ITEMS], T (&results)[ITEMS], T& aggregate, call_site at = call_site::here()) {
        InclusiveScan(values, results, kiln_sum(), aggregate, at);
    }
    template <int ITEMS>
    KILN_MEMBER void ExclusiveSum(T (&values)[ITEMS], T (&results)[ITEMS], call_site at = call_site::here()) {
        ExclusiveScan(values, results, T(0), kiln_sum(), at);
    }
    template <int ITEMS>
    KILN_MEMBER void ExclusiveSum(T (&values)[ITEMS], T (&results)[ITEMS], T& aggregate, call_site at = call_site::here()) {
        ExclusiveScan(values, results, T(0), kiln_sum(), aggregate, at);
    }

    // With a callback: the first warp gives it the block's aggregate, and what the first thread gets comes first.
    template <class Prefix>
    KILN_MEMBER void InclusiveSum(T value, T& result, Prefix& prefix, call_site at = call_site::here()) {
        const place here = scan(value, kiln_sum(), at);
        const T start = seed(here.aggregate, prefix, at);
        result = here.first ? start + value : start + here.before + value;
    }
    template <class Prefix>
    KILN_MEMBER void ExclusiveSum(T value, T& result, Prefix& prefix, call_site at = call_site::here()) {
        const place here = scan(value, kiln_sum(), at);
        const T start = seed(here.aggregate, prefix, at);
        result = here.first ? start : start + here.before;
    }
};

}  // namespace cub

#endif
