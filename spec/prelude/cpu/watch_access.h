// The check build sees every load and store: the functions that the compiler calls for them.
#ifndef KILN_CPU_WATCH_ACCESS_H
#define KILN_CPU_WATCH_ACCESS_H

// Gives a region cells for smaller granules, each with what is known of the one that it was part of.
KILN_CPU_COLD bool kiln_cpu_refine(kiln_cpu_region* region, uintptr_t low_bits) {
    uint32_t shift = (uint32_t)__builtin_ctzll(low_bits), parts = 1u << (region->shift - shift);
    uint64_t count = (region->bytes >> region->shift) + 1;
    kiln_cpu_cell* cells = kiln_cpu_watch.free_cells;
    if ((uint64_t)(kiln_cpu_watch.cells_end - cells) < count * parts) return false;
    kiln_cpu_watch.free_cells += count * parts;
    for (uint64_t i = 0; i < count * parts; i++) cells[i] = region->cells[i / parts];
    region->cells = cells;
    region->shift = shift;
    return true;
}

// The region that holds an access, by binary search; null after telling that there is none, unless another thread's
// fault was told.
KILN_CPU_COLD kiln_cpu_region* kiln_cpu_find(uintptr_t at, uint32_t bytes, uint32_t access, uint32_t place,
                                             uint16_t* site) {
    uint32_t first = 0, last = kiln_cpu_watch.regions;
    while (last - first > 1) {
        uint32_t middle = first + (last - first) / 2;
        if (kiln_cpu_regions[middle].start <= at) first = middle;
        else last = middle;
    }
    kiln_cpu_region* region = &kiln_cpu_regions[first];
    uintptr_t offset = at - region->start;
    if (offset < region->bytes && region->bytes - offset >= bytes) {
        *site = (uint16_t)first;
        return region;
    }
    if (!kiln_cpu_failed) kiln_cpu_tell_outside(at, bytes, access, place);
    return 0;
}

KILN_INLINE uint16_t* kiln_cpu_site_of(uint32_t place) {
    return &kiln_cpu_site_region[(place ^ place >> 12) % KILN_CPU_SITES];
}

KILN_INLINE uint32_t kiln_cpu_own_clock(void) {
#if KILN_CPU_FIBERS
    uint32_t running = KILN_CPU_RUNNING;
    return kiln_cpu_known[running][running % 32];
#else
    return 0;
#endif
}

KILN_INLINE void kiln_cpu_note(kiln_cpu_cell* cell, uint32_t slot, uint32_t access, uint32_t place) {
    cell->slot[slot] = kiln_cpu_slot{kiln_cpu_watch.interval, place, (uint16_t)(KILN_CPU_RUNNING | access),
                                     (uint16_t)kiln_cpu_own_clock()};
}

// Whether a slot holds an access of another thread that no barrier orders before this one.
KILN_INLINE bool kiln_cpu_is_foreign(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uint32_t slot) {
    uint32_t interval = cell->slot[slot].interval;
    if (interval < region->oldest) return false;
    if (interval == kiln_cpu_watch.interval) {
        return ((cell->slot[slot].thread ^ KILN_CPU_RUNNING) & KILN_CPU_THREAD_BITS) != 0;
    }
    return interval < kiln_cpu_watch.block_first;
}

// Whether every access of this interval is ordered after the one in a slot.
KILN_INLINE bool kiln_cpu_is_past(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uint32_t slot) {
    uint32_t interval = cell->slot[slot].interval;
    return interval < region->oldest ||
           (interval >= kiln_cpu_watch.block_first && interval < kiln_cpu_watch.interval);
}

#define KILN_CPU_CHECK_SLOT(index)                                                                     \
    if (__builtin_expect(kiln_cpu_is_foreign(region, cell, index), 0) &&                               \
        kiln_cpu_races(region, cell, index, access)) {                                                 \
        if (kiln_cpu_is_doubtful(cell, index, access)) {                                               \
            return kiln_cpu_note_doubtful(region, cell, index, at, bytes, place);                      \
        }                                                                                              \
        kiln_cpu_tell_race(region, cell->slot[index], KILN_CPU_RUNNING, at, bytes, access, place);     \
        return false;                                                                                  \
    }

// Whether a race is between a plain read and an earlier atomic update.
KILN_INLINE bool kiln_cpu_is_doubtful(const kiln_cpu_cell* cell, uint32_t slot, uint32_t access) {
    uint32_t plain = KILN_CPU_WRITES | KILN_CPU_IS_ATOMIC | KILN_CPU_IS_VOLATILE;
    return !(access & plain) && cell->slot[slot].thread & KILN_CPU_IS_ATOMIC;
}

// False after telling of an earlier read that turned out to be a race.
KILN_CPU_COLD bool kiln_cpu_note_doubtful(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uint32_t slot,
                                          uintptr_t at, uint32_t bytes, uint32_t place) {
    kiln_cpu_doubtful_read* read = &kiln_cpu_watch.doubtful;
    bool same = read->bytes && read->thread == KILN_CPU_RUNNING && at - read->at < read->bytes;
    if (same) return true;
    if (kiln_cpu_tell_doubtful()) return false;
    *read = kiln_cpu_doubtful_read{bytes, KILN_CPU_RUNNING, place, at, region, cell->slot[slot]};
    return true;
}

// The running thread compared and swapped a location: its earlier plain read of it is as good as an atomic one.
KILN_CPU_COMMON void kiln_cpu_compared(const volatile void* address, uint32_t bytes) {
    uintptr_t at = (uintptr_t)address;
    kiln_cpu_doubtful_read* read = &kiln_cpu_watch.doubtful;
    if (read->bytes && read->thread == KILN_CPU_RUNNING && read->at - at < bytes) read->bytes = 0;
    const kiln_cpu_region* region = &kiln_cpu_regions[0];
    for (uint32_t i = 0; i < kiln_cpu_watch.regions; i++, region++) {
        uintptr_t offset = at - region->start;
        if (offset >= region->bytes || !region->cells) continue;
        kiln_cpu_cell *cell = region->cells + (offset >> region->shift), *end = cell + (bytes >> region->shift);
        for (; cell < end; cell++) {
            for (uint32_t slot = 1; slot <= 2; slot++) {
                kiln_cpu_slot* one = &cell->slot[slot];
                bool own = (one->thread & KILN_CPU_THREAD_BITS) == KILN_CPU_RUNNING;
                if (own && one->interval == kiln_cpu_watch.interval) one->thread |= KILN_CPU_IS_ATOMIC;
            }
        }
    }
}

KILN_CPU_COLD void kiln_cpu_note_unwritten(const kiln_cpu_region* region, uintptr_t at, uint32_t bytes,
                                           uint32_t place) {
    kiln_cpu_unwritten_read read = {bytes, KILN_CPU_RUNNING, place, at, region};
    if (region->shared && kiln_cpu_watch.unwritten_reads) return kiln_cpu_remark_unwritten(&read);
    if (!kiln_cpu_watch.unwritten.bytes) kiln_cpu_watch.unwritten = read;
}

// Whether a granule has content: of shared memory, what the block wrote, and of other memory, what the launch wrote.
KILN_INLINE bool kiln_cpu_is_written(const kiln_cpu_region* region, const kiln_cpu_cell* cell) {
    return cell->written >= region->oldest;
}

// Whether a part of the 4 bytes that hold a granule was written. If a thread copies a struct, it may read padding,
// which nobody writes. A read of at least 4 bytes is therefore right if a part of each 4 bytes was written.
KILN_CPU_COLD bool kiln_cpu_is_padding(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uint32_t bytes) {
    if (bytes < 4 || region->shift >= 2) return false;
    const kiln_cpu_cell* end = region->cells + (region->bytes >> region->shift);
    uintptr_t per_word = 4u >> region->shift;
    const kiln_cpu_cell* one = cell - (uintptr_t)(cell - region->cells) % per_word;
    for (uintptr_t i = 0; i < per_word && one < end; i++, one++) {
        if (kiln_cpu_is_written(region, one)) return true;
    }
    return false;
}

// Whether a granule of a variable differs from what it held when the object was loaded. No launch has written it since
// it began, so an earlier one did.
KILN_CPU_COLD bool kiln_cpu_is_left(const kiln_cpu_region* region, uintptr_t at) {
    uintptr_t first = at - region->start, end = first + (1u << region->shift);
    for (uintptr_t i = first; i < end && i < region->bytes; i++) {
        uint8_t initial = region->initial ? region->initial[i] : 0;
        if (((const volatile uint8_t*)region->start)[i] != initial) return true;
    }
    return false;
}

// Whether a launch may not read a granule that it has not written.
KILN_CPU_COLD bool kiln_cpu_lacks_content(const kiln_cpu_region* region, const kiln_cpu_cell* cell, uintptr_t at,
                                          uint32_t bytes) {
    return region->keeps ? kiln_cpu_is_left(region, at) : !kiln_cpu_is_padding(region, cell, bytes);
}

KILN_INLINE void kiln_cpu_note_read(const kiln_cpu_region* region, kiln_cpu_cell* cell, uint32_t access,
                                    uint32_t place) {
    uint32_t running = KILN_CPU_RUNNING, interval = kiln_cpu_watch.interval;
    if (cell->slot[1].interval != interval) {
        uint32_t earlier = cell->slot[1].interval;
        if (!region->shared && earlier >= region->oldest && earlier < kiln_cpu_watch.block_first) {
            cell->slot[3] = cell->slot[1];
        }
        return kiln_cpu_note(cell, 1, access, place);
    }
    uint32_t first = cell->slot[1].thread & KILN_CPU_THREAD_BITS;
    if (first == running) return kiln_cpu_note(cell, 1, access, place);
    // Of the readers after the first, one of another warp is kept: no writer is ordered after both.
    if (cell->slot[2].interval == interval) {
        uint32_t second = cell->slot[2].thread & KILN_CPU_THREAD_BITS;
        if (second != running && second / 32 != first / 32) {
            bool alone = kiln_cpu_is_past(region, cell, 0) && kiln_cpu_is_past(region, cell, 3);
            if (alone) cell->quiet = interval;
            return;
        }
    }
    kiln_cpu_note(cell, 2, access, place);
}

// An atomic write does not end what is to be known of earlier writes: others may be atomic at the same time. A plain
// one of this interval is kept rather than an atomic one.
KILN_INLINE void kiln_cpu_keep_write(const kiln_cpu_region* region, kiln_cpu_cell* cell) {
    uint32_t interval = kiln_cpu_watch.interval;
    bool matters = cell->slot[0].interval == interval || kiln_cpu_is_foreign(region, cell, 0);
    bool has_plain = cell->slot[3].interval == interval && !(cell->slot[3].thread & KILN_CPU_IS_ATOMIC);
    if (matters && !has_plain) cell->slot[3] = cell->slot[0];
}

// An access to one granule. False after telling what is wrong with it.
KILN_INLINE bool kiln_cpu_see_cell(const kiln_cpu_region* region, kiln_cpu_cell* cell, uintptr_t at, uint32_t bytes,
                                   uint32_t access, uint32_t place) {
    if (!(access & KILN_CPU_WRITES) && cell->quiet == kiln_cpu_watch.interval) return true;
    if (region->shared) {
        if (__builtin_expect(cell->pending == kiln_cpu_watch.block_first, 0)) {
            kiln_cpu_tell_pending(region, cell, at, bytes, access, place);
            return false;
        }
    }
    if ((region->starts_empty || region->keeps) && access & KILN_CPU_READS &&
        __builtin_expect(!kiln_cpu_is_written(region, cell), 0) && kiln_cpu_lacks_content(region, cell, at, bytes)) {
        kiln_cpu_note_unwritten(region, at, bytes, place);
    }
    bool contended = __builtin_expect(kiln_cpu_is_contended(region, cell), 0);
    if (contended && access & KILN_CPU_READS) {
        kiln_cpu_tell_race(region, cell->slot[0], KILN_CPU_RUNNING, at, bytes, access, place);
        return false;
    }
    if (!kiln_cpu_may_be_equal(cell, access)) {
        KILN_CPU_CHECK_SLOT(0)
    } else if (__builtin_expect(kiln_cpu_is_foreign(region, cell, 0), 0) && kiln_cpu_races(region, cell, 0, access)) {
        contended = true;
    }
    KILN_CPU_CHECK_SLOT(3)
    if (!(access & KILN_CPU_WRITES)) {
        kiln_cpu_note_read(region, cell, access, place);
        return true;
    }
    KILN_CPU_CHECK_SLOT(1)
    KILN_CPU_CHECK_SLOT(2)
    if (contended && !kiln_cpu_compare_later(region, cell, at, bytes, access, place)) return false;
    if (access & KILN_CPU_IS_ATOMIC) kiln_cpu_keep_write(region, cell);
    cell->written = kiln_cpu_watch.block_first;
    cell->quiet = 0;
    kiln_cpu_note(cell, 0, access, place);
    return true;
}

// Whether an access to tracked memory is right.
KILN_INLINE bool kiln_cpu_see_cells(kiln_cpu_region* region, uintptr_t at, uint32_t bytes, uint32_t access,
                                    uint32_t place) {
    uintptr_t offset = at - region->start, low_bits = offset | bytes;
    if (__builtin_expect(low_bits & ((1u << region->shift) - 1), 0) && !kiln_cpu_refine(region, low_bits)) {
        return true;
    }
    kiln_cpu_cell *cell = region->cells + (offset >> region->shift), *end = cell + (bytes >> region->shift);
    do {
        if (!kiln_cpu_see_cell(region, cell, at, bytes, access, place)) return false;
        at += 1u << region->shift;
    } while (++cell < end);
    return true;
}

// The running thread accessed memory outside, and stops. A wrong index may come from a race that is not known yet,
// because the other thread has not run. The other threads therefore run on, to the next barrier at most. If they show
// a race, that is told instead.
KILN_CPU_CALLEE void* kiln_cpu_park(void) {
    if (!kiln_cpu_watch.parked) kiln_cpu_watch.left = KILN_CPU_MAX_AFTER_FAULT;
    kiln_cpu_watch.parked = true;
#if KILN_CPU_FIBERS
    return kiln_cpu_pick();
#else
    return kiln_cpu_home;
#endif
}

// An access of any kind. Leaves the kernel if it is wrong.
KILN_CPU_HOT __attribute__((noinline)) void kiln_cpu_see_any(const volatile void* address, uint32_t bytes,
                                                             uint32_t access, const void* from) {
    uintptr_t at = (uintptr_t)address;
    if (at - kiln_cpu_watch.stack_low < kiln_cpu_watch.stack_bytes) return;
    if (access & KILN_CPU_WRITES && kiln_cpu_tell_rival()) KILN_CPU_LEAVE(kiln_cpu_go_home);
    if (kiln_cpu_failed && kiln_cpu_watch.left-- == 0) KILN_CPU_LEAVE(kiln_cpu_go_home);
    uint32_t place = kiln_cpu_place_of(from);
    uint16_t* site = kiln_cpu_site_of(place);
    kiln_cpu_region* region = &kiln_cpu_regions[*site];
    uintptr_t offset = at - region->start;
    if (__builtin_expect(offset >= region->bytes || region->bytes - offset < bytes, 0)) {
        region = kiln_cpu_find(at, bytes, access, place, site);
    }
    if (!region) {
        KILN_CPU_LEAVE(kiln_cpu_park);
    } else if (region->cells) {
        if (kiln_cpu_see_cells(region, at, bytes, access, place)) return;
    } else if (!(region->read_only && access & KILN_CPU_WRITES)) {
        return;
    } else {
        kiln_cpu_tell_read_only(region, at, bytes, place);
    }
    KILN_CPU_LEAVE(kiln_cpu_go_home);
}

// The same, with a short way for a read that changes nothing: of memory that the kernel only reads, or of a granule
// that several warps have read already.
KILN_INLINE void kiln_cpu_see(const volatile void* address, uint32_t bytes, uint32_t access, const void* from) {
    uintptr_t at = (uintptr_t)address;
    if (at - kiln_cpu_watch.stack_low < kiln_cpu_watch.stack_bytes) return;
    const kiln_cpu_region* region = &kiln_cpu_regions[*kiln_cpu_site_of(kiln_cpu_place_of(from))];
    uintptr_t offset = at - region->start;
    if (__builtin_expect(offset < region->bytes && region->bytes - offset >= bytes, 1)) {
        if (!region->cells) {
            if (!(access & KILN_CPU_WRITES) || region->kind == KILN_CPU_OWN) return;
        } else if (!(access & KILN_CPU_WRITES) && bytes == 1u << region->shift && offset % bytes == 0 &&
                   region->cells[offset >> region->shift].quiet == kiln_cpu_watch.interval) {
            return;
        }
    }
    kiln_cpu_see_any(address, bytes, access, from);
}

KILN_CPU_HOT __attribute__((noinline)) void kiln_cpu_see_range(const volatile void* address, uint64_t bytes,
                                                               uint32_t access, const void* from) {
    const uint64_t most = 1u << 30;
    for (uint64_t done = 0; done < bytes; done += most) {
        uint64_t part = bytes - done < most ? bytes - done : most;
        kiln_cpu_see_any((const volatile uint8_t*)address + done, (uint32_t)part, access, from);
    }
}

KILN_CPU_COMMON void kiln_cpu_see_strong(const volatile void* address, uint32_t bytes, uint32_t access,
                                         const void* from) {
    kiln_cpu_see_any(address, bytes, access, from);
    kiln_cpu_synchronises((uintptr_t)address, access);
}

// An access whose type promises an alignment. A GPU stops at an address without it, and some processors do too. The
// compiler promises at most 8 bytes.
KILN_INLINE void kiln_cpu_see_alignment(const void* at, uint32_t bytes, uint32_t access, const void* from) {
    if (__builtin_expect((uintptr_t)at & ((bytes < 8 ? bytes : 8) - 1), 0)) {
        kiln_cpu_tell_misaligned((uintptr_t)at, bytes, access, kiln_cpu_place_of(from));
        KILN_CPU_LEAVE(kiln_cpu_go_home);
    }
}

#define KILN_CPU_HOOK_OF(name, bytes, see, access)                                                     \
    KILN_CPU_HOOK void __tsan_##name##bytes(void* at) {                                                \
        if (KILN_CPU_ALIGNED_##name) kiln_cpu_see_alignment(at, bytes, access, KILN_CPU_HERE);         \
        see(at, bytes, access, KILN_CPU_HERE);                                                         \
    }
#define KILN_CPU_ALIGNED_read true
#define KILN_CPU_ALIGNED_write true
#define KILN_CPU_ALIGNED_volatile_read true
#define KILN_CPU_ALIGNED_volatile_write true
#define KILN_CPU_ALIGNED_unaligned_read false
#define KILN_CPU_ALIGNED_unaligned_write false
#define KILN_CPU_ALIGNED_unaligned_volatile_read false
#define KILN_CPU_ALIGNED_unaligned_volatile_write false
#define KILN_CPU_HOOKS_OF(prefix, bytes, see)                                                          \
    KILN_CPU_HOOK_OF(prefix##read, bytes, see, KILN_CPU_READS)                                         \
    KILN_CPU_HOOK_OF(prefix##write, bytes, see, KILN_CPU_WRITES)                                       \
    KILN_CPU_HOOK_OF(prefix##volatile_read, bytes, kiln_cpu_see_strong,                                \
                     KILN_CPU_READS | KILN_CPU_IS_VOLATILE)                                            \
    KILN_CPU_HOOK_OF(prefix##volatile_write, bytes, kiln_cpu_see_strong,                               \
                     KILN_CPU_WRITES | KILN_CPU_IS_VOLATILE)
// The most usual size alone is worth code of its own: it is compiled with every kernel.
KILN_CPU_HOOKS_OF(, 1, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(, 2, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(, 4, kiln_cpu_see)
KILN_CPU_HOOKS_OF(, 8, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(, 16, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(unaligned_, 2, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(unaligned_, 4, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(unaligned_, 8, kiln_cpu_see_any)
KILN_CPU_HOOKS_OF(unaligned_, 16, kiln_cpu_see_any)

#if defined(__clang__)
typedef size_t kiln_cpu_size;
#else
typedef long kiln_cpu_size;  // g++ declares them so
#endif
KILN_CPU_HOOK void __tsan_read_range(void* at, kiln_cpu_size bytes) {
    kiln_cpu_see_range(at, (uint64_t)bytes, KILN_CPU_READS, KILN_CPU_HERE);
}
KILN_CPU_HOOK void __tsan_write_range(void* at, kiln_cpu_size bytes) {
    kiln_cpu_see_range(at, (uint64_t)bytes, KILN_CPU_WRITES, KILN_CPU_HERE);
}
KILN_CPU_HOOK void __tsan_init(void) {}
KILN_CPU_HOOK void __tsan_func_entry(void*) {}
KILN_CPU_HOOK void __tsan_func_exit(void) {}
KILN_CPU_HOOK void __tsan_vptr_read(void**) {}
KILN_CPU_HOOK void __tsan_vptr_update(void**, void*) {}

// Byte by byte, with a barrier for the compiler, which would make a call of these very functions of it.
KILN_INLINE void* kiln_cpu_move(void* to, const void* from, size_t bytes) {
    uint8_t* target = (uint8_t*)to;
    const uint8_t* source = (const uint8_t*)from;
    bool backwards = (uintptr_t)to - (uintptr_t)from < bytes;
    for (size_t i = 0; i < bytes; i++) {
        size_t at = backwards ? bytes - 1 - i : i;
        target[at] = source[at];
        __asm__ volatile("" ::: "memory");
    }
    return to;
}
KILN_INLINE void* kiln_cpu_set(void* to, int value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t*)to)[i] = (uint8_t)value;
        __asm__ volatile("" ::: "memory");
    }
    return to;
}

// g++ calls the library's functions, clang those of the sanitizer.
#define KILN_CPU_MOVE_HOOKS(number, name)                                                              \
    extern "C" void* kiln_cpu_move_##number(void*, const void*, size_t) __asm__(name);                 \
    KILN_CPU_HOOK void* kiln_cpu_move_##number(void* to, const void* from, size_t bytes) {             \
        kiln_cpu_see_range(from, bytes, KILN_CPU_READS, KILN_CPU_HERE);                                \
        kiln_cpu_see_range(to, bytes, KILN_CPU_WRITES, KILN_CPU_HERE);                                 \
        return kiln_cpu_move(to, from, bytes);                                                         \
    }
KILN_CPU_MOVE_HOOKS(0, "memcpy")
KILN_CPU_MOVE_HOOKS(1, "memmove")
KILN_CPU_MOVE_HOOKS(2, "__tsan_memcpy")
KILN_CPU_MOVE_HOOKS(3, "__tsan_memmove")
#define KILN_CPU_SET_HOOKS(number, name)                                                               \
    extern "C" void* kiln_cpu_set_##number(void*, int, size_t) __asm__(name);                          \
    KILN_CPU_HOOK void* kiln_cpu_set_##number(void* to, int value, size_t bytes) {                     \
        kiln_cpu_see_range(to, bytes, KILN_CPU_WRITES, KILN_CPU_HERE);                                 \
        return kiln_cpu_set(to, value, bytes);                                                         \
    }
KILN_CPU_SET_HOOKS(0, "memset")
KILN_CPU_SET_HOOKS(1, "__tsan_memset")

#endif
