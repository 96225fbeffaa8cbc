// Entries: how the executor runs the blocks of a kernel.
#ifndef KILN_CPU_ENTRY_H
#define KILN_CPU_ENTRY_H

// The version of the interface between object and executor, and what the object was built as.
KILN_CPU_EXPORT const uint32_t kiln_cpu_abi = 1;
KILN_CPU_EXPORT const uint32_t kiln_cpu_fibers = KILN_CPU_FIBERS;
KILN_CPU_EXPORT const uint32_t kiln_cpu_check = KILN_CPU_CHECK;

#if KILN_CPU_CHECK
// Where the __shared__ arrays lie: the executor fills this in from the object's symbol table.
struct kiln_cpu_range { uint8_t* start; uint64_t bytes; };
extern "C" {
__attribute__((visibility("default"))) kiln_cpu_range kiln_cpu_shared_ranges[256];
__attribute__((visibility("default"))) uint32_t kiln_cpu_shared_range_count;
}

// All bits set is NaN in every floating-point type: reading what no thread wrote then shows.
KILN_CPU_COLD void kiln_cpu_poison_shared(uint32_t dynamic_bytes) {
    for (uint32_t i = 0; i < kiln_cpu_shared_range_count; i++) {
        __builtin_memset(kiln_cpu_shared_ranges[i].start, 0xff, kiln_cpu_shared_ranges[i].bytes);
    }
    __builtin_memset(kiln_cpu_dynamic, 0xff, dynamic_bytes);
}
#endif

#ifdef KILN_CPU_ASAN
extern "C" void __asan_poison_memory_region(const volatile void*, size_t);
extern "C" void __asan_unpoison_memory_region(const volatile void*, size_t);

// Makes an overrun of dynamic shared memory show, and forgets the frames that a fault left on the stacks.
KILN_CPU_COLD void kiln_cpu_mark_memory(const kiln_cpu_launch* launch, uint32_t threads) {
    size_t dynamic = launch->dynamic_shared_bytes;
    __asan_unpoison_memory_region(kiln_cpu_dynamic, dynamic);
    __asan_poison_memory_region(kiln_cpu_dynamic + dynamic, sizeof kiln_cpu_dynamic - dynamic);
    for (uint32_t i = 0; launch->stacks && i < threads; i++) {
        __asan_unpoison_memory_region(launch->stacks + i * launch->stack_stride, launch->stack_bytes);
    }
}
#endif

// What the callee of kiln_cpu_run_here runs.
KILN_CPU_STATE const kiln_cpu_launch* kiln_cpu_job;
KILN_CPU_STATE uint64_t kiln_cpu_job_first;
KILN_CPU_STATE uint64_t kiln_cpu_job_count;

#if !KILN_CPU_FIBERS
KILN_CPU_STATE void (*kiln_cpu_job_body)(void);

// Runs the job on the executor's own stack, with a way home for a fault.
KILN_CPU_CALLEE void* kiln_cpu_run_here(void* here) {
    kiln_cpu_home = here;
    kiln_cpu_job_body();
    return here;
}
#endif

// Loop hints: threads of one block do not depend on each other but through barriers and atomics.
#if defined(__clang__)
#define KILN_CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define KILN_CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class T> struct kiln_cpu_plain { typedef T type; };
template <class T> struct kiln_cpu_plain<const T> { typedef T type; };

template <uint32_t... indices> struct kiln_cpu_indices {};
#if defined(__clang__)
template <class T, T... indices> struct kiln_cpu_sequence { typedef kiln_cpu_indices<indices...> type; };
template <uint32_t count>
using kiln_cpu_count_to = typename __make_integer_seq<kiln_cpu_sequence, uint32_t, count>::type;
#else
template <uint32_t count> using kiln_cpu_count_to = kiln_cpu_indices<__integer_pack(count)...>;
#endif

// The kernel's parameters are taken from its own signature: no mangled names, and templates work.
template <auto kernel, class Signature> struct kiln_cpu_entry;

template <auto kernel, class... Parameters>
struct kiln_cpu_entry<kernel, void (*)(Parameters...)> {
    static constexpr uint32_t parameters = sizeof...(Parameters);
    typedef kiln_cpu_count_to<parameters> indices;

    template <class T> KILN_MEMBER static T& argument(uint32_t index) {
        return *(T*)kiln_cpu_job->args[index];
    }

#if KILN_CPU_FIBERS

    template <uint32_t... i>
    __attribute__((flatten)) static void thread(kiln_cpu_indices<i...>) {
        kernel(argument<Parameters>(i)...);
    }

    static void body(void) { thread(indices()); }

    static void blocks(void) {
        kiln_cpu_prepare(kiln_cpu_job, body);
        each_block([] { kiln_cpu_run_block(kiln_cpu_job); });
    }

#else

    // The arguments are copies of its own, so that no store of the kernel can change them.
    __attribute__((flatten, noinline)) static void threads(Parameters... arguments) {
        if (blockDim.x > KILN_CPU_MAX_THREADS || blockIdx.x * blockDim.x > KILN_CPU_INDEX_BOUND ||
            blockDim.y > KILN_CPU_MAX_THREADS || blockIdx.y * blockDim.y > KILN_CPU_INDEX_BOUND) {
            __builtin_unreachable();
        }
        const uint32_t size_x = blockDim.x, size_y = blockDim.y, size_z = blockDim.z;
#if KILN_CPU_CHECK
        const uint32_t flip = kiln_cpu_job->flags & KILN_CPU_REVERSE ? ~0u : 0u;
        for (uint32_t z = 0; z < size_z; z++)
            for (uint32_t y = 0; y < size_y; y++)
                for (uint32_t x = 0; x < size_x; x++) {
                    threadIdx.x = flip ? size_x - 1 - x : x;
                    threadIdx.y = flip ? size_y - 1 - y : y;
                    threadIdx.z = flip ? size_z - 1 - z : z;
                    kernel(arguments...);
                }
#else
        for (uint32_t z = 0; z < size_z; z++)
            for (uint32_t y = 0; y < size_y; y++) {
                threadIdx.z = z;
                threadIdx.y = y;
                KILN_CPU_INDEPENDENT
                for (uint32_t x = 0; x < size_x; x++) {
                    threadIdx.x = x;
                    kernel(arguments...);
                }
            }
#endif
    }

    template <uint32_t... i> static void block(kiln_cpu_indices<i...>) {
        threads(argument<Parameters>(i)...);
    }

    static void blocks(void) {
        each_block([] { block(indices()); });
    }

#endif

    // Runs the job's blocks, x fastest, until one fails.
    template <class Block> KILN_MEMBER static void each_block(Block run) {
        gridDim.x = kiln_cpu_job->grid[0];
        gridDim.y = kiln_cpu_job->grid[1];
        gridDim.z = kiln_cpu_job->grid[2];
        blockDim.x = kiln_cpu_job->block[0];
        blockDim.y = kiln_cpu_job->block[1];
        blockDim.z = kiln_cpu_job->block[2];
        uint64_t row = kiln_cpu_job_first / gridDim.x;
        blockIdx.x = (uint32_t)(kiln_cpu_job_first % gridDim.x);
        blockIdx.y = (uint32_t)(row % gridDim.y);
        blockIdx.z = (uint32_t)(row / gridDim.y);
        for (uint64_t left = kiln_cpu_job_count; left > 0; left--) {
#if KILN_CPU_CHECK
            kiln_cpu_poison_shared(kiln_cpu_job->dynamic_shared_bytes);
#endif
            run();
            if (kiln_cpu_failed) return;
            if (++blockIdx.x < gridDim.x) continue;
            blockIdx.x = 0;
            if (++blockIdx.y < gridDim.y) continue;
            blockIdx.y = 0;
            ++blockIdx.z;
        }
    }

    static int run(const kiln_cpu_launch* launch, uint64_t first, uint64_t count) {
        kiln_cpu_job = launch;
        kiln_cpu_job_first = first;
        kiln_cpu_job_count = count;
        kiln_cpu_failed = false;
#ifdef KILN_CPU_ASAN
        kiln_cpu_mark_memory(launch, launch->block[0] * launch->block[1] * launch->block[2]);
#endif
#if KILN_CPU_FIBERS
        blocks();
#else
        kiln_cpu_job_body = blocks;
        KILN_CPU_SUSPEND(kiln_cpu_run_here);
#endif
        return kiln_cpu_failed;
    }
};

// Exports a kernel to the executor as kiln_cpu_run_<name>, and how many arguments it takes. Its own names
// must not hide the kernel's.
#define KILN_CPU_ENTRY(name, ...)                                                                      \
    KILN_CPU_EXPORT const uint32_t kiln_cpu_parameters_##name =                                        \
        kiln_cpu_entry<&__VA_ARGS__, decltype(&__VA_ARGS__)>::parameters;                              \
    KILN_CPU_EXPORT int kiln_cpu_run_##name(const kiln_cpu_launch* kiln_cpu_asked,                     \
                                            uint64_t kiln_cpu_first, uint64_t kiln_cpu_count) {        \
        typedef kiln_cpu_entry<&__VA_ARGS__, decltype(&__VA_ARGS__)> kiln_cpu_this;                    \
        return kiln_cpu_this::run(kiln_cpu_asked, kiln_cpu_first, kiln_cpu_count);                     \
    }

#endif
