// A check build's launches: which memory there is, and where the blocks begin.
#ifndef KILN_CPU_WATCH_LAUNCH_H
#define KILN_CPU_WATCH_LAUNCH_H

// Cells for a region, of granules of 1 << shift bytes; none if there is no room, so that only bounds are checked.
KILN_CPU_COLD void kiln_cpu_track(kiln_cpu_region* region, uint32_t shift) {
    uint64_t count = (region->bytes >> shift) + 1;
    if ((uint64_t)(kiln_cpu_watch.cells_end - kiln_cpu_watch.free_cells) < count) return;
    region->cells = kiln_cpu_watch.free_cells;
    region->shift = shift;
    kiln_cpu_watch.free_cells += count;
}

// Adds a region in the order of addresses.
KILN_CPU_COLD kiln_cpu_region* kiln_cpu_add_region(const kiln_cpu_memory* memory) {
    if (kiln_cpu_watch.regions == KILN_CPU_MAX_REGIONS) return 0;
    uint32_t at = kiln_cpu_watch.regions++;
    while (at > 0 && kiln_cpu_regions[at - 1].start > (uintptr_t)memory->start) {
        kiln_cpu_regions[at] = kiln_cpu_regions[at - 1];
        at--;
    }
    kiln_cpu_region* region = &kiln_cpu_regions[at];
    *region = kiln_cpu_region{};
    region->start = (uintptr_t)memory->start;
    region->bytes = memory->bytes;
    region->element_bytes = memory->element_bytes;
    region->kind = memory->kind == KILN_CPU_OUTPUT ? KILN_CPU_ARGUMENT : memory->kind;
    region->name = memory->name;
    region->argument = -1;
    region->shared = memory->kind == KILN_CPU_SHARED || memory->kind == KILN_CPU_DYNAMIC_SHARED;
    region->read_only = memory->kind == KILN_CPU_CONSTANT;
    region->starts_empty = region->shared || memory->kind == KILN_CPU_OUTPUT;
    region->keeps = memory->kind == KILN_CPU_VARIABLE;
    region->initial = memory->initial;
    return region;
}

// Finds the memory that a pointer parameter points to. It is read only if every parameter that does is `const`.
KILN_CPU_COMMON void kiln_cpu_point(int32_t argument, uintptr_t to, uint32_t element_bytes, bool is_const) {
    for (uint32_t i = 0; i < kiln_cpu_watch.regions; i++) {
        kiln_cpu_region* region = &kiln_cpu_regions[i];
        if (region->kind != KILN_CPU_ARGUMENT || to - region->start >= region->bytes) continue;
        bool first = region->argument < 0;
        if (first) region->argument = argument;
        if (!region->element_bytes) region->element_bytes = element_bytes;
        region->read_only = is_const && (first || region->read_only);
    }
}

KILN_CPU_COMMON void kiln_cpu_watch_starts(const kiln_cpu_launch* launch, uint64_t first) {
    kiln_cpu_watch_state* watch = &kiln_cpu_watch;
    watch->regions = watch->chains = watch->publications = watch->blocks = 0;
    watch->log_is_full = false;
    watch->free_cells = (kiln_cpu_cell*)launch->history->cells;
    watch->cells_end = watch->free_cells + launch->history->count;
    watch->interval = launch->history->interval;
    watch->launch_first = watch->interval + 1;
    kiln_cpu_first_in_order = first;
    // Regions have other numbers than in the launch before.
    kiln_cpu_set(kiln_cpu_site_region, 0, sizeof kiln_cpu_site_region);
    // Dynamic shared memory is added below, with the size that this launch gives it: no two regions may overlap.
    for (uint64_t i = 0; i < kiln_cpu_variable_count; i++) {
        if (kiln_cpu_variables[i].start != kiln_cpu_dynamic) kiln_cpu_add_region(&kiln_cpu_variables[i]);
    }
    for (uint64_t i = 0; i < launch->memory_count; i++) kiln_cpu_add_region(&launch->memory[i]);
    kiln_cpu_memory dynamic = {0, kiln_cpu_dynamic, launch->dynamic_shared_bytes, 0, KILN_CPU_DYNAMIC_SHARED, 0};
    kiln_cpu_add_region(&dynamic);
}

// The arguments' own values are read while the kernel is called.
KILN_CPU_COMMON void kiln_cpu_watch_value(const void* value, uint64_t bytes) {
    kiln_cpu_memory own = {0, (uint8_t*)value, bytes, 0, KILN_CPU_OWN, 0};
    kiln_cpu_add_region(&own);
}

KILN_CPU_COMMON void kiln_cpu_watch_tracks(void) {
    for (uint32_t i = 0; i < kiln_cpu_watch.regions; i++) {
        kiln_cpu_region* region = &kiln_cpu_regions[i];
        if (region->kind == KILN_CPU_OWN || region->read_only) continue;
        region->oldest = kiln_cpu_watch.launch_first;
        uint32_t element = region->element_bytes;
        kiln_cpu_track(region, element % 4 == 0 ? 2 : element % 2 == 0 ? 1 : 0);
    }
}

KILN_CPU_COMMON void kiln_cpu_watch_block(void) {
    kiln_cpu_watch_state* watch = &kiln_cpu_watch;
    watch->block_first = ++watch->interval;
    watch->fenced = false;
    watch->unwritten.bytes = 0;
    watch->doubtful.bytes = 0;
    watch->overwritten = 0;
    watch->parked = false;
    if (watch->blocks < KILN_CPU_MAX_NUMBERED_BLOCKS) kiln_cpu_block_firsts[watch->blocks] = watch->interval;
    watch->blocks++;
    for (uint32_t i = 0; i < watch->regions; i++) {
        const kiln_cpu_region* region = &kiln_cpu_regions[i];
        if (!region->shared) continue;
        kiln_cpu_regions[i].oldest = watch->block_first;
        if (watch->unwritten_reads) kiln_cpu_set((void*)region->start, (uint8_t)kiln_cpu_undefined(), region->bytes);
    }
    kiln_cpu_copies_end();
}

#endif
