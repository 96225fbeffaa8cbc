// Warps of 32 lanes that exchange values. Every lane of the warp that has not returned must take part.
#ifndef KILN_DEVICE_WARP_H
#define KILN_DEVICE_WARP_H

namespace kiln {

constexpr unsigned int all_lanes = 0xffffffffu;
constexpr int warp_threads = 32;

// The number of this thread in its block, the first axis fastest.
KILN_INLINE unsigned int thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
// Its number in its warp, and the number of its warp in the block.
KILN_INLINE unsigned int lane() {
#if defined(KILN_CUDA)
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
#elif defined(KILN_HIP)
    return kiln_hip_lane();
#else
    return kiln_cpu_lane();
#endif
}
KILN_INLINE unsigned int warp() { return thread_rank() / warp_threads; }

// Applies a shuffle of 32-bit words to a value of any size.
template <class T, class Shuffle> KILN_INLINE T shuffle_words(const T& value, Shuffle shuffle) {
    constexpr int words = (int)((sizeof(T) + 3) / 4);
    unsigned int raw[words] = {};
    copy_bytes<sizeof(T)>(raw, &value);
#pragma unroll
    for (int i = 0; i < words; ++i) raw[i] = shuffle(raw[i]);
    T result;
    copy_bytes<sizeof(T)>(&result, raw);
    return result;
}

// What lane `source` brings, within segments of `width` lanes (a power of two): CUDA's __shfl_sync for values
// of any size that can be copied bit by bit.
template <class T> KILN_INLINE T shuffle(const T& value, int source, int width = warp_threads) {
    return shuffle_words(
        value, [=](unsigned int word) { return __shfl_sync(all_lanes, word, source, width); });
}
template <class T> KILN_INLINE T shuffle_xor(const T& value, int flip, int width = warp_threads) {
    return shuffle_words(
        value, [=](unsigned int word) { return __shfl_xor_sync(all_lanes, word, flip, width); });
}
// From the lane `by` below or above; lanes without one keep their own.
template <class T> KILN_INLINE T shuffle_up(const T& value, unsigned int by, int width = warp_threads) {
    return shuffle_words(
        value, [=](unsigned int word) { return __shfl_up_sync(all_lanes, word, by, width); });
}
template <class T> KILN_INLINE T shuffle_down(const T& value, unsigned int by, int width = warp_threads) {
    return shuffle_words(
        value, [=](unsigned int word) { return __shfl_down_sync(all_lanes, word, by, width); });
}

// The value of one lane, for all.
template <class T> KILN_INLINE T warp_broadcast(const T& value, int source = 0) {
    return shuffle(value, source);
}

// The values of each segment of WIDTH lanes (a power of two) combined, for all of its lanes. Lanes combine in
// pairs, halves of the segment first, and both of a pair in the same order, the lower lane's value first: so that
// every lane gets the same bits, also where the order matters (a NaN in a maximum, a combine of one's own).
template <int WIDTH = warp_threads, class T, class Combine>
KILN_INLINE T warp_reduce(T value, Combine combine) {
    static_assert(WIDTH >= 1 && WIDTH <= 32 && (WIDTH & (WIDTH - 1)) == 0, "a power of two up to 32");
#pragma unroll
    for (int apart = WIDTH / 2; apart > 0; apart /= 2) {
        // Operands are chosen and not calls, so that `combine` is there once.
        const T other = shuffle_xor(value, apart);
        const bool upper = (lane() & apart) != 0;
        const T first = upper ? other : value, second = upper ? value : other;
        value = combine(first, second);
    }
    return value;
}
template <int WIDTH = warp_threads, class T> KILN_INLINE T warp_sum(T value) {
    return warp_reduce<WIDTH>(value, add());
}
template <int WIDTH = warp_threads, class T> KILN_INLINE T warp_max(T value) {
    return warp_reduce<WIDTH>(value, maximum());
}
template <int WIDTH = warp_threads, class T> KILN_INLINE T warp_min(T value) {
    return warp_reduce<WIDTH>(value, minimum());
}

// Which lanes are for it, whether any is, whether all that have not returned are.
KILN_INLINE unsigned int warp_ballot(bool predicate) { return __ballot_sync(all_lanes, predicate); }
KILN_INLINE bool warp_any(bool predicate) { return __any_sync(all_lanes, predicate) != 0; }
KILN_INLINE bool warp_all(bool predicate) { return __all_sync(all_lanes, predicate) != 0; }

}  // namespace kiln

#endif
