// FIBER mode: the threads of one block as coroutines that switch directly to each other.
//
// Which threads can run is kept in two levels of masks: a word for each warp and one word over the warps,
// so that the next thread is two bit scans away. The side that switches writes threadIdx, not the side
// that goes on: that shortens the chain from store to load.
#ifndef KILN_CPU_SCHEDULE_H
#define KILN_CPU_SCHEDULE_H

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
KILN_CPU_STATE bool kiln_cpu_reverse;

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
        if (kiln_cpu_state.live) kiln_cpu_tell_deadlock();
        return kiln_cpu_home;
    }
    uint32_t warp = (uint32_t)__builtin_ctzll(kiln_cpu_state.ready_warps);
    uint32_t lane = (uint32_t)__builtin_ctz(kiln_cpu_state.ready[warp]);
#if KILN_CPU_CHECK
    if (kiln_cpu_reverse) {
        warp = 63 - (uint32_t)__builtin_clzll(kiln_cpu_state.ready_warps);
        lane = 31 - (uint32_t)__builtin_clz(kiln_cpu_state.ready[warp]);
    }
#endif
    uint32_t left = kiln_cpu_state.ready[warp] & ~(1u << lane);
    kiln_cpu_state.ready[warp] = left;
    if (!left) kiln_cpu_state.ready_warps &= ~(1ull << warp);
    uint32_t thread = warp * 32 + lane;
    kiln_cpu_state.current = thread;
    threadIdx = kiln_cpu_thread_index[thread].index;
    return kiln_cpu_contexts[thread];
}

KILN_CPU_INLINE void kiln_cpu_wake(uint32_t warp, uint32_t lanes) {
    kiln_cpu_state.ready[warp] |= lanes;
    if (lanes) kiln_cpu_state.ready_warps |= 1ull << warp;
}

// Completes the block barrier: every thread that is alive waits there.
KILN_CPU_INLINE void kiln_cpu_release_block(void) {
    kiln_cpu_state.waiting = 0;
    kiln_cpu_state.votes_result = kiln_cpu_state.votes;
    kiln_cpu_state.votes = 0;
    for (uint32_t warp = 0; warp < kiln_cpu_state.warps; warp++) {
        kiln_cpu_wake(warp, kiln_cpu_state.alive[warp]);
    }
}

// A check build's complaints about the block barrier.
KILN_CPU_COLD void kiln_cpu_tell_two_barriers(void) {
    kiln_cpu_fault_begins(threadIdx);
    kiln_cpu_say("divergent barrier: it waits at ");
    kiln_cpu_say(kiln_cpu_state.request_site);
    kiln_cpu_say(", but ");
    kiln_cpu_say_thread(kiln_cpu_state.barrier_thread);
    kiln_cpu_say(" waits at ");
    kiln_cpu_say(kiln_cpu_state.barrier_site);
}

KILN_CPU_COLD void kiln_cpu_tell_exited(void) {
    kiln_cpu_fault_begins(kiln_cpu_thread_index[kiln_cpu_state.barrier_thread].index);
    kiln_cpu_say("divergent barrier: it waits at ");
    kiln_cpu_say(kiln_cpu_state.barrier_site);
    kiln_cpu_say(", but ");
    kiln_cpu_say_number(kiln_cpu_state.threads - kiln_cpu_state.live);
    kiln_cpu_say(" of ");
    kiln_cpu_say_number(kiln_cpu_state.threads);
    kiln_cpu_say(" threads of the block have returned");
}

// The current thread arrives at the block barrier.
KILN_CPU_CALLEE void* kiln_cpu_arrive_block(void* here) {
    uint32_t thread = kiln_cpu_state.current;
    kiln_cpu_contexts[thread] = here;
    if (!kiln_cpu_state.waiting++) {
        kiln_cpu_state.barrier_site = kiln_cpu_state.request_site;
        kiln_cpu_state.barrier_thread = thread;
    }
#if KILN_CPU_CHECK
    if (kiln_cpu_state.request_site != kiln_cpu_state.barrier_site) {
        kiln_cpu_tell_two_barriers();
        return kiln_cpu_home;
    }
    if (kiln_cpu_state.live < kiln_cpu_state.threads) {
        kiln_cpu_tell_exited();
        return kiln_cpu_home;
    }
#endif
    if (kiln_cpu_state.waiting == kiln_cpu_state.live) kiln_cpu_release_block();
    return kiln_cpu_pick();
}

KILN_CPU_INLINE uint64_t kiln_cpu_reduced(uint32_t operation, uint64_t a, uint64_t b) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (operation) {
        case KILN_CPU_ADD: return x + y;
        case KILN_CPU_MIN: return x < y ? x : y;
        case KILN_CPU_MAX: return x < y ? y : x;
        case KILN_CPU_MIN_SIGNED: return (int32_t)x < (int32_t)y ? x : y;
        case KILN_CPU_MAX_SIGNED: return (int32_t)x < (int32_t)y ? y : x;
        case KILN_CPU_AND: return x & y;
        case KILN_CPU_OR: return x | y;
        default: return x ^ y;
    }
}

// Results of the operations that are no shuffle, for the lanes of a complete group.
static __attribute__((noinline)) void kiln_cpu_finish_vote(uint32_t operation, uint32_t lanes,
                                                           const uint64_t* value, uint64_t* result) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    uint64_t all = value[first];
    if (operation == KILN_CPU_BALLOT) all = all << first;
    for (uint32_t left = lanes & (lanes - 1); left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (operation == KILN_CPU_BALLOT) all |= value[lane] << lane;
        else if (operation != KILN_CPU_MATCH) all = kiln_cpu_reduced(operation, all, value[lane]);
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        result[lane] = all;
        if (operation != KILN_CPU_MATCH) continue;
        result[lane] = 0;
        for (uint32_t peers = lanes; peers; peers &= peers - 1) {
            uint32_t peer = (uint32_t)__builtin_ctz(peers);
            if (value[peer] == value[lane]) result[lane] |= 1ull << peer;
        }
    }
}

// Results of a shuffle. False when a lane reads from one outside the mask or, in check builds, from one
// that does not exist or has returned; otherwise such a lane keeps its own value.
KILN_CPU_INLINE bool kiln_cpu_finish_shuffle(const kiln_cpu_group* group, const uint64_t* value,
                                             const uint8_t* source, uint64_t* result) {
    uint32_t lanes = group->arrived;
    if (lanes == 0xffffffffu) {
        for (uint32_t lane = 0; lane < 32; lane++) result[lane] = value[source[lane]];
        return true;
    }
    uint32_t allowed = KILN_CPU_CHECK ? lanes : group->mask;
    bool valid = true;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        valid &= allowed >> source[lane] & 1;
        result[lane] = value[lanes >> source[lane] & 1 ? source[lane] : lane];
    }
    return valid;
}

KILN_CPU_COLD void kiln_cpu_tell_absent_source(uint32_t warp, const kiln_cpu_group* group) {
    uint32_t allowed = KILN_CPU_CHECK ? group->arrived : group->mask;
    for (uint32_t left = group->arrived; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), source = kiln_cpu_source[warp * 32 + lane];
        if (allowed >> source & 1) continue;
        kiln_cpu_fault_begins(kiln_cpu_thread_index[warp * 32 + lane].index);
        kiln_cpu_say(group->site);
        kiln_cpu_say(" reads from lane ");
        kiln_cpu_say_number(source);
        kiln_cpu_say(", which takes no part: mask ");
        kiln_cpu_say_mask(group->mask);
        kiln_cpu_say(", lanes ");
        kiln_cpu_say_mask(group->arrived);
        return;
    }
}

// Completes a group: gives every lane its result and lets all but `running` go on later. False on a fault.
static __attribute__((noinline)) bool kiln_cpu_finish_group(uint32_t warp, kiln_cpu_group* group, uint32_t running) {
    uint64_t *value = kiln_cpu_value + warp * 32, *result = kiln_cpu_result + warp * 32;
    if (group->operation == KILN_CPU_SHUFFLE) {
        if (!kiln_cpu_finish_shuffle(group, value, kiln_cpu_source + warp * 32, result)) {
            kiln_cpu_tell_absent_source(warp, group);
            return false;
        }
    } else if (group->operation != KILN_CPU_SYNC) {
        kiln_cpu_finish_vote(group->operation, group->arrived, value, result);
    }
    kiln_cpu_wake(warp, group->arrived & ~running);
    uint32_t last = --kiln_cpu_state.groups_in_use[warp];
    if (last) *group = kiln_cpu_groups[warp][last];
    return true;
}

KILN_CPU_INLINE bool kiln_cpu_group_is_complete(uint32_t warp, const kiln_cpu_group* group) {
    return !(group->mask & kiln_cpu_state.alive[warp] & ~group->arrived);
}

// The group of the lanes that wait with that mask; a new one when there is none.
static inline kiln_cpu_group* kiln_cpu_other_group(uint32_t warp, uint32_t mask) {
    kiln_cpu_group* group = kiln_cpu_groups[warp];
    uint32_t in_use = kiln_cpu_state.groups_in_use[warp];
    for (uint32_t i = 0; i < in_use; i++, group++) {
        if (group->mask == mask) return group;
    }
    kiln_cpu_state.groups_in_use[warp] = in_use + 1;
    group->mask = mask;
    group->arrived = 0;
    group->operation = kiln_cpu_state.request_operation;
    group->site = kiln_cpu_state.request_site;
    return group;
}

KILN_CPU_INLINE kiln_cpu_group* kiln_cpu_group_of(uint32_t warp, uint32_t mask) {
    kiln_cpu_group* first = kiln_cpu_groups[warp];
    bool usual = kiln_cpu_state.groups_in_use[warp] && first->mask == mask;
    return __builtin_expect(usual, 1) ? first : kiln_cpu_other_group(warp, mask);
}

KILN_CPU_COLD void kiln_cpu_tell_bad_mask(const char* what, const kiln_cpu_group* group) {
    kiln_cpu_fault_begins(threadIdx);
    kiln_cpu_say(kiln_cpu_state.request_site);
    kiln_cpu_say(what);
    kiln_cpu_say_mask(group->mask);
    kiln_cpu_say(", lanes ");
    kiln_cpu_say_mask(group->arrived);
    kiln_cpu_say(" at ");
    kiln_cpu_say(group->site);
}

// The current thread arrives at a warp operation. The last lane to arrive computes every lane's result
// and goes on without a switch.
KILN_CPU_CALLEE void* kiln_cpu_arrive_warp(void* here) {
    uint32_t thread = kiln_cpu_state.current, warp = thread / 32, lane = 1u << thread % 32;
    kiln_cpu_contexts[thread] = here;
    kiln_cpu_group* group = kiln_cpu_group_of(warp, kiln_cpu_state.request_mask);
#if KILN_CPU_CHECK
    if (group->operation != kiln_cpu_state.request_operation) {
        kiln_cpu_tell_bad_mask(" meets another operation of the same mask ", group);
        return kiln_cpu_home;
    }
#endif
    if (__builtin_expect(!(group->mask & lane), 0)) {
        kiln_cpu_tell_bad_mask(" is called by a lane outside its mask ", group);
        return kiln_cpu_home;
    }
    group->arrived |= lane;
    if (!kiln_cpu_group_is_complete(warp, group)) return kiln_cpu_pick();
    return kiln_cpu_finish_group(warp, group, lane) ? here : kiln_cpu_home;
}

// The current thread has returned: whoever waited for it alone can go on.
KILN_CPU_CALLEE void* kiln_cpu_exit(void) {
    uint32_t thread = kiln_cpu_state.current, warp = thread / 32;
    kiln_cpu_state.alive[warp] &= ~(1u << thread % 32);
    kiln_cpu_state.live--;
    for (uint32_t i = kiln_cpu_state.groups_in_use[warp]; i-- > 0;) {
        kiln_cpu_group* group = &kiln_cpu_groups[warp][i];
        if (!kiln_cpu_group_is_complete(warp, group)) continue;
        if (!kiln_cpu_finish_group(warp, group, 0)) return kiln_cpu_home;
    }
    if (kiln_cpu_state.waiting) {
#if KILN_CPU_CHECK
        kiln_cpu_tell_exited();
        return kiln_cpu_home;
#endif
        if (kiln_cpu_state.waiting == kiln_cpu_state.live) kiln_cpu_release_block();
    }
    return kiln_cpu_pick();
}

KILN_CPU_CALLEE void kiln_cpu_thread_main(void) {
    kiln_cpu_state.body();
    KILN_CPU_LEAVE(kiln_cpu_exit);
}

extern "C" __attribute__((visibility("hidden"))) void kiln_cpu_thread_start(void);
KILN_CPU_START(kiln_cpu_thread_start, kiln_cpu_thread_main);

KILN_CPU_CALLEE void* kiln_cpu_begin(void* here) {
    kiln_cpu_home = here;
    return kiln_cpu_pick();
}

// Numbers the threads and puts a frame on every stack, from which each block starts its threads.
static void kiln_cpu_prepare(const kiln_cpu_launch* launch, void (*body)(void)) {
    static uint3 indexed;  // the block shape that kiln_cpu_thread_index holds
    uint3 block = {launch->block[0], launch->block[1], launch->block[2]};
    uint32_t threads = block.x * block.y * block.z;
    kiln_cpu_state.body = body;
    kiln_cpu_state.threads = threads;
    kiln_cpu_state.warps = (threads + 31) / 32;
    kiln_cpu_reverse = launch->flags & KILN_CPU_REVERSE;
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint8_t* top = launch->stacks + thread * launch->stack_stride + launch->stack_bytes;
        kiln_cpu_frame* frame = (kiln_cpu_frame*)top - 1;
        frame->frame_pointer = 0;
        frame->resume = (void*)kiln_cpu_thread_start;
    }
    if (indexed.x == block.x && indexed.y == block.y && indexed.z == block.z) return;
    uint32_t thread = 0;
    for (uint32_t z = 0; z < block.z; z++)
        for (uint32_t y = 0; y < block.y; y++)
            for (uint32_t x = 0; x < block.x; x++) kiln_cpu_thread_index[thread++].index = uint3{x, y, z};
    indexed = block;
}

// Runs the threads of one block to their ends, or to a fault.
static void kiln_cpu_run_block(const kiln_cpu_launch* launch) {
    uint32_t threads = kiln_cpu_state.threads, warps = kiln_cpu_state.warps;
    kiln_cpu_state.live = threads;
    kiln_cpu_state.waiting = 0;
    kiln_cpu_state.votes = 0;
    for (uint32_t warp = 0; warp < warps; warp++) {
        uint32_t lanes = warp * 32 + 32 <= threads ? 0xffffffffu : (1u << threads % 32) - 1;
        kiln_cpu_state.alive[warp] = lanes;
        kiln_cpu_state.ready[warp] = lanes;
        kiln_cpu_state.groups_in_use[warp] = 0;
    }
    kiln_cpu_state.ready_warps = warps == 64 ? ~0ull : (1ull << warps) - 1;
    uint8_t* frame = launch->stacks + launch->stack_bytes - sizeof(kiln_cpu_frame);
    for (uint32_t thread = 0; thread < threads; thread++, frame += launch->stack_stride) {
        kiln_cpu_contexts[thread] = frame;
    }
    KILN_CPU_SUSPEND(kiln_cpu_begin);
}

#endif
