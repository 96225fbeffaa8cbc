// cub::BlockExchange: each thread's items go to other threads through shared memory. As in CUB, a barrier must stand
// between two uses of one TempStorage.
#ifndef KILN_SHIM_CUB_BLOCK_EXCHANGE_H
#define KILN_SHIM_CUB_BLOCK_EXCHANGE_H

#include "shim/cub/operators.h"

namespace cub {

template <class T, int X, int ITEMS, bool WARP_TIME_SLICING = false, int Y = 1, int Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockExchange {
    static constexpr int threads = X * Y * Z;

public:
    struct TempStorage { kiln_storage<T, threads * ITEMS> kiln_items; };

private:
    TempStorage& storage;
    int thread;
    // The place of a thread's item in each arrangement.
    KILN_MEMBER int blocked(int item) const { return thread * ITEMS + item; }
    KILN_MEMBER int striped(int item) const { return item * threads + thread; }
    KILN_MEMBER int warp_striped(int item) const { return thread / 32 * 32 * ITEMS + item * 32 + thread % 32; }

#define KILN_EACH_ITEM for (int item = 0; item < ITEMS; ++item)
#define KILN_EXCHANGE(name, from, to)                                                                  \
    template <class Out> KILN_MEMBER void name(const T (&in)[ITEMS], Out (&out)[ITEMS], call_site at = call_site::here()) { \
        KILN_EACH_ITEM storage.kiln_items[from(item)] = in[item];                                      \
        kiln_shim::sync_block(at);                                                                     \
        KILN_EACH_ITEM out[item] = storage.kiln_items[to(item)];                                       \
    }                                                                                                  \
    KILN_MEMBER void name(T (&items)[ITEMS], call_site at = call_site::here()) { name(items, items, at); }
    // An item goes to the place that its rank gives, if it is wanted.
#define KILN_SCATTER(to, wanted)                                                                       \
    KILN_EACH_ITEM {                                                                                   \
        if (wanted) storage.kiln_items[(int)ranks[item]] = in[item];                                   \
    }                                                                                                  \
    kiln_shim::sync_block(at);                                                                         \
    KILN_EACH_ITEM out[item] = storage.kiln_items[to(item)];

public:
    KILN_MEMBER BlockExchange() : storage(kiln_own_storage<BlockExchange>()), thread((int)kiln_shim::thread_in_block()) {}
    KILN_MEMBER explicit BlockExchange(TempStorage& storage) : storage(storage), thread((int)kiln_shim::thread_in_block()) {}

    KILN_EXCHANGE(StripedToBlocked, striped, blocked)
    KILN_EXCHANGE(BlockedToStriped, blocked, striped)
    KILN_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked)
    KILN_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped)

    template <class Out, class Offset>
    KILN_MEMBER void ScatterToBlocked(const T (&in)[ITEMS], Out (&out)[ITEMS], Offset (&ranks)[ITEMS],
                                      call_site at = call_site::here()) {
        KILN_SCATTER(blocked, true)
    }
    template <class Out, class Offset>
    KILN_MEMBER void ScatterToStriped(const T (&in)[ITEMS], Out (&out)[ITEMS], Offset (&ranks)[ITEMS],
                                      call_site at = call_site::here()) {
        KILN_SCATTER(striped, true)
    }
    // Items with a negative rank go nowhere.
    template <class Out, class Offset>
    KILN_MEMBER void ScatterToStripedGuarded(const T (&in)[ITEMS], Out (&out)[ITEMS], Offset (&ranks)[ITEMS],
                                             call_site at = call_site::here()) {
        KILN_SCATTER(striped, ranks[item] >= 0)
    }
    template <class Out, class Offset, class Flag>
    KILN_MEMBER void ScatterToStripedFlagged(const T (&in)[ITEMS], Out (&out)[ITEMS], Offset (&ranks)[ITEMS],
                                             Flag (&valid)[ITEMS], call_site at = call_site::here()) {
        KILN_SCATTER(striped, valid[item])
    }
    template <class Offset>
    KILN_MEMBER void ScatterToBlocked(T (&items)[ITEMS], Offset (&ranks)[ITEMS], call_site at = call_site::here()) {
        ScatterToBlocked(items, items, ranks, at);
    }
    template <class Offset>
    KILN_MEMBER void ScatterToStriped(T (&items)[ITEMS], Offset (&ranks)[ITEMS], call_site at = call_site::here()) {
        ScatterToStriped(items, items, ranks, at);
    }
    template <class Offset>
    KILN_MEMBER void ScatterToStripedGuarded(T (&items)[ITEMS], Offset (&ranks)[ITEMS], call_site at = call_site::here()) {
        ScatterToStripedGuarded(items, items, ranks, at);
    }
    template <class Offset, class Flag>
    KILN_MEMBER void ScatterToStripedFlagged(T (&items)[ITEMS], Offset (&ranks)[ITEMS], Flag (&valid)[ITEMS],
                                             call_site at = call_site::here()) {
        ScatterToStripedFlagged(items, items, ranks, valid, at);
    }
#undef KILN_EXCHANGE
#undef KILN_SCATTER
#undef KILN_EACH_ITEM
};

}  // namespace cub

#endif
