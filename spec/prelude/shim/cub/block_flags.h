// cub::BlockDiscontinuity and cub::BlockHistogram. As in CUB, a barrier must stand between two uses of one TempStorage.
#ifndef KILN_SHIM_CUB_BLOCK_FLAGS_H
#define KILN_SHIM_CUB_BLOCK_FLAGS_H

#include "shim/cub/operators.h"

namespace cub {

template <class T, int X, int Y = 1, int Z = 1, int LEGACY_PTX_ARCH = 0> class BlockDiscontinuity {
    static constexpr int threads = X * Y * Z;

public:
    // The first and the last item of each thread.
    struct TempStorage {
        kiln_storage<T, threads> kiln_first, kiln_last;
    };

private:
    TempStorage& storage;
    int thread;
    // An operation may also take the index of the second item in the block.
    template <class Operation>
    KILN_MEMBER static auto flag(Operation& differ, const T& one, const T& next, int index, int)
        -> decltype(differ(one, next, index)) {
        return differ(one, next, index);
    }
    template <class Operation>
    KILN_MEMBER static bool flag(Operation& differ, const T& one, const T& next, int, long) {
        return differ(one, next);
    }
    template <int ITEMS> KILN_MEMBER void share(T (&in)[ITEMS], call_site at) {
        storage.kiln_first[thread] = in[0];
        storage.kiln_last[thread] = in[ITEMS - 1];
        kiln_shim::sync_block(at);
    }
    // Without a predecessor, the first item of the block is a head, and without a successor, the last one is a tail.
    template <class Flag, int ITEMS, class Operation>
    KILN_MEMBER void heads_of(Flag (&heads)[ITEMS], T (&in)[ITEMS], Operation& differ, const T* predecessor) {
        for (int i = ITEMS - 1; i > 0; --i) heads[i] = flag(differ, in[i - 1], in[i], thread * ITEMS + i, 0);
        if (thread > 0) heads[0] = flag(differ, storage.kiln_last[thread - 1], in[0], thread * ITEMS, 0);
        else heads[0] = predecessor ? (Flag)flag(differ, *predecessor, in[0], 0, 0) : (Flag)1;
    }
    template <class Flag, int ITEMS, class Operation>
    KILN_MEMBER void tails_of(Flag (&tails)[ITEMS], T (&in)[ITEMS], Operation& differ, const T* successor) {
        const int end = thread * ITEMS + ITEMS;
        for (int i = 0; i < ITEMS - 1; ++i) tails[i] = flag(differ, in[i], in[i + 1], thread * ITEMS + i + 1, 0);
        if (thread < threads - 1) tails[ITEMS - 1] = flag(differ, in[ITEMS - 1], storage.kiln_first[thread + 1], end, 0);
        else tails[ITEMS - 1] = successor ? (Flag)flag(differ, in[ITEMS - 1], *successor, end, 0) : (Flag)1;
    }

public:
    KILN_MEMBER BlockDiscontinuity() : storage(kiln_own_storage<BlockDiscontinuity>()), thread((int)kiln_shim::thread_in_block()) {}
    KILN_MEMBER explicit BlockDiscontinuity(TempStorage& storage)
        : storage(storage), thread((int)kiln_shim::thread_in_block()) {}

#define KILN_TEMPLATE template <class Flag, int ITEMS, class Operation> KILN_MEMBER void
    KILN_TEMPLATE FlagHeads(Flag (&heads)[ITEMS], T (&in)[ITEMS], Operation differ, call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, nullptr);
    }
    KILN_TEMPLATE FlagHeads(Flag (&heads)[ITEMS], T (&in)[ITEMS], Operation differ, T predecessor,
                            call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, &predecessor);
    }
    KILN_TEMPLATE FlagTails(Flag (&tails)[ITEMS], T (&in)[ITEMS], Operation differ, call_site at = call_site::here()) {
        share(in, at);
        tails_of(tails, in, differ, nullptr);
    }
    KILN_TEMPLATE FlagTails(Flag (&tails)[ITEMS], T (&in)[ITEMS], Operation differ, T successor,
                            call_site at = call_site::here()) {
        share(in, at);
        tails_of(tails, in, differ, &successor);
    }
    KILN_TEMPLATE FlagHeadsAndTails(Flag (&heads)[ITEMS], Flag (&tails)[ITEMS], T (&in)[ITEMS], Operation differ,
                                    call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, nullptr);
        tails_of(tails, in, differ, nullptr);
    }
    KILN_TEMPLATE FlagHeadsAndTails(Flag (&heads)[ITEMS], Flag (&tails)[ITEMS], T successor, T (&in)[ITEMS],
                                    Operation differ, call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, nullptr);
        tails_of(tails, in, differ, &successor);
    }
    KILN_TEMPLATE FlagHeadsAndTails(Flag (&heads)[ITEMS], T predecessor, Flag (&tails)[ITEMS], T (&in)[ITEMS],
                                    Operation differ, call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, &predecessor);
        tails_of(tails, in, differ, nullptr);
    }
    KILN_TEMPLATE FlagHeadsAndTails(Flag (&heads)[ITEMS], T predecessor, Flag (&tails)[ITEMS], T successor, T (&in)[ITEMS],
                                    Operation differ, call_site at = call_site::here()) {
        share(in, at);
        heads_of(heads, in, differ, &predecessor);
        tails_of(tails, in, differ, &successor);
    }
#undef KILN_TEMPLATE
};

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

// Both algorithms count by atomic additions: the counts are the same.
template <class T, int X, int ITEMS, int BINS, BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT, int Y = 1, int Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockHistogram {
public:
    struct TempStorage { unsigned char kiln_unused; };
    KILN_MEMBER BlockHistogram() {}
    KILN_MEMBER explicit BlockHistogram(TempStorage&) {}

    template <class Counter> KILN_MEMBER void InitHistogram(Counter (&histogram)[BINS]) {
        for (int bin = (int)kiln_shim::thread_in_block(); bin < BINS; bin += X * Y * Z) histogram[bin] = 0;
    }
    template <class Counter>
    KILN_MEMBER void Composite(T (&items)[ITEMS], Counter (&histogram)[BINS], call_site = call_site::here()) {
        for (int i = 0; i < ITEMS; ++i) atomicAdd(&histogram[(int)items[i]], (Counter)1);
    }
    template <class Counter>
    KILN_MEMBER void Histogram(T (&items)[ITEMS], Counter (&histogram)[BINS], call_site at = call_site::here()) {
        InitHistogram(histogram);
        kiln_shim::sync_block(at);
        Composite(items, histogram, at);
    }
};

}  // namespace cub

#endif
