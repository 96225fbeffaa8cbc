// cub::BlockLoad and cub::BlockStore, and the functions on which they are based. As in CUB, a barrier must stand between
// two uses of one TempStorage by the algorithms that transpose.
#ifndef KILN_SHIM_CUB_BLOCK_LOAD_H
#define KILN_SHIM_CUB_BLOCK_LOAD_H

#include "cub/block/block_exchange.cuh"

namespace cub {

// The place of item `item` of thread `thread` in memory.
struct kiln_blocked {
    int thread, items;
    KILN_MEMBER int operator()(int item) const { return thread * items + item; }
};
struct kiln_striped {
    int thread, threads;
    KILN_MEMBER int operator()(int item) const { return item * threads + thread; }
};
struct kiln_warp_striped {
    int thread, items;
    KILN_MEMBER int operator()(int item) const { return thread / 32 * 32 * items + item * 32 + thread % 32; }
};

template <class From, class T, int ITEMS, class Place>
KILN_INLINE void kiln_load(From from, T (&items)[ITEMS], Place place) {
    for (int item = 0; item < ITEMS; ++item) items[item] = from[place(item)];
}
// Items at or behind `end` keep their values.
template <class From, class T, int ITEMS, class Place>
KILN_INLINE void kiln_load(From from, T (&items)[ITEMS], Place place, int end) {
    for (int item = 0; item < ITEMS; ++item) {
        if (place(item) < end) items[item] = from[place(item)];
    }
}
template <class From, class T, int ITEMS, class Place, class Default>
KILN_INLINE void kiln_load(From from, T (&items)[ITEMS], Place place, int end, Default otherwise) {
    for (int item = 0; item < ITEMS; ++item) items[item] = static_cast<T>(otherwise);
    kiln_load(from, items, place, end);
}
template <class To, class T, int ITEMS, class Place>
KILN_INLINE void kiln_store(To to, T (&items)[ITEMS], Place place) {
    for (int item = 0; item < ITEMS; ++item) to[place(item)] = items[item];
}
template <class To, class T, int ITEMS, class Place>
KILN_INLINE void kiln_store(To to, T (&items)[ITEMS], Place place, int end) {
    for (int item = 0; item < ITEMS; ++item) {
        if (place(item) < end) to[place(item)] = items[item];
    }
}

#define KILN_DIRECT(name, place, parameter)                                                            \
    template <parameter class T, int ITEMS, class From, class... Rest>                                 \
    KILN_INLINE void LoadDirect##name(int thread, From from, T (&items)[ITEMS], Rest... rest) {        \
        kiln_load(from, items, place, rest...);                                                        \
    }                                                                                                  \
    template <parameter class T, int ITEMS, class To, class... Rest>                                   \
    KILN_INLINE void StoreDirect##name(int thread, To to, T (&items)[ITEMS], Rest... rest) {           \
        kiln_store(to, items, place, rest...);                                                         \
    }
#define KILN_COMMA ,
KILN_DIRECT(Blocked, (kiln_blocked{thread, ITEMS}), )
KILN_DIRECT(BlockedVectorized, (kiln_blocked{thread, ITEMS}), )
KILN_DIRECT(Striped, (kiln_striped{thread, BLOCK_THREADS}), int BLOCK_THREADS KILN_COMMA)
KILN_DIRECT(WarpStriped, (kiln_warp_striped{thread, ITEMS}), )
#undef KILN_DIRECT
#undef KILN_COMMA

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

// What loads and stores share: the algorithms have the same numbers. Those that transpose let neighbouring threads
// access neighbouring items, which then change places in shared memory.
template <class T, int X, int ITEMS, int ALGORITHM, int Y, int Z> class kiln_block_memory {
protected:
    static constexpr int threads = X * Y * Z;
    static constexpr bool transposes = ALGORITHM >= BLOCK_LOAD_TRANSPOSE, by_warps = ALGORITHM > BLOCK_LOAD_TRANSPOSE;
    static_assert(!by_warps || threads % 32 == 0, "this algorithm needs blocks of whole warps");
    typedef BlockExchange<T, X, ITEMS, false, Y, Z> exchange;
    struct nothing { unsigned char kiln_unused; };
    template <bool, class Yes, class No> struct either { typedef Yes type; };
    template <class Yes, class No> struct either<false, Yes, No> { typedef No type; };

public:
    struct TempStorage { typename either<transposes, typename exchange::TempStorage, nothing>::type kiln_exchange; };

protected:
    TempStorage& storage;
    int thread;
    KILN_MEMBER explicit kiln_block_memory(TempStorage& storage)
        : storage(storage), thread((int)kiln_shim::thread_in_block()) {}
    // In which arrangement threads access memory.
    template <class Use> KILN_MEMBER void with_place(Use use) {
        if constexpr (by_warps) {
            use(kiln_warp_striped{thread, ITEMS});
        } else if constexpr (transposes || ALGORITHM == BLOCK_LOAD_STRIPED) {
            use(kiln_striped{thread, threads});
        } else {
            use(kiln_blocked{thread, ITEMS});
        }
    }
};

template <class T, int X, int ITEMS, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockLoad : kiln_block_memory<T, X, ITEMS, ALGORITHM, Y, Z> {
    typedef kiln_block_memory<T, X, ITEMS, ALGORITHM, Y, Z> memory;
    template <class From, class... Rest> KILN_MEMBER void load(call_site at, From from, T (&items)[ITEMS], Rest... rest) {
        this->with_place([&](auto place) { kiln_load(from, items, place, rest...); });
        if constexpr (memory::by_warps) {
            typename memory::exchange(this->storage.kiln_exchange).WarpStripedToBlocked(items, items, at);
        } else if constexpr (memory::transposes) {
            typename memory::exchange(this->storage.kiln_exchange).StripedToBlocked(items, items, at);
        }
    }

public:
    typedef typename memory::TempStorage TempStorage;
    KILN_MEMBER BlockLoad() : memory(kiln_own_storage<BlockLoad>()) {}
    KILN_MEMBER explicit BlockLoad(TempStorage& storage) : memory(storage) {}

    template <class From> KILN_MEMBER void Load(From from, T (&items)[ITEMS], call_site at = call_site::here()) {
        load(at, from, items);
    }
    template <class From> KILN_MEMBER void Load(From from, T (&items)[ITEMS], int end, call_site at = call_site::here()) {
        load(at, from, items, end);
    }
    template <class From, class Default>
    KILN_MEMBER void Load(From from, T (&items)[ITEMS], int end, Default otherwise, call_site at = call_site::here()) {
        load(at, from, items, end, otherwise);
    }
};

template <class T, int X, int ITEMS, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockStore : kiln_block_memory<T, X, ITEMS, ALGORITHM, Y, Z> {
    typedef kiln_block_memory<T, X, ITEMS, ALGORITHM, Y, Z> memory;
    template <class To, class... Rest> KILN_MEMBER void store(call_site at, To to, T (&items)[ITEMS], Rest... rest) {
        if constexpr (memory::by_warps) {
            typename memory::exchange(this->storage.kiln_exchange).BlockedToWarpStriped(items, items, at);
        } else if constexpr (memory::transposes) {
            typename memory::exchange(this->storage.kiln_exchange).BlockedToStriped(items, items, at);
        }
        this->with_place([&](auto place) { kiln_store(to, items, place, rest...); });
    }

public:
    typedef typename memory::TempStorage TempStorage;
    KILN_MEMBER BlockStore() : memory(kiln_own_storage<BlockStore>()) {}
    KILN_MEMBER explicit BlockStore(TempStorage& storage) : memory(storage) {}

    template <class To> KILN_MEMBER void Store(To to, T (&items)[ITEMS], call_site at = call_site::here()) {
        store(at, to, items);
    }
    template <class To> KILN_MEMBER void Store(To to, T (&items)[ITEMS], int end, call_site at = call_site::here()) {
        store(at, to, items, end);
    }
};

}  // namespace cub

#endif
