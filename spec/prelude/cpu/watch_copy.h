// copy_async in check builds: the data is there at once, but may not be touched before the thread has waited.
#ifndef KILN_CPU_WATCH_COPY_H
#define KILN_CPU_WATCH_COPY_H

// Changes the cells of shared memory; other memory has none that matter here.
template <class Change>
KILN_INLINE void kiln_cpu_each_copied(uintptr_t at, uint32_t bytes, Change change) {
    for (uint32_t i = 0; i < kiln_cpu_watch.regions; i++) {
        const kiln_cpu_region* region = &kiln_cpu_regions[i];
        uintptr_t offset = at - region->start;
        if (offset >= region->bytes || !region->shared) continue;
        kiln_cpu_cell* cell = region->cells + (offset >> region->shift);
        kiln_cpu_cell* end = region->cells + ((offset + bytes - 1) >> region->shift);
        for (; cell <= end; cell++) change(cell);
    }
}

// The running thread has begun to copy to shared memory, and the data has been stored already.
KILN_CPU_COMMON void kiln_cpu_copy_begins(const void* to, uint32_t bytes) {
    kiln_cpu_watch_state* watch = &kiln_cpu_watch;
    if (!watch->copies_left) watch->copies = 0;
    // A launch with more copies under way than can be kept takes the others as done.
    if (watch->copies == KILN_CPU_MAX_COPIES) return;
    uint32_t running = KILN_CPU_RUNNING, number = ++watch->copies;
    kiln_cpu_copies[number - 1] = kiln_cpu_copy{(uintptr_t)to, bytes, kiln_cpu_copy_groups[running],
                                                kiln_cpu_place_of(KILN_CPU_HERE), 0};
    if (!kiln_cpu_first_copy[running]) kiln_cpu_first_copy[running] = number;
    else kiln_cpu_copies[kiln_cpu_last_copy[running] - 1].next = number;
    kiln_cpu_last_copy[running] = number;
    watch->copies_left++;
    uint32_t block = watch->block_first;
    kiln_cpu_each_copied((uintptr_t)to, bytes, [block](kiln_cpu_cell* cell) __attribute__((always_inline)) { cell->pending = block; });
}

KILN_CPU_COMMON void kiln_cpu_copy_commits(void) {
    kiln_cpu_copy_groups[KILN_CPU_RUNNING]++;
}

// All but the running thread's last `left` groups are done. To others they were written now.
KILN_CPU_COMMON void kiln_cpu_copy_waits(uint32_t left) {
    uint32_t running = KILN_CPU_RUNNING, groups = kiln_cpu_copy_groups[running];
    while (uint32_t number = kiln_cpu_first_copy[running]) {
        kiln_cpu_copy* copy = &kiln_cpu_copies[number - 1];
        if (copy->group + left >= groups) return;
        uint32_t place = copy->place;
        kiln_cpu_each_copied(copy->to, copy->bytes, [place](kiln_cpu_cell* cell) __attribute__((always_inline)) {
            cell->pending = 0;
            kiln_cpu_note(cell, 0, KILN_CPU_WRITES, place);
        });
        kiln_cpu_first_copy[running] = copy->next;
        kiln_cpu_watch.copies_left--;
    }
}

// A block begins: nothing is under way.
KILN_CPU_HOT void kiln_cpu_copies_end(void) {
    if (!kiln_cpu_watch.copies) return;
    kiln_cpu_watch.copies = kiln_cpu_watch.copies_left = 0;
    for (uint32_t thread = 0; thread < KILN_CPU_MAX_THREADS; thread++) {
        kiln_cpu_first_copy[thread] = kiln_cpu_copy_groups[thread] = 0;
    }
}

#endif
