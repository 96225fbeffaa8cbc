// What orders two accesses: block barriers, warp operations, and atomics behind a fence.
//
// An interval is the time of one block between two of its barriers; intervals are numbered over all blocks and
// launches. Accesses of different intervals of one block are ordered. So are accesses of two lanes of a warp if
// the vector clock of the later one covers the earlier one. Last, a thread that calls an atomic function after a
// __threadfence of its block publishes what it did and what its block did in earlier intervals. Whoever later
// calls an atomic function on the same location knows that (a chain). A volatile store and a volatile load of
// global memory do the same.
#ifndef KILN_CPU_WATCH_ORDER_H
#define KILN_CPU_WATCH_ORDER_H

// Lanes of a warp have synchronised: each now knows what any of them knew.
KILN_CPU_HOT __attribute__((noinline)) void kiln_cpu_lanes_meet(uint32_t warp, uint32_t lanes) {
    kiln_cpu_clocks* known = kiln_cpu_known + warp * 32;
    kiln_cpu_clocks all = {};
    bool overflows = false;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        overflows |= ++known[lane][lane] == 0xffff;
        kiln_cpu_clocks one = known[lane];
        all = all > one ? all : one;
    }
    for (uint32_t left = lanes; left; left &= left - 1) known[__builtin_ctz(left)] = all;
    if (!overflows) return;
    // The clocks begin again in a new interval. That hides a race at worst.
    for (uint32_t lane = 0; lane < 32; lane++) known[lane] = kiln_cpu_clocks{};
    kiln_cpu_watch.interval++;
}

KILN_CPU_HOT bool kiln_cpu_knows(const kiln_cpu_chain* chain, uint32_t publication) {
    if (chain->block != kiln_cpu_watch.block_first) return false;
    if (publication < chain->all_know) return true;
    bool mine = chain->thread == KILN_CPU_RUNNING || chain->interval < kiln_cpu_watch.interval;
    return mine && publication < chain->known;
}

// Whether an access was published to a chain that the running thread knows. Publications are in the order of
// their intervals.
KILN_CPU_HOT __attribute__((noinline)) bool kiln_cpu_was_published(uint32_t interval, uint32_t thread) {
    uint32_t first = 0, last = kiln_cpu_watch.publications;
    if (kiln_cpu_watch.log_is_full) return true;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (kiln_cpu_publications[middle].interval < interval) first = middle + 1;
        else last = middle;
    }
    for (; first < kiln_cpu_watch.publications; first++) {
        const kiln_cpu_publication* one = &kiln_cpu_publications[first];
        if (one->block > interval) return false;
        if (one->interval == interval && one->thread != thread) continue;
        if (kiln_cpu_knows(&kiln_cpu_chains[one->chain], first)) return true;
    }
    return false;
}

KILN_CPU_HOT kiln_cpu_chain* kiln_cpu_chain_at(uintptr_t at) {
    for (uint32_t i = 0; i < kiln_cpu_watch.chains; i++) {
        if (kiln_cpu_chains[i].at == at) return &kiln_cpu_chains[i];
    }
    return 0;
}

KILN_CPU_HOT void kiln_cpu_acquire(uintptr_t at) {
    kiln_cpu_chain* chain = kiln_cpu_chain_at(at);
    if (!chain) return;
    uint32_t block = kiln_cpu_watch.block_first, interval = kiln_cpu_watch.interval;
    if (chain->block != block) {
        chain->block = block;
        chain->all_know = 0;
    } else if (chain->interval < interval) {
        chain->all_know = chain->known;
    }
    chain->known = kiln_cpu_watch.publications;
    chain->interval = interval;
    chain->thread = KILN_CPU_RUNNING;
}

KILN_CPU_HOT void kiln_cpu_publish(uintptr_t at) {
    kiln_cpu_chain* chain = kiln_cpu_chain_at(at);
    if (!chain) {
        if (kiln_cpu_watch.chains == KILN_CPU_MAX_CHAINS) {
            kiln_cpu_watch.log_is_full = true;
            return;
        }
        chain = &kiln_cpu_chains[kiln_cpu_watch.chains++];
        *chain = kiln_cpu_chain{at, 0, 0, 0, 0, 0};
    }
    if (kiln_cpu_watch.publications == KILN_CPU_MAX_PUBLICATIONS) {
        kiln_cpu_watch.log_is_full = true;
        return;
    }
    kiln_cpu_publications[kiln_cpu_watch.publications++] =
        kiln_cpu_publication{kiln_cpu_watch.interval, kiln_cpu_watch.block_first, (uint16_t)KILN_CPU_RUNNING,
                             (uint16_t)(chain - kiln_cpu_chains)};
}

// An atomic function was called on a location, or a volatile variable there was read or written.
KILN_INLINE void kiln_cpu_synchronises(uintptr_t at, uint32_t access) {
    if (kiln_cpu_watch.chains && access & KILN_CPU_READS) kiln_cpu_acquire(at);
    if (kiln_cpu_watch.fenced && access & KILN_CPU_WRITES) kiln_cpu_publish(at);
}

// Whether the access in a slot may not be at the same time as one of the running thread.
KILN_CPU_HOT __attribute__((noinline)) bool kiln_cpu_races(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uint32_t slot,
                                 uint32_t access) {
    uint32_t other = cell->slot[slot].thread, thread = other & KILN_CPU_THREAD_BITS;
    if (!((access | other) & KILN_CPU_WRITES)) return false;
    // PTX takes volatile accesses for relaxed ones. In shared memory they are mostly a mistaken substitute
    // for __syncwarp, so that there only atomic functions make up for them.
    uint32_t strong = KILN_CPU_IS_ATOMIC | KILN_CPU_IS_VOLATILE;
    if (access & strong && other & strong) {
        if (!region->shared || (access | other) & KILN_CPU_IS_ATOMIC) return false;
    }
    uint32_t running = KILN_CPU_RUNNING, interval = cell->slot[slot].interval;
    if (interval == kiln_cpu_watch.interval && thread / 32 == running / 32 &&
        kiln_cpu_known[running][thread % 32] > cell->slot[slot].clock) {
        return false;
    }
    return !kiln_cpu_was_published(interval, thread);
}

#endif
