// cub::BlockRadixSort: a stable sort by digits of 4 bits. Each thread counts the digits of its items, and a sum over the
// counts of all threads gives every item its place. As in CUB, -0 and +0 are equal keys, and a barrier must stand
// between two uses of one TempStorage.
#ifndef KILN_SHIM_CUB_BLOCK_RADIX_SORT_H
#define KILN_SHIM_CUB_BLOCK_RADIX_SORT_H

#include "cub/block/block_exchange.cuh"
#include "cub/block/block_scan.cuh"

enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte,
};

namespace cub {

// How the bits of a key are ordered.
enum kiln_key_kind { kiln_unsigned_key, kiln_signed_key, kiln_float_key };
template <class T> struct kiln_key { static constexpr kiln_key_kind kind = T(-1) < T(0) ? kiln_signed_key : kiln_unsigned_key; };
template <> struct kiln_key<bool> { static constexpr kiln_key_kind kind = kiln_unsigned_key; };
template <> struct kiln_key<float> { static constexpr kiln_key_kind kind = kiln_float_key; };
template <> struct kiln_key<double> { static constexpr kiln_key_kind kind = kiln_float_key; };
template <> struct kiln_key<__half> { static constexpr kiln_key_kind kind = kiln_float_key; };
template <> struct kiln_key<__nv_bfloat16> { static constexpr kiln_key_kind kind = kiln_float_key; };

// An unsigned number that is ordered like the key.
template <class T> KILN_INLINE auto kiln_ordered(const T& key) {
    typedef typename kiln_word<sizeof(T)>::type word;
    constexpr word top = (word)((word)1 << (8 * sizeof(T) - 1));
    constexpr kiln_key_kind kind = kiln_key<T>::kind;
    word bits = kiln_bits<word>(key);
    if (kind == kiln_signed_key) return (word)(bits ^ top);
    if (kind != kiln_float_key) return bits;
    if (bits == top) bits = 0;
    return (word)(bits & top ? ~bits : bits | top);
}

template <class Key, int X, int ITEMS, class Value = NullType, int RADIX_BITS = 4, bool MEMOIZE_OUTER_SCAN = true,
          BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SMEM_CONFIG = cudaSharedMemBankSizeFourByte, int Y = 1, int Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockRadixSort {
    static constexpr int threads = X * Y * Z, digits = 16;
    static constexpr bool has_values = !kiln_same<Value, NullType>::value;
    typedef BlockScan<int, X, BLOCK_SCAN_WARP_SCANS, Y, Z> scan;
    typedef BlockExchange<Key, X, ITEMS, false, Y, Z> of_keys;
    typedef BlockExchange<Value, X, ITEMS, false, Y, Z> of_values;

public:
    // CUB lets the parts overlap; a part of its own for the sum spares two barriers for each digit.
    struct TempStorage {
        typename scan::TempStorage kiln_scan;
        union {
            int counts[digits * threads];
            typename of_keys::TempStorage keys;
            typename of_values::TempStorage values;
        } kiln_parts;
    };

private:
    TempStorage& storage;
    int thread;
    KILN_MEMBER static int digit(const Key& key, bool descending, int begin, int bits) {
        if (bits == 0) return 0;
        auto ordered = kiln_ordered(key);
        if (descending) ordered = ~ordered;
        return (int)(ordered >> begin & (typename kiln_word<sizeof(Key)>::type)((1 << bits) - 1));
    }
    // The place of each item after it is sorted by a digit. The counts of one digit in all threads are neighbours.
    KILN_MEMBER void rank(Key (&keys)[ITEMS], int (&ranks)[ITEMS], bool descending, int begin, int bits, call_site at) {
        int* counts = storage.kiln_parts.counts;
        for (int i = 0; i < digits; ++i) counts[i * threads + thread] = 0;
        for (int i = 0; i < ITEMS; ++i) {
            ranks[i] = counts[digit(keys[i], descending, begin, bits) * threads + thread]++;
        }
        kiln_shim::sync_block(at);
        int sum = 0, before;
        for (int i = 0; i < digits; ++i) sum += counts[thread * digits + i];
        scan(storage.kiln_scan).ExclusiveSum(sum, before, at);
        for (int i = 0; i < digits; ++i) {
            int count = counts[thread * digits + i];
            counts[thread * digits + i] = before;
            before += count;
        }
        kiln_shim::sync_block(at);
        for (int i = 0; i < ITEMS; ++i) ranks[i] += counts[digit(keys[i], descending, begin, bits) * threads + thread];
        kiln_shim::sync_block(at);
    }
    KILN_MEMBER void sort(Key (&keys)[ITEMS], Value* values, bool descending, bool striped, int begin, int end, call_site at) {
        // Without a digit, one pass keeps the order.
        for (bool more = true; more; begin += 4) {
            const int left = end - begin;
            more = left > 4;
            int ranks[ITEMS];
            rank(keys, ranks, descending, begin, left < 0 ? 0 : left < 4 ? left : 4, at);
            of_keys keys_of_block(storage.kiln_parts.keys);
            if (striped && !more) keys_of_block.ScatterToStriped(keys, ranks, at);
            else keys_of_block.ScatterToBlocked(keys, ranks, at);
            if constexpr (has_values) {
                kiln_shim::sync_block(at);
                Value(&all)[ITEMS] = *reinterpret_cast<Value(*)[ITEMS]>(values);
                of_values values_of_block(storage.kiln_parts.values);
                if (striped && !more) values_of_block.ScatterToStriped(all, ranks, at);
                else values_of_block.ScatterToBlocked(all, ranks, at);
            }
            if (more) kiln_shim::sync_block(at);
        }
    }

public:
    KILN_MEMBER BlockRadixSort() : storage(kiln_own_storage<BlockRadixSort>()), thread((int)kiln_shim::thread_in_block()) {}
    KILN_MEMBER explicit BlockRadixSort(TempStorage& storage) : storage(storage), thread((int)kiln_shim::thread_in_block()) {}

#define KILN_SORT(name, descending, striped)                                                           \
    KILN_MEMBER void name(Key (&keys)[ITEMS], int begin_bit = 0, int end_bit = sizeof(Key) * 8,        \
                          call_site at = call_site::here()) {                                          \
        static_assert(!has_values, "a sort of keys and values needs the values");                      \
        sort(keys, nullptr, descending, striped, begin_bit, end_bit, at);                              \
    }                                                                                                  \
    KILN_MEMBER void name(Key (&keys)[ITEMS], Value (&values)[ITEMS], int begin_bit = 0,               \
                          int end_bit = sizeof(Key) * 8, call_site at = call_site::here()) {           \
        sort(keys, values, descending, striped, begin_bit, end_bit, at);                               \
    }
    KILN_SORT(Sort, false, false)
    KILN_SORT(SortDescending, true, false)
    KILN_SORT(SortBlockedToStriped, false, true)
    KILN_SORT(SortDescendingBlockedToStriped, true, true)
#undef KILN_SORT
};

}  // namespace cub

#endif
