// The check build's record of who touched what: its types and its state.
//
// In a check build the compiler reports every load and store to the functions of watch_access.h, which it
// calls __tsan_read4 and so on (-fsanitize=thread). These headers take the place of its run-time library.
// docs/measuring.md says what they find.
#ifndef KILN_CPU_WATCH_STATE_H
#define KILN_CPU_WATCH_STATE_H

#define KILN_CPU_HOT static __attribute__((unused)) KILN_CPU_UNSEEN
#define KILN_CPU_HOOK KILN_CPU_CALLEE

#define KILN_CPU_MAX_REGIONS 2048
#define KILN_CPU_SITES 4096
#define KILN_CPU_MAX_CHAINS 256
#define KILN_CPU_MAX_PUBLICATIONS (1u << 18)
#define KILN_CPU_MAX_COPIES (1u << 16)
#define KILN_CPU_MAX_AFTER_FAULT (1u << 20)
#define KILN_CPU_MAX_NUMBERED_BLOCKS (1u << 20)

// What an access is; the last three are kept with the thread in a cell.
enum kiln_cpu_access_kind : uint32_t {
    KILN_CPU_READS = 1u << 16,
    KILN_CPU_WRITES = 1u << 13,
    KILN_CPU_IS_ATOMIC = 1u << 11,
    KILN_CPU_IS_VOLATILE = 1u << 12,
};
#define KILN_CPU_THREAD_BITS 0x7ffu

// The accesses that are remembered of one granule of memory: slot 0 is the last write, 1 and 2 are reads, 3 is an
// earlier atomic write or a read by an earlier block. A granule is as large as the smallest access seen, at most
// 4 bytes, so that an access touches whole granules.
struct kiln_cpu_slot {
    uint32_t interval;
    uint32_t place;   // the return address, relative to kiln_cpu_abi
    uint16_t thread;  // its number, and what the access was
    uint16_t clock;   // the thread's count of warp synchronisations
};
struct kiln_cpu_cell {
    kiln_cpu_slot slot[4];
    uint32_t written;  // the first interval of the last block that wrote it
    uint32_t pending;  // the same, of the last block with a copy under way
    uint32_t quiet;    // the interval in which one more read changes nothing
    uint32_t contended;  // the interval in which several threads wrote it without an order
};

// The first read of shared memory, or of an output, that no thread had written, or of a variable whose content an
// earlier launch left. It is told when the interval ends: if a thread writes there before, that is a race.
struct kiln_cpu_unwritten_read {
    uint32_t bytes;  // 0 if there was none
    uint32_t thread;
    uint32_t place;
    uintptr_t at;
    const struct kiln_cpu_region* region;
};

// A plain read of what another thread updates atomically. It is a race unless the thread next compares and swaps the
// same location: such a loop may begin with a plain read, as in the CUDA C++ Programming Guide ("Atomic Functions"),
// because a wrong value only costs a turn.
struct kiln_cpu_doubtful_read {
    uint32_t bytes;  // 0 if there is none
    uint32_t thread;
    uint32_t place;
    uintptr_t at;
    const struct kiln_cpu_region* region;
    kiln_cpu_slot other;
};

// A plain write that races with an earlier one, and what it overwrites. It is told when it has been done: its message
// says whether both wrote the same value, which the author may allow. See watch_equal.h.
struct kiln_cpu_rival_write {
    uint32_t bytes;
    uint32_t thread;
    uint32_t access;
    uint32_t place;
    uintptr_t at;
    const struct kiln_cpu_region* region;
    kiln_cpu_slot other;
};
struct kiln_cpu_overwritten {
    const volatile uint8_t* at;
    uint32_t bytes;
    uint8_t old[4];
};
#define KILN_CPU_MAX_OVERWRITTEN 1024

// Memory that kernels may use.
struct alignas(64) kiln_cpu_region {
    uintptr_t start;
    uint64_t bytes;
    kiln_cpu_cell* cells;  // null if only the bounds are checked
    uint32_t oldest;       // earlier intervals do not matter
    uint32_t element_bytes;
    uint32_t kind;
    uint32_t shift;        // a granule is 1 << shift bytes
    int32_t argument;      // its number, -1 for other memory
    bool shared;
    bool read_only;
    bool starts_empty;     // each block's shared memory, and each launch's outputs
    bool keeps;            // content from one launch to the next: variables of the kernel
    const uint8_t* initial;  // as in kiln_cpu_memory
    const char* name;
};

// A location through which blocks or threads tell each other that their data is ready: see watch_order.h.
struct kiln_cpu_chain {
    uintptr_t at;
    uint32_t block;     // the first interval of the block that the rest is about
    uint32_t known;     // publications that its thread `thread` knows since `interval`
    uint32_t interval;
    uint32_t thread;
    uint32_t all_know;  // publications that all threads of the block know
};
struct kiln_cpu_publication {
    uint32_t interval;
    uint32_t block;
    uint16_t thread;
    uint16_t chain;
};

// A copy_async under way; `next` is the thread's next one.
struct kiln_cpu_copy {
    uintptr_t to;
    uint32_t bytes;
    uint32_t group;
    uint32_t place;
    uint32_t next;
};

typedef uint16_t kiln_cpu_clocks __attribute__((vector_size(64)));

struct kiln_cpu_watch_state {
    uintptr_t stack_low;    // the running thread's stack
    uint64_t stack_bytes;
    uint32_t interval;      // counts block barriers and starts of blocks, over all launches
    uint32_t block_first;   // the interval in which the block began
    uint32_t launch_first;
    uint32_t loop_thread;   // the running thread in LOOP mode
    bool fenced;            // a thread of the block has called __threadfence
    bool log_is_full;
    uint32_t regions;
    uint32_t chains;
    uint32_t publications;
    uint32_t blocks;        // that were begun
    uint32_t copies;
    uint32_t copies_left;   // those not waited for
    kiln_cpu_unwritten_read unwritten;
    kiln_cpu_doubtful_read doubtful;
    kiln_cpu_rival_write rival;
    uint32_t overwritten;   // granules that the rival write overwrites; 0 if there is none
    uint32_t left;          // accesses that other threads may make after a fault
    bool parked;            // a thread has stopped at a fault
    bool equal_stores;      // the author allows stores of the same value
    bool unwritten_reads;   // the author allows reads of shared memory that no thread has written
    kiln_cpu_cell* free_cells;
    kiln_cpu_cell* cells_end;
};

KILN_CPU_STATE kiln_cpu_watch_state kiln_cpu_watch;
KILN_CPU_STATE kiln_cpu_region kiln_cpu_regions[KILN_CPU_MAX_REGIONS];
// The region that the last access of a place in the code was in.
KILN_CPU_STATE uint16_t kiln_cpu_site_region[KILN_CPU_SITES];
KILN_CPU_STATE kiln_cpu_chain kiln_cpu_chains[KILN_CPU_MAX_CHAINS];
KILN_CPU_STATE kiln_cpu_publication kiln_cpu_publications[KILN_CPU_MAX_PUBLICATIONS];
KILN_CPU_STATE uint32_t kiln_cpu_block_firsts[KILN_CPU_MAX_NUMBERED_BLOCKS];
KILN_CPU_STATE uint64_t kiln_cpu_first_in_order;  // number of the launch's part's first block
KILN_CPU_STATE kiln_cpu_overwritten kiln_cpu_old[KILN_CPU_MAX_OVERWRITTEN];
KILN_CPU_STATE kiln_cpu_copy kiln_cpu_copies[KILN_CPU_MAX_COPIES];
KILN_CPU_STATE uint32_t kiln_cpu_first_copy[KILN_CPU_MAX_THREADS];  // of a thread, plus 1
KILN_CPU_STATE uint32_t kiln_cpu_last_copy[KILN_CPU_MAX_THREADS];
KILN_CPU_STATE uint32_t kiln_cpu_copy_groups[KILN_CPU_MAX_THREADS];
// What each thread knows of the lanes of its warp: a vector clock (Mattern 1989).
KILN_CPU_STATE kiln_cpu_clocks kiln_cpu_known[KILN_CPU_MAX_THREADS];

#if KILN_CPU_FIBERS
#define KILN_CPU_RUNNING kiln_cpu_state.current
#else
#define KILN_CPU_RUNNING kiln_cpu_watch.loop_thread
#endif

// Relative to an address that the executor finds in the symbol table.
extern "C" __attribute__((visibility("default"))) const uint32_t kiln_cpu_abi;
KILN_INLINE uint32_t kiln_cpu_place_of(const void* from) {
    return (uint32_t)((uintptr_t)from - (uintptr_t)&kiln_cpu_abi);
}

#endif
