// Barriers and warp operations of the headers that stand in for NVIDIA's. On the cpu device they are told where the
// kernel calls the header's function, so that a fault names the author's line and not a line of these headers.
#ifndef KILN_SHIM_CALL_SITE_H
#define KILN_SHIM_CALL_SITE_H

#if defined(KILN_CPU) && KILN_CPU_CHECK
// One text for each place, since the checks tell barriers apart by its address. State of the prelude, not a variable
// of the kernel: it is neither watched nor filled before a block.
struct kiln_cpu_call_site { const char* file; int line; char text[256]; };
KILN_CPU_STATE kiln_cpu_call_site kiln_cpu_call_sites[64];
#endif

namespace kiln_shim {

// As a default argument, `call_site at = call_site::here()` is the place of the call.
struct call_site {
    const char* text;
#if defined(KILN_CPU) && KILN_CPU_CHECK
    // Past the last slot places share one text.
    KILN_CPU_COLD const char* text_of(const char* file, int line) {
        for (auto& one : kiln_cpu_call_sites) {
            if (one.file == file && one.line == line) return one.text;
            if (one.file) continue;
            one.file = file;
            one.line = line;
            char digits[12], *digit = digits + 11;
            for (*digit = 0; line; line /= 10) *--digit = (char)('0' + line % 10);
            const char* parts[] = {"a barrier or warp operation at ", file, ":", digit};
            char *to = one.text, *end = one.text + sizeof one.text - 1;
            for (const char* part : parts) {
                while (*part && to < end) *to++ = *part++;
            }
            return one.text;
        }
        return "a barrier or warp operation";
    }
    KILN_MEMBER static call_site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {text_of(file, line)};
    }
#elif defined(KILN_CPU)
    KILN_MEMBER static call_site here() { return {"a barrier or warp operation"}; }
#else
    KILN_MEMBER static call_site here() { return {nullptr}; }
#endif
};

#if defined(KILN_CPU)
KILN_INLINE void sync_block(call_site at) { kiln_cpu_barrier(at.text); }
KILN_INLINE void sync_lanes(call_site at, unsigned int mask) { kiln_cpu_syncwarp(at.text, mask); }
KILN_INLINE unsigned int ballot(call_site at, unsigned int mask, bool predicate) {
    return kiln_cpu_ballot(at.text, mask, predicate);
}
template <class T> KILN_INLINE unsigned int match(call_site at, unsigned int mask, T value) {
    return kiln_cpu_match(at.text, mask, value);
}
KILN_INLINE unsigned int word_from(call_site at, unsigned int mask, unsigned int word, unsigned int lane) {
    return kiln_cpu_shfl(at.text, mask, word, (int)lane);
}
KILN_INLINE unsigned int lane() { return kiln_cpu_lane(); }
#else
KILN_INLINE void sync_block(call_site) { __syncthreads(); }
KILN_INLINE void sync_lanes(call_site, unsigned int mask) { __syncwarp(mask); }
KILN_INLINE unsigned int ballot(call_site, unsigned int mask, bool predicate) { return __ballot_sync(mask, predicate); }
template <class T> KILN_INLINE unsigned int match(call_site, unsigned int mask, T value) {
    return __match_any_sync(mask, value);
}
KILN_INLINE unsigned int word_from(call_site, unsigned int mask, unsigned int word, unsigned int lane) {
    return __shfl_sync(mask, word, (int)lane);
}
KILN_INLINE unsigned int lane() { return kiln_hip_lane(); }
#endif

// What lane `from` of the warp brings: a value of any size that can be copied bit by bit.
template <class T>
KILN_INLINE T value_from(call_site at, unsigned int mask, const T& value, unsigned int from) {
    constexpr int words = (int)((sizeof(T) + 3) / 4);
    unsigned int raw[words] = {};
    __builtin_memcpy(raw, &value, sizeof(T));
    for (int i = 0; i < words; ++i) raw[i] = word_from(at, mask, raw[i], from);
    T result = value;
    __builtin_memcpy(&result, raw, sizeof(T));
    return result;
}

// The number of this thread in its block, and how many threads the block has.
KILN_INLINE unsigned int thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
KILN_INLINE unsigned int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

// The lanes of this warp that the block has.
KILN_INLINE unsigned int lanes_of_warp(unsigned int threads) {
    const unsigned int before = thread_in_block() & ~31u, left = threads - before;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

}  // namespace kiln_shim

#endif
