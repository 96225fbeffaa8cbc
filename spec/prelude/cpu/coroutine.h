// FIBER mode: the block barrier, and the life of a block's threads from their start to their end.
#ifndef KILN_CPU_COROUTINE_H
#define KILN_CPU_COROUTINE_H

KILN_CPU_COLD void kiln_cpu_remark_exited(void) {
    if (!kiln_cpu_remark_begins(KILN_CPU_EARLY_RETURN)) return;
    kiln_cpu_say(kiln_cpu_state.barrier_site);
    kiln_cpu_say(" does not wait for the ");
    kiln_cpu_say_number(kiln_cpu_state.threads - kiln_cpu_state.live);
    kiln_cpu_say(" of ");
    kiln_cpu_say_number(kiln_cpu_state.threads);
    kiln_cpu_say(" threads that have returned; NVIDIA GPUs before Volta wait for them");
}

// Completes the block barrier once every thread that is alive waits there. Threads that have returned count as arrived,
// as on NVIDIA GPUs since Volta and on AMD GPUs. False after telling what was wrong before the barrier.
KILN_INLINE bool kiln_cpu_complete_block(void) {
    if (kiln_cpu_state.waiting != kiln_cpu_state.live) return true;
#if KILN_CPU_WATCH
    if (kiln_cpu_tell_at_end()) return false;
#endif
#if KILN_CPU_CHECK
    if (kiln_cpu_state.live < kiln_cpu_state.threads) kiln_cpu_remark_exited();
#endif
    kiln_cpu_state.waiting = 0;
    kiln_cpu_state.votes_result = kiln_cpu_state.votes;
    kiln_cpu_state.votes = 0;
#if KILN_CPU_WATCH
    kiln_cpu_watch.interval++;
#endif
    for (uint32_t warp = 0; warp < kiln_cpu_state.warps; warp++) {
        kiln_cpu_wake(warp, kiln_cpu_state.alive[warp]);
    }
    return true;
}

// A check build's complaint about the block barrier.
KILN_CPU_COLD void kiln_cpu_tell_two_barriers(void) {
    kiln_cpu_fault_begins(threadIdx);
    kiln_cpu_say("divergent barrier: it waits at ");
    kiln_cpu_say(kiln_cpu_state.request_site);
    kiln_cpu_say(", but ");
    kiln_cpu_say_thread(kiln_cpu_state.barrier_thread);
    kiln_cpu_say(" waits at ");
    kiln_cpu_say(kiln_cpu_state.barrier_site);
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
#endif
    return kiln_cpu_complete_block() ? kiln_cpu_pick() : kiln_cpu_home;
}

// The current thread has returned: whoever waited for it alone can go on.
KILN_CPU_CALLEE void* kiln_cpu_exit(void) {
    uint32_t thread = kiln_cpu_state.current, warp = thread / 32;
    kiln_cpu_state.alive[warp] &= ~(1u << thread % 32);
    kiln_cpu_state.live--;
    for (uint32_t i = kiln_cpu_state.groups_in_use[warp]; i-- > 0;) {
        kiln_cpu_group* group = &kiln_cpu_groups[warp][i];
        if (!kiln_cpu_group_is_complete(warp, group)) continue;
        kiln_cpu_finish_group(warp, group, 0);
    }
    if (kiln_cpu_state.waiting && !kiln_cpu_complete_block()) return kiln_cpu_home;
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
KILN_CPU_COMMON void kiln_cpu_prepare(const kiln_cpu_launch* launch, void (*body)(void)) {
    static uint3 indexed;  // the block shape that kiln_cpu_thread_index holds
    uint3 block = {launch->block[0], launch->block[1], launch->block[2]};
    uint32_t threads = block.x * block.y * block.z;
    kiln_cpu_state.body = body;
#if KILN_CPU_WATCH
    kiln_cpu_watch.stack_bytes = launch->stack_bytes;
#endif
    kiln_cpu_state.threads = threads;
    kiln_cpu_state.warps = (threads + 31) / 32;
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
KILN_CPU_COMMON void kiln_cpu_run_block(const kiln_cpu_launch* launch) {
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
