// Stores of the same value by several threads without an order, as in a search by levels. They are races, but if all
// stores to a location are equal, its content does not depend on the order, and the author may allow them.
//
// The compiler reports a store before it is done, so the values are compared at the next store, or when the interval
// ends. (Not at the next load: g++ reports the store of `*a = *b` before the load.) A location that such stores hit is
// contended until a barrier orders all of them. Until then every store to it, also by a thread that wrote there before,
// must be equal too, and nobody may read it.
#ifndef KILN_CPU_WATCH_EQUAL_H
#define KILN_CPU_WATCH_EQUAL_H

// Whether a location is contended: by threads of this block since its last barrier, or by those of several blocks.
KILN_INLINE bool kiln_cpu_is_contended(const kiln_cpu_region* region, const kiln_cpu_cell* cell) {
    uint32_t since = cell->contended;
    if (since < region->oldest) return false;
    return since < kiln_cpu_watch.block_first || since == kiln_cpu_watch.interval;
}

// Whether a write and the earlier write that it races with may be equal stores.
KILN_INLINE bool kiln_cpu_may_be_equal(const kiln_cpu_cell* cell, uint32_t access) {
    uint32_t other = cell->slot[0].thread;
    if (!(access & other & KILN_CPU_WRITES)) return false;
    return !((access | other) & KILN_CPU_IS_ATOMIC);
}

// The running thread is about to write a granule that others wrote at the same time. Keeps what is needed to compare.
// False after telling that there is no room for it.
KILN_CPU_COLD bool kiln_cpu_compare_later(const kiln_cpu_region* region, kiln_cpu_cell* cell, uintptr_t at,
                                          uint32_t bytes, uint32_t access, uint32_t place) {
    kiln_cpu_watch_state* watch = &kiln_cpu_watch;
    if (watch->overwritten == KILN_CPU_MAX_OVERWRITTEN) {
        kiln_cpu_tell_race(region, cell->slot[0], KILN_CPU_RUNNING, at, bytes, access, place);
        return false;
    }
    if (!watch->overwritten) {
        watch->rival = kiln_cpu_rival_write{bytes, KILN_CPU_RUNNING, access, place, at, region, cell->slot[0]};
    }
    kiln_cpu_overwritten* one = &kiln_cpu_old[watch->overwritten++];
    one->at = (const volatile uint8_t*)at;
    one->bytes = 1u << region->shift;
    for (uint32_t byte = 0; byte < one->bytes; byte++) one->old[byte] = one->at[byte];
    if (kiln_cpu_is_contended(region, cell)) return true;
    uint32_t earlier = cell->slot[0].interval;
    cell->contended = earlier < watch->block_first ? earlier : watch->interval;
    return true;
}

#endif
