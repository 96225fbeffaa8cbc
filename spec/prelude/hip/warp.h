// Shuffles, votes and reductions of a wavefront of 32 lanes. Masks name the lanes that take part; as on a
// GPU of NVIDIA, reading from a lane that does not is undefined.
#ifndef KILN_HIP_WARP_H
#define KILN_HIP_WARP_H

// The lane that each kind of shuffle reads from, within segments of `width` lanes.
KILN_INLINE uint32_t kiln_hip_from(uint32_t lane, int source, int width) {
    return (lane & ~(uint32_t)(width - 1)) | ((uint32_t)source & (uint32_t)(width - 1));
}
KILN_INLINE uint32_t kiln_hip_from_up(uint32_t lane, uint32_t delta, int width) {
    return (lane & (uint32_t)(width - 1)) < delta ? lane : lane - delta;
}
KILN_INLINE uint32_t kiln_hip_from_down(uint32_t lane, uint32_t delta, int width) {
    return (lane & (uint32_t)(width - 1)) + delta >= (uint32_t)width ? lane : lane + delta;
}
// A lane may read from an earlier segment, but not from a later one.
KILN_INLINE uint32_t kiln_hip_from_xor(uint32_t lane, int flip, int width) {
    uint32_t from = (lane ^ (uint32_t)flip) & 31;
    return from > (lane | (uint32_t)(width - 1)) ? lane : from;
}

// What `source` brings; words narrower than 32 bits travel in one, wider ones in two.
template <class T> KILN_INLINE T kiln_hip_shuffle(T value, uint32_t source) {
    typedef typename kiln_word<sizeof(T)>::type word;
    int from = (int)(source << 2);
    uint64_t bits = kiln_bits<word>(value);
    uint32_t low = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)(uint32_t)bits);
    if (sizeof(T) <= 4) return kiln_bits<T>((word)low);
    uint64_t high = (uint32_t)__builtin_amdgcn_ds_bpermute(from, (int)(uint32_t)(bits >> 32));
    return kiln_bits<T>((word)(high << 32 | low));
}

#define KILN_HIP_SHUFFLE(kind, Source)                                                                 \
    template <class T>                                                                                 \
    KILN_INLINE T __shfl##kind##_sync(unsigned int, T value, Source source, int width = 32) {          \
        return kiln_hip_shuffle(value, kiln_hip_from##kind(kiln_hip_lane(), source, width));           \
    }
KILN_HIP_SHUFFLE(, int)
KILN_HIP_SHUFFLE(_up, unsigned int)
KILN_HIP_SHUFFLE(_down, unsigned int)
KILN_HIP_SHUFFLE(_xor, int)
#undef KILN_HIP_SHUFFLE

KILN_INLINE unsigned int __activemask(void) { return __builtin_amdgcn_ballot_w32(true); }
KILN_INLINE unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return __builtin_amdgcn_ballot_w32(predicate != 0) & mask;
}
KILN_INLINE int __any_sync(unsigned int mask, int predicate) {
    return __ballot_sync(mask, predicate != 0) != 0;
}
KILN_INLINE int __all_sync(unsigned int mask, int predicate) {
    return __ballot_sync(mask, predicate == 0) == 0;
}

template <class T> KILN_INLINE unsigned int __match_any_sync(unsigned int mask, T value) {
    unsigned int peers = 0;
    for (unsigned int left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        typedef typename kiln_word<sizeof(T)>::type word;
        if (kiln_bits<word>(kiln_hip_shuffle(value, (uint32_t)lane)) == kiln_bits<word>(value)) {
            peers |= 1u << lane;
        }
    }
    return peers;
}

// The mask if all lanes bring the same value, and 0 otherwise.
template <class T> KILN_INLINE unsigned int __match_all_sync(unsigned int mask, T value, int* all) {
    *all = __match_any_sync(mask, value) == mask;
    return *all ? mask : 0;
}

// A whole wavefront combines in five steps, part of one lane by lane.
template <class T, class Combine>
KILN_INLINE T kiln_hip_reduce(unsigned int mask, T value, Combine combine) {
    if (mask == 0xffffffffu) {
        for (uint32_t apart = 16; apart; apart /= 2) {
            value = combine(value, kiln_hip_shuffle(value, kiln_hip_lane() ^ apart));
        }
        return value;
    }
    T all = kiln_hip_shuffle(value, (uint32_t)__builtin_ctz(mask));
    for (unsigned int left = mask & (mask - 1); left; left &= left - 1) {
        all = combine(all, kiln_hip_shuffle(value, (uint32_t)__builtin_ctz(left)));
    }
    return all;
}

#define KILN_HIP_REDUCE(name, T, expression)                                                           \
    KILN_INLINE T __reduce_##name##_sync(unsigned int mask, T value) {                                 \
        return kiln_hip_reduce(mask, value, [](T a, T b) -> T { return expression; });                 \
    }
#define KILN_HIP_REDUCE_BOTH(name, expression)                                                         \
    KILN_HIP_REDUCE(name, unsigned int, expression)                                                    \
    KILN_HIP_REDUCE(name, int, expression)
KILN_HIP_REDUCE_BOTH(add, (decltype(a))((unsigned int)a + (unsigned int)b))
KILN_HIP_REDUCE_BOTH(min, b < a ? b : a)
KILN_HIP_REDUCE_BOTH(max, a < b ? b : a)
KILN_HIP_REDUCE_BOTH(and, a & b)
KILN_HIP_REDUCE_BOTH(or, a | b)
KILN_HIP_REDUCE_BOTH(xor, a ^ b)
#undef KILN_HIP_REDUCE
#undef KILN_HIP_REDUCE_BOTH

#endif
