// The check build's complaints.
#ifndef KILN_CPU_WATCH_TELL_H
#define KILN_CPU_WATCH_TELL_H

// Leaves a return address, which the executor replaces by file and line.
KILN_CPU_COLD void kiln_cpu_say_place(uint32_t place) {
    kiln_cpu_say(" at \1");
    kiln_cpu_say_number(place);
    kiln_cpu_say("\2");
}

KILN_CPU_COLD void kiln_cpu_say_bytes(uint64_t bytes) {
    kiln_cpu_say_number(bytes);
    kiln_cpu_say(bytes == 1 ? " byte" : " bytes");
}

KILN_CPU_COLD uint3 kiln_cpu_index_of(uint32_t thread) {
    return uint3{thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
}

KILN_CPU_COLD void kiln_cpu_say_region(const kiln_cpu_region* region) {
    if (region->kind == KILN_CPU_DYNAMIC_SHARED) return kiln_cpu_say("dynamic shared memory");
    if (region->kind == KILN_CPU_SHARED) kiln_cpu_say("shared variable ");
    if (region->kind == KILN_CPU_VARIABLE || region->kind == KILN_CPU_CONSTANT) kiln_cpu_say("variable ");
    if (region->name) {
        kiln_cpu_say("`");
        kiln_cpu_say(region->name);
        return kiln_cpu_say("`");
    }
    if (region->argument < 0) return kiln_cpu_say("memory of no argument");
    kiln_cpu_say("argument ");
    kiln_cpu_say_number((uint64_t)region->argument + 1);
}

// The element of a region that an access of so many bytes is at; the index may be negative.
KILN_CPU_COLD void kiln_cpu_say_element(const kiln_cpu_region* region, uintptr_t at, uint32_t bytes) {
    uint32_t unit = region->element_bytes ? region->element_bytes : bytes;
    int64_t offset = (int64_t)(at - region->start);
    int64_t index = offset / (int64_t)unit;
    if (offset % (int64_t)unit < 0) index--;
    kiln_cpu_say_region(region);
    if (region->bytes == unit && !offset) return;
    kiln_cpu_say("[");
    if (index < 0) kiln_cpu_say("-");
    kiln_cpu_say_number((uint64_t)(index < 0 ? -index : index));
    kiln_cpu_say("]");
    int64_t within = offset - index * (int64_t)unit;
    if (!within) return;
    kiln_cpu_say(" + ");
    kiln_cpu_say_bytes((uint64_t)within);
}

KILN_CPU_COLD void kiln_cpu_say_size(const kiln_cpu_region* region) {
    kiln_cpu_say(", but there are ");
    if (!region->bytes) return kiln_cpu_say("none");
    if (!region->element_bytes) return kiln_cpu_say_bytes(region->bytes);
    kiln_cpu_say_number(region->bytes / region->element_bytes);
    kiln_cpu_say(" elements of ");
    kiln_cpu_say_bytes(region->element_bytes);
}

KILN_CPU_COLD void kiln_cpu_say_unwritten(const kiln_cpu_unwritten_read* read) {
    kiln_cpu_say(" reads ");
    kiln_cpu_say_element(read->region, read->at, read->bytes);
    kiln_cpu_say_place(read->place);
    if (read->region->shared) {
        kiln_cpu_say(", which no thread of the block has written");
        if (kiln_cpu_watch.unwritten_reads) return;
        return kiln_cpu_say("\nhelp: if the kernel drops the value, declare `unwritten_reads = allow`");
    }
    if (read->region->keeps) {
        return kiln_cpu_say(", which holds what an earlier launch left there\nhelp: a launch must not depend on those "
                            "before it: let each launch write the variable before it reads it, or leave it as it was");
    }
    kiln_cpu_say(", which no thread has written. An output has no content when a launch begins; if the kernel needs "
                 "what it holds, declare it as `#[inout]`");
}

// Tells of a read of what no thread had written; false if there was none in this interval.
KILN_CPU_COLD bool kiln_cpu_tell_unwritten(void) {
    const kiln_cpu_unwritten_read* read = &kiln_cpu_watch.unwritten;
    if (!read->bytes) return false;
    kiln_cpu_fault_begins(kiln_cpu_index_of(read->thread));
    kiln_cpu_say("it");
    kiln_cpu_say_unwritten(read);
    return true;
}

// Remarks on a read of shared memory that the author allows. Each order of a check build has another value there.
KILN_CPU_COLD void kiln_cpu_remark_unwritten(const kiln_cpu_unwritten_read* read) {
    if (!kiln_cpu_remark_begins(KILN_CPU_UNDEFINED_VALUE)) return;
    kiln_cpu_say_triple("thread ", kiln_cpu_index_of(read->thread));
    kiln_cpu_say_unwritten(read);
}

// An access outside may have its index from such a read.
KILN_CPU_COLD void kiln_cpu_add_unwritten(void) {
    if (!kiln_cpu_watch.unwritten.bytes) return;
    kiln_cpu_say_triple("; before that, thread ", kiln_cpu_index_of(kiln_cpu_watch.unwritten.thread));
    kiln_cpu_say(": it");
    kiln_cpu_say_unwritten(&kiln_cpu_watch.unwritten);
}

KILN_CPU_COLD void kiln_cpu_watch_begins(const char* what) {
    kiln_cpu_fault_begins(kiln_cpu_index_of(KILN_CPU_RUNNING));
    kiln_cpu_say(what);
}

KILN_CPU_COLD const char* kiln_cpu_verb(uint32_t access) {
    if (access & KILN_CPU_IS_ATOMIC) return "updates atomically";
    return access & KILN_CPU_WRITES ? "writes" : "reads";
}

// The region that ends or begins closest to an address, if one is near.
KILN_CPU_COLD const kiln_cpu_region* kiln_cpu_nearest(uintptr_t at) {
    const kiln_cpu_region* nearest = 0;
    uint64_t distance = 16u << 20;
    for (uint32_t i = 0; i < kiln_cpu_watch.regions; i++) {
        const kiln_cpu_region* region = &kiln_cpu_regions[i];
        if (region->kind == KILN_CPU_OWN || (region->kind == KILN_CPU_CONSTANT && !region->name)) continue;
        uint64_t away = at < region->start ? region->start - at
                        : at < region->start + region->bytes ? 0 : at - (region->start + region->bytes) + 1;
        if (away >= distance) continue;
        distance = away;
        nearest = region;
    }
    return nearest;
}

KILN_CPU_COLD void kiln_cpu_say_address(uintptr_t at) {
    kiln_cpu_say("address ");
    kiln_cpu_say_mask((uint32_t)(at >> 32));
    char rest[9];
    for (int i = 0; i < 8; i++) rest[i] = "0123456789abcdef"[at >> (28 - 4 * i) & 15];
    rest[8] = 0;
    kiln_cpu_say(rest);
}

KILN_CPU_COLD void kiln_cpu_tell_outside(uintptr_t at, uint32_t bytes, uint32_t access, uint32_t place) {
    const kiln_cpu_region* region = kiln_cpu_nearest(at);
    kiln_cpu_watch_begins("out of bounds: it ");
    kiln_cpu_say(kiln_cpu_verb(access));
    kiln_cpu_say(" ");
#if KILN_CPU_FIBERS
    uintptr_t stacks = (uintptr_t)kiln_cpu_job->stacks;
    uint64_t thread = (at - stacks) / kiln_cpu_job->stack_stride;
    if (at >= stacks && thread < kiln_cpu_state.threads) {
        kiln_cpu_say_bytes(bytes);
        kiln_cpu_say_place(place);
        return kiln_cpu_say_triple(", on the stack of thread ", kiln_cpu_index_of((uint32_t)thread));
    }
#endif
    if (region) {
        kiln_cpu_say_element(region, at, bytes);
        kiln_cpu_say(" (");
        kiln_cpu_say_bytes(bytes);
        kiln_cpu_say(")");
        kiln_cpu_say_place(place);
        kiln_cpu_say_size(region);
    } else {
        kiln_cpu_say_bytes(bytes);
        kiln_cpu_say(" at ");
        kiln_cpu_say_address(at);
        kiln_cpu_say_place(place);
        kiln_cpu_say(", which is in no argument and in no variable of the kernel");
    }
    kiln_cpu_add_unwritten();
}

KILN_CPU_COLD void kiln_cpu_tell_misaligned(uintptr_t at, uint32_t bytes, uint32_t access, uint32_t place) {
    const kiln_cpu_region* region = kiln_cpu_nearest(at);
    kiln_cpu_watch_begins("misaligned: it ");
    kiln_cpu_say(kiln_cpu_verb(access));
    kiln_cpu_say(" ");
    kiln_cpu_say_bytes(bytes);
    kiln_cpu_say(" at once");
    kiln_cpu_say_place(place);
    if (region) {
        kiln_cpu_say(", from ");
        kiln_cpu_say_element(region, at, region->element_bytes ? region->element_bytes : bytes);
        kiln_cpu_say(" on");
    }
    kiln_cpu_say(", but the type needs more alignment than the address has");
}

KILN_CPU_COLD void kiln_cpu_tell_read_only(const kiln_cpu_region* region, uintptr_t at, uint32_t bytes,
                                           uint32_t place) {
    kiln_cpu_watch_begins("it writes ");
    kiln_cpu_say_element(region, at, bytes);
    kiln_cpu_say_place(place);
    kiln_cpu_say(", which is declared const");
}

KILN_CPU_COLD void kiln_cpu_tell_pending(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uintptr_t at,
                                         uint32_t bytes, uint32_t access, uint32_t place) {
    kiln_cpu_watch_begins("it ");
    kiln_cpu_say(kiln_cpu_verb(access));
    kiln_cpu_say(" ");
    kiln_cpu_say_element(region, at, bytes);
    kiln_cpu_say_place(place);
    kiln_cpu_say(", but ");
    kiln_cpu_say_triple("thread ", kiln_cpu_index_of(cell->slot[0].thread & KILN_CPU_THREAD_BITS));
    kiln_cpu_say(" has not waited for its copy_async to there");
    kiln_cpu_say_place(cell->slot[0].place);
}

// The block that an interval of this launch belongs to.
KILN_CPU_COLD void kiln_cpu_say_block_of(uint32_t interval) {
    uint32_t first = 0, last = kiln_cpu_watch.blocks;
    if (last > KILN_CPU_MAX_NUMBERED_BLOCKS) return kiln_cpu_say("of another block");
    while (last - first > 1) {
        uint32_t middle = first + (last - first) / 2;
        if (kiln_cpu_block_firsts[middle] <= interval) first = middle;
        else last = middle;
    }
    uint64_t block = kiln_cpu_permuted(&kiln_cpu_block_order, kiln_cpu_first_in_order + first);
    uint64_t row = block / gridDim.x;
    uint3 index = {(uint32_t)(block % gridDim.x), (uint32_t)(row % gridDim.y), (uint32_t)(row / gridDim.y)};
    kiln_cpu_say_triple("of block ", index);
}

KILN_CPU_COLD void kiln_cpu_tell_race(const kiln_cpu_region* region, kiln_cpu_slot earlier, uint32_t running,
                                      uintptr_t at, uint32_t bytes, uint32_t access, uint32_t place) {
    uint32_t thread = earlier.thread & KILN_CPU_THREAD_BITS;
    bool same_block = earlier.interval >= kiln_cpu_watch.block_first;
    kiln_cpu_fault_begins(kiln_cpu_index_of(running));
    kiln_cpu_say("race: it ");
    kiln_cpu_say(kiln_cpu_verb(access));
    kiln_cpu_say(" ");
    kiln_cpu_say_element(region, at, bytes);
    kiln_cpu_say_place(place);
    kiln_cpu_say(", which ");
    if (same_block && thread == running) {
        kiln_cpu_say("it and other threads write at the same time");
        return kiln_cpu_say_place(earlier.place);
    }
    kiln_cpu_say_triple("thread ", kiln_cpu_index_of(thread));
    kiln_cpu_say(" ");
    if (same_block) kiln_cpu_say("of the block");
    else kiln_cpu_say_block_of(earlier.interval);
    kiln_cpu_say(" ");
    kiln_cpu_say(kiln_cpu_verb(earlier.thread));
    kiln_cpu_say_place(earlier.place);
    if (!same_block) return kiln_cpu_say("; blocks of a launch run in any order");
    bool same_warp = thread / 32 == running / 32;
    kiln_cpu_say(same_warp ? ", and no __syncwarp() or barrier orders the two"
                           : ", and no __syncthreads() orders the two");
}

// Tells of a doubtful read that no comparison and swap followed; false if there is none.
KILN_CPU_COLD bool kiln_cpu_tell_doubtful(void) {
    const kiln_cpu_doubtful_read* read = &kiln_cpu_watch.doubtful;
    if (!read->bytes) return false;
    kiln_cpu_tell_race(read->region, read->other, read->thread, read->at, read->bytes, KILN_CPU_READS, read->place);
    return true;
}

// Tells of a write that races with an earlier one, after it was done; false if there is none, or if both wrote the same
// value and the author allows that.
KILN_CPU_COLD bool kiln_cpu_tell_rival(void) {
    kiln_cpu_watch_state* watch = &kiln_cpu_watch;
    const kiln_cpu_rival_write* write = &watch->rival;
    if (!watch->overwritten) return false;
    bool equal = true;
    for (uint32_t i = 0; i < watch->overwritten; i++) {
        const kiln_cpu_overwritten* one = &kiln_cpu_old[i];
        for (uint32_t byte = 0; byte < one->bytes; byte++) equal &= one->at[byte] == one->old[byte];
    }
    const kiln_cpu_overwritten first = kiln_cpu_old[0];
    watch->overwritten = 0;
    if (equal && watch->equal_stores) return false;
    kiln_cpu_tell_race(write->region, write->other, write->thread, write->at, write->bytes, write->access, write->place);
    if (!equal) {
        if (watch->equal_stores) kiln_cpu_say("; the values differ, and `equal_stores = allow` allows only equal ones");
        return true;
    }
    uint32_t value = 0;
    for (uint32_t byte = first.bytes; byte-- > 0;) value = value << 8 | first.old[byte];
    kiln_cpu_say("; both write the same value (");
    kiln_cpu_say_mask(value);
    kiln_cpu_say(")\nhelp: if that is meant, declare `equal_stores = allow`");
    return true;
}

// Tells of a wrong access when the interval ends; false if there was none.
KILN_CPU_COMMON bool kiln_cpu_tell_at_end(void) {
    return kiln_cpu_tell_rival() || kiln_cpu_tell_doubtful() || kiln_cpu_tell_unwritten();
}

#endif
