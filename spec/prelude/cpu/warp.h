// Barriers, shuffles, votes and fences. All but the fences need FIBER mode; in LOOP mode they are faults.
#ifndef KILN_CPU_WARP_H
#define KILN_CPU_WARP_H

#if KILN_CPU_FIBERS

#if KILN_CPU_WATCH
#define KILN_CPU_SWITCHES static __attribute__((noinline)) KILN_CPU_UNSEEN
#else
#define KILN_CPU_SWITCHES KILN_INLINE
#endif

KILN_CPU_SWITCHES void kiln_cpu_barrier(const char* site) {
    kiln_cpu_state.request_site = site;
    KILN_CPU_SUSPEND(kiln_cpu_arrive_block);
}

KILN_CPU_SWITCHES int kiln_cpu_barrier_count(bool predicate, const char* site) {
    kiln_cpu_state.votes += predicate;
    kiln_cpu_barrier(site);
    return (int)kiln_cpu_state.votes_result;
}

// Brings `value` to a warp operation and gives what the lane takes away from it.
KILN_CPU_SWITCHES uint64_t kiln_cpu_exchange(uint32_t mask, uint64_t value, uint32_t source,
                                             uint32_t operation, const char* site) {
    uint32_t thread = kiln_cpu_state.current;
    kiln_cpu_value[thread] = value;
    kiln_cpu_source[thread] = (uint8_t)source;
    kiln_cpu_state.request_mask = mask;
    kiln_cpu_state.request_operation = operation;
    kiln_cpu_state.request_site = site;
    KILN_CPU_SUSPEND(kiln_cpu_arrive_warp);
    return kiln_cpu_result[kiln_cpu_state.current];
}

KILN_INLINE uint32_t kiln_cpu_lane(void) { return kiln_cpu_state.current % 32; }

#else

KILN_CPU_COLD void kiln_cpu_needs_fibers(const char* site) {
    kiln_cpu_fault_begins(threadIdx);
    kiln_cpu_say(site);
    kiln_cpu_say(" in a unit that was compiled with KILN_CPU_FIBERS 0");
    KILN_CPU_LEAVE(kiln_cpu_go_home);
}

KILN_INLINE void kiln_cpu_barrier(const char* site) { kiln_cpu_needs_fibers(site); }
KILN_INLINE int kiln_cpu_barrier_count(bool, const char* site) {
    kiln_cpu_needs_fibers(site);
    return 0;
}
KILN_INLINE uint64_t kiln_cpu_exchange(uint32_t, uint64_t, uint32_t, uint32_t, const char* site) {
    kiln_cpu_needs_fibers(site);
    return 0;
}
KILN_INLINE uint32_t kiln_cpu_lane(void) { return kiln_cpu_linear_thread() % 32; }

enum kiln_cpu_operation : uint32_t {
    KILN_CPU_SYNC, KILN_CPU_SHUFFLE, KILN_CPU_BALLOT, KILN_CPU_MATCH, KILN_CPU_ADD, KILN_CPU_MIN,
    KILN_CPU_MAX, KILN_CPU_MIN_SIGNED, KILN_CPU_MAX_SIGNED, KILN_CPU_AND, KILN_CPU_OR, KILN_CPU_XOR,
};

#endif

#define __syncthreads() kiln_cpu_barrier(KILN_CPU_SITE("__syncthreads()"))
#define __syncthreads_count(...) \
    kiln_cpu_barrier_count((__VA_ARGS__) != 0, KILN_CPU_SITE("__syncthreads_count()"))
#define __syncthreads_or(...) \
    ((int)(kiln_cpu_barrier_count((__VA_ARGS__) != 0, KILN_CPU_SITE("__syncthreads_or()")) != 0))
#define __syncthreads_and(...) \
    ((int)(kiln_cpu_barrier_count((__VA_ARGS__) == 0, KILN_CPU_SITE("__syncthreads_and()")) == 0))

KILN_INLINE void kiln_cpu_syncwarp(const char* site, uint32_t mask = 0xffffffffu) {
    kiln_cpu_exchange(mask, 0, 0, KILN_CPU_SYNC, site);
}
#define __syncwarp(...) \
    kiln_cpu_syncwarp(KILN_CPU_SITE("__syncwarp()") __VA_OPT__(, (uint32_t)(__VA_ARGS__)))

// The lane that each kind of shuffle reads from, within segments of `width` lanes.
KILN_INLINE uint32_t kiln_cpu_from(uint32_t lane, int source, int width) {
    return (lane & ~(uint32_t)(width - 1)) | ((uint32_t)source & (uint32_t)(width - 1));
}
KILN_INLINE uint32_t kiln_cpu_from_up(uint32_t lane, uint32_t delta, int width) {
    return (lane & (uint32_t)(width - 1)) < delta ? lane : lane - delta;
}
KILN_INLINE uint32_t kiln_cpu_from_down(uint32_t lane, uint32_t delta, int width) {
    return (lane & (uint32_t)(width - 1)) + delta >= (uint32_t)width ? lane : lane + delta;
}
// A lane may read from an earlier segment, but not from a later one.
KILN_INLINE uint32_t kiln_cpu_from_xor(uint32_t lane, int flip, int width) {
    uint32_t from = (lane ^ (uint32_t)flip) & 31;
    return from > (lane | (uint32_t)(width - 1)) ? lane : from;
}

template <class T>
KILN_INLINE T kiln_cpu_shuffle(uint32_t mask, T value, uint32_t source, const char* site) {
    typedef typename kiln_word<sizeof(T)>::type word;
    uint64_t bits = kiln_bits<word>(value);
    return kiln_bits<T>((word)kiln_cpu_exchange(mask, bits, source, KILN_CPU_SHUFFLE, site));
}

#define KILN_CPU_SHUFFLE_KIND(kind, Source)                                                            \
    template <class T>                                                                                 \
    KILN_INLINE T kiln_cpu_shfl##kind(const char* site, uint32_t mask, T value, Source source,         \
                                          int width = 32) {                                            \
        return kiln_cpu_shuffle(mask, value, kiln_cpu_from##kind(kiln_cpu_lane(), source, width),      \
                                site);                                                                 \
    }
KILN_CPU_SHUFFLE_KIND(, int)
KILN_CPU_SHUFFLE_KIND(_up, uint32_t)
KILN_CPU_SHUFFLE_KIND(_down, uint32_t)
KILN_CPU_SHUFFLE_KIND(_xor, int)
#undef KILN_CPU_SHUFFLE_KIND

KILN_INLINE uint32_t kiln_cpu_ballot(const char* site, uint32_t mask, int predicate) {
    return (uint32_t)kiln_cpu_exchange(mask, predicate != 0, 0, KILN_CPU_BALLOT, site);
}
// All lanes are for it when none is against: lanes that have returned have no vote.
#define __ballot_sync(...) kiln_cpu_ballot(KILN_CPU_SITE("__ballot_sync()"), __VA_ARGS__)
#define __any_sync(...) ((int)(kiln_cpu_ballot(KILN_CPU_SITE("__any_sync()"), __VA_ARGS__) != 0))
#define __all_sync(mask, ...)                                                                          \
    ((int)(kiln_cpu_ballot(KILN_CPU_SITE("__all_sync()"), (mask), (__VA_ARGS__) == 0) == 0))

template <class T>
KILN_INLINE uint32_t kiln_cpu_match(const char* site, uint32_t mask, T value) {
    uint64_t bits = kiln_bits<typename kiln_word<sizeof(T)>::type>(value);
    return (uint32_t)kiln_cpu_exchange(mask, bits, 0, KILN_CPU_MATCH, site);
}
#define __match_any_sync(...) kiln_cpu_match(KILN_CPU_SITE("__match_any_sync()"), __VA_ARGS__)

// The mask if all lanes bring the same value, and 0 otherwise.
template <class T>
KILN_INLINE uint32_t kiln_cpu_match_all(const char* site, uint32_t mask, T value, int* all) {
    *all = kiln_cpu_match(site, mask, value) == kiln_cpu_ballot(site, mask, 1);
    return *all ? mask : 0;
}
#define __match_all_sync(...) kiln_cpu_match_all(KILN_CPU_SITE("__match_all_sync()"), __VA_ARGS__)

KILN_INLINE unsigned int kiln_cpu_reduce(const char* site, uint32_t operation, uint32_t,
                                             uint32_t mask, unsigned int value) {
    return (unsigned int)kiln_cpu_exchange(mask, value, 0, operation, site);
}
KILN_INLINE int kiln_cpu_reduce(const char* site, uint32_t, uint32_t operation, uint32_t mask,
                                    int value) {
    return (int)(uint32_t)kiln_cpu_exchange(mask, (uint32_t)value, 0, operation, site);
}
#define KILN_CPU_REDUCE(name, operation, signed_operation, ...)                                        \
    kiln_cpu_reduce(KILN_CPU_SITE(name), operation, signed_operation, __VA_ARGS__)
#define __reduce_add_sync(...) \
    KILN_CPU_REDUCE("__reduce_add_sync()", KILN_CPU_ADD, KILN_CPU_ADD, __VA_ARGS__)
#define __reduce_min_sync(...) \
    KILN_CPU_REDUCE("__reduce_min_sync()", KILN_CPU_MIN, KILN_CPU_MIN_SIGNED, __VA_ARGS__)
#define __reduce_max_sync(...) \
    KILN_CPU_REDUCE("__reduce_max_sync()", KILN_CPU_MAX, KILN_CPU_MAX_SIGNED, __VA_ARGS__)
#define __reduce_and_sync(...) \
    KILN_CPU_REDUCE("__reduce_and_sync()", KILN_CPU_AND, KILN_CPU_AND, __VA_ARGS__)
#define __reduce_or_sync(...) \
    KILN_CPU_REDUCE("__reduce_or_sync()", KILN_CPU_OR, KILN_CPU_OR, __VA_ARGS__)
#define __reduce_xor_sync(...) \
    KILN_CPU_REDUCE("__reduce_xor_sync()", KILN_CPU_XOR, KILN_CPU_XOR, __VA_ARGS__)

// Threads run one after another, so a lane is always alone. A shuffle with this mask that reads from
// another lane is a fault that says so.
KILN_INLINE uint32_t __activemask(void) { return 1u << kiln_cpu_lane(); }

KILN_INLINE void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
KILN_INLINE void __threadfence_block(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
KILN_INLINE void __threadfence_system(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
KILN_INLINE void __nanosleep(unsigned int) {}

// The generator asks for functions if the source has overloads of them, whose declarations a macro would break. A check
// build then keeps a text for each place in a table.
#ifdef KILN_CPU_SHUFFLE_FUNCTIONS
#include "shim/call_site.h"
#define KILN_CPU_SHUFFLE_FUNCTION(kind, Source)                                                        \
    template <class T>                                                                                 \
    KILN_INLINE T __shfl##kind##_sync(unsigned int mask, T value, Source source, int width = 32,       \
                                      kiln_shim::call_site at = kiln_shim::call_site::here()) {        \
        return kiln_cpu_shfl##kind(at.text, mask, value, source, width);                               \
    }
KILN_CPU_SHUFFLE_FUNCTION(, int)
KILN_CPU_SHUFFLE_FUNCTION(_up, unsigned int)
KILN_CPU_SHUFFLE_FUNCTION(_down, unsigned int)
KILN_CPU_SHUFFLE_FUNCTION(_xor, int)
#undef KILN_CPU_SHUFFLE_FUNCTION
#else
#define __shfl_sync(...) kiln_cpu_shfl(KILN_CPU_SITE("__shfl_sync()"), __VA_ARGS__)
#define __shfl_up_sync(...) kiln_cpu_shfl_up(KILN_CPU_SITE("__shfl_up_sync()"), __VA_ARGS__)
#define __shfl_down_sync(...) kiln_cpu_shfl_down(KILN_CPU_SITE("__shfl_down_sync()"), __VA_ARGS__)
#define __shfl_xor_sync(...) kiln_cpu_shfl_xor(KILN_CPU_SITE("__shfl_xor_sync()"), __VA_ARGS__)
#endif

#endif
