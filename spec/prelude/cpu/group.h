// FIBER mode: warp operations, completed for each group of lanes that call one with the same mask.
#ifndef KILN_CPU_GROUP_H
#define KILN_CPU_GROUP_H

KILN_INLINE uint64_t kiln_cpu_reduced(uint32_t operation, uint64_t a, uint64_t b) {
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

// Results of the operations that are not a shuffle, for the lanes of a complete group.
static __attribute__((noinline)) KILN_CPU_UNSEEN void kiln_cpu_finish_vote(uint32_t operation, uint32_t lanes,
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

// What a lane gets that reads from a lane that takes no part: in CUDA, the value is undefined (CUDA C++ Programming
// Guide, "Warp Shuffle Functions"). Reductions of a part of a warp read such values and drop them. Kernels whose outputs
// depend on them have other outputs in each order of a check build.
#if KILN_CPU_CHECK
KILN_CPU_COLD uint64_t kiln_cpu_absent(const kiln_cpu_group* group, uint32_t thread, uint32_t lane) {
    if (kiln_cpu_remark_begins(KILN_CPU_UNDEFINED_VALUE)) {
        kiln_cpu_say_thread(thread);
        kiln_cpu_say(" takes the value of lane ");
        kiln_cpu_say_number(lane);
        kiln_cpu_say(", which takes no part, by ");
        kiln_cpu_say(group->site);
    }
    return kiln_cpu_undefined();
}
#endif

// The results of a shuffle.
KILN_INLINE void kiln_cpu_finish_shuffle(uint32_t warp, const kiln_cpu_group* group, uint64_t* result) {
    const uint64_t* value = kiln_cpu_value + warp * 32;
    const uint8_t* source = kiln_cpu_source + warp * 32;
    uint32_t lanes = group->arrived;
    if (lanes == 0xffffffffu) {
        for (uint32_t lane = 0; lane < 32; lane++) result[lane] = value[source[lane]];
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t there = value[source[lane]];  // read in any case, so that no branch depends on the lanes
#if KILN_CPU_CHECK
        if (!(lanes >> source[lane] & 1)) there = kiln_cpu_absent(group, warp * 32 + lane, source[lane]);
        result[lane] = there;
#else
        result[lane] = lanes >> source[lane] & 1 ? there : ~0ull;
#endif
    }
}

// Completes a group: gives every lane its result and lets all but `running` go on later.
static __attribute__((noinline)) KILN_CPU_UNSEEN void kiln_cpu_finish_group(uint32_t warp, kiln_cpu_group* group, uint32_t running) {
    uint64_t *value = kiln_cpu_value + warp * 32, *result = kiln_cpu_result + warp * 32;
    if (group->operation == KILN_CPU_SHUFFLE) {
        kiln_cpu_finish_shuffle(warp, group, result);
    } else if (group->operation != KILN_CPU_SYNC) {
        kiln_cpu_finish_vote(group->operation, group->arrived, value, result);
    }
#if KILN_CPU_WATCH
    kiln_cpu_lanes_meet(warp, group->arrived);
#endif
    kiln_cpu_wake(warp, group->arrived & ~running);
    uint32_t last = --kiln_cpu_state.groups_in_use[warp];
    if (last) *group = kiln_cpu_groups[warp][last];
}

KILN_INLINE bool kiln_cpu_group_is_complete(uint32_t warp, const kiln_cpu_group* group) {
    return !(group->mask & kiln_cpu_state.alive[warp] & ~group->arrived);
}

// The group of the lanes that wait with that mask; a new one when there is none.
static inline KILN_CPU_UNSEEN kiln_cpu_group* kiln_cpu_other_group(uint32_t warp, uint32_t mask) {
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

KILN_INLINE kiln_cpu_group* kiln_cpu_group_of(uint32_t warp, uint32_t mask) {
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
    kiln_cpu_finish_group(warp, group, lane);
    return here;
}

#endif
