// FIBER mode: the threads of one block as coroutines that switch directly to each other.
//
// Which threads can run is kept in two levels of masks: a word for each warp and one word over the warps,
// so that the next thread is two bit scans away. The side that switches writes threadIdx, not the side
// that goes on: that shortens the chain from store to load.
#ifndef KILN_CPU_SCHEDULER_H
#define KILN_CPU_SCHEDULER_H

#define KILN_CPU_WARPS (KILN_CPU_MAX_THREADS / 32)

// The lanes that have arrived at one warp operation with one mask.
struct kiln_cpu_group {
    uint32_t mask;
    uint32_t arrived;
    uint32_t operation;
    const char* site;
};

// The warp operations that need every lane's value.
enum kiln_cpu_operation : uint32_t {
    KILN_CPU_SYNC,
    KILN_CPU_SHUFFLE,
    KILN_CPU_BALLOT,
    KILN_CPU_MATCH,
    KILN_CPU_ADD,
    KILN_CPU_MIN,
    KILN_CPU_MAX,
    KILN_CPU_MIN_SIGNED,
    KILN_CPU_MAX_SIGNED,
    KILN_CPU_AND,
    KILN_CPU_OR,
    KILN_CPU_XOR,
};

struct kiln_cpu_scheduler {
    uint64_t ready_warps;                    // warps with a bit in `ready`
    uint32_t ready[KILN_CPU_WARPS];          // threads that can run and are not running
    uint32_t alive[KILN_CPU_WARPS];          // threads that have not exited
    uint32_t current;                        // the running thread
    uint32_t threads;                        // threads of the block
    uint32_t live;                           // those that have not exited
    uint32_t waiting;                        // those at the block barrier
    uint32_t warps;                          // warps of the block
    uint32_t votes;                          // arrivals at the block barrier with a true predicate
    uint32_t votes_result;                   // the same of the last barrier that was completed
    uint32_t request_mask;                   // what the arriving lane asks for
    uint32_t request_operation;
    const char* request_site;
    const char* barrier_site;                // where the first thread waits
    uint32_t barrier_thread;
    void (*body)(void);                      // runs the kernel for the current thread
    uint32_t groups_in_use[KILN_CPU_WARPS];  // of each warp
};

struct __attribute__((aligned(16))) kiln_cpu_index { uint3 index; };

KILN_CPU_STATE kiln_cpu_scheduler kiln_cpu_state;
KILN_CPU_STATE void* kiln_cpu_contexts[KILN_CPU_MAX_THREADS];
KILN_CPU_STATE kiln_cpu_index kiln_cpu_thread_index[KILN_CPU_MAX_THREADS];
KILN_CPU_STATE kiln_cpu_group kiln_cpu_groups[KILN_CPU_WARPS][32];
// What each lane brings to a warp operation, and what it takes away.
KILN_CPU_STATE uint64_t kiln_cpu_value[KILN_CPU_MAX_THREADS];
KILN_CPU_STATE uint64_t kiln_cpu_result[KILN_CPU_MAX_THREADS];
KILN_CPU_STATE uint8_t kiln_cpu_source[KILN_CPU_MAX_THREADS];

// Of coroutine.h.
KILN_CPU_COMMON void kiln_cpu_prepare(const kiln_cpu_launch* launch, void (*body)(void));
KILN_CPU_COMMON void kiln_cpu_run_block(const kiln_cpu_launch* launch);

#if KILN_CPU_HAS_COMMON
KILN_CPU_COLD void kiln_cpu_say_thread(uint32_t thread) {
    kiln_cpu_say_triple("thread ", kiln_cpu_thread_index[thread].index);
}

// Tells why nobody can run: some lanes wait at a warp operation for lanes that never come.
KILN_CPU_COLD void kiln_cpu_tell_deadlock(void) {
    for (uint32_t warp = 0; warp < kiln_cpu_state.warps; warp++) {
        if (!kiln_cpu_state.groups_in_use[warp]) continue;
        kiln_cpu_group* group = &kiln_cpu_groups[warp][0];
        uint32_t lane = (uint32_t)__builtin_ctz(group->arrived);
        uint32_t missing = group->mask & kiln_cpu_state.alive[warp] & ~group->arrived;
        kiln_cpu_fault_begins(kiln_cpu_thread_index[warp * 32 + lane].index);
        kiln_cpu_say(group->site);
        kiln_cpu_say(" waits for lanes that never come: mask ");
        kiln_cpu_say_mask(group->mask);
        kiln_cpu_say(", missing ");
        kiln_cpu_say_mask(missing);
        if (kiln_cpu_state.waiting) {
            kiln_cpu_say("; ");
            kiln_cpu_say_number(kiln_cpu_state.waiting);
            kiln_cpu_say(" threads wait at ");
            kiln_cpu_say(kiln_cpu_state.barrier_site);
        }
        return;
    }
    kiln_cpu_fault_begins(kiln_cpu_thread_index[kiln_cpu_state.barrier_thread].index);
    kiln_cpu_say(kiln_cpu_state.barrier_site);
    kiln_cpu_say(" is never completed");
}

// Takes the next thread that can run and gives its context; home when there is none.
static inline __attribute__((always_inline)) void* kiln_cpu_pick(void) {
    if (__builtin_expect(!kiln_cpu_state.ready_warps, 0)) {
        if (kiln_cpu_state.live && !kiln_cpu_failed) kiln_cpu_tell_deadlock();
        return kiln_cpu_home;
    }
    uint32_t warp = (uint32_t)__builtin_ctzll(kiln_cpu_state.ready_warps);
    uint32_t lane = (uint32_t)__builtin_ctz(kiln_cpu_state.ready[warp]);
#if KILN_CPU_CHECK
    if (kiln_cpu_order == KILN_CPU_SEEDED) {
        warp = kiln_cpu_random_bit(kiln_cpu_state.ready_warps);
        lane = kiln_cpu_random_bit(kiln_cpu_state.ready[warp]);
    } else if (kiln_cpu_order == KILN_CPU_REVERSE) {
        warp = 63 - (uint32_t)__builtin_clzll(kiln_cpu_state.ready_warps);
        lane = 31 - (uint32_t)__builtin_clz(kiln_cpu_state.ready[warp]);
    }
#endif
    uint32_t left = kiln_cpu_state.ready[warp] & ~(1u << lane);
    kiln_cpu_state.ready[warp] = left;
    if (!left) kiln_cpu_state.ready_warps &= ~(1ull << warp);
    uint32_t thread = warp * 32 + lane;
    kiln_cpu_state.current = thread;
    kiln_cpu_threadIdx = kiln_cpu_thread_index[thread].index;
#if KILN_CPU_WATCH
    kiln_cpu_watch.stack_low = (uintptr_t)kiln_cpu_job->stacks + thread * kiln_cpu_job->stack_stride;
#endif
    return kiln_cpu_contexts[thread];
}

KILN_INLINE void kiln_cpu_wake(uint32_t warp, uint32_t lanes) {
    kiln_cpu_state.ready[warp] |= lanes;
    if (lanes) kiln_cpu_state.ready_warps |= 1ull << warp;
}
#endif

#endif
