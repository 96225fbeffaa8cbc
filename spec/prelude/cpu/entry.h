// Entries: how the executor runs the blocks of a kernel.
#ifndef KILN_CPU_ENTRY_H
#define KILN_CPU_ENTRY_H

// The version of the interface between object and executor, and what the object was built as.
KILN_CPU_EXPORT const uint32_t kiln_cpu_abi = 2;
KILN_CPU_EXPORT const uint32_t kiln_cpu_fibers = KILN_CPU_FIBERS;
KILN_CPU_EXPORT const uint32_t kiln_cpu_check = KILN_CPU_CHECK;

#if KILN_CPU_CHECK && !KILN_CPU_WATCH
// All bits set is NaN in every floating-point type: reading what no thread wrote then shows.
KILN_CPU_COLD void kiln_cpu_poison_shared(uint32_t dynamic_bytes) {
    for (uint64_t i = 0; i < kiln_cpu_variable_count; i++) {
        const kiln_cpu_memory* variable = &kiln_cpu_variables[i];
        if (variable->kind != KILN_CPU_SHARED) continue;
        __builtin_memset(variable->start, 0xff, variable->bytes);
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

#if KILN_CPU_WATCH
    // Reading the arguments is not the kernel's.
    __attribute__((flatten, noinline)) static void watched(Parameters... arguments) { kernel(arguments...); }

    template <uint32_t... i> KILN_CPU_UNSEEN static void thread(kiln_cpu_indices<i...>) {
        watched(argument<Parameters>(i)...);
    }
#else
    template <uint32_t... i>
    __attribute__((flatten)) static void thread(kiln_cpu_indices<i...>) {
        kernel(argument<Parameters>(i)...);
    }
#endif

    KILN_CPU_UNSEEN static void body(void) { thread(indices()); }

    KILN_CPU_UNSEEN static void blocks(void) {
        kiln_cpu_prepare(kiln_cpu_job, body);
        each_block([]() __attribute__((always_inline)) { kiln_cpu_run_block(kiln_cpu_job); });
    }

#else

#if KILN_CPU_CHECK
    // Each thread is a call of its own.
    __attribute__((flatten, noinline)) static void watched(Parameters... arguments) { kernel(arguments...); }

    KILN_CPU_UNSEEN static void threads(Parameters... arguments) {
        const uint32_t size_x = blockDim.x, size_y = blockDim.y, count = size_x * size_y * blockDim.z;
        const kiln_cpu_permutation order = kiln_cpu_permutation_of(count);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at = (uint32_t)kiln_cpu_permuted(&order, i);
            kiln_cpu_threadIdx.x = at % size_x;
            kiln_cpu_threadIdx.y = at / size_x % size_y;
            kiln_cpu_threadIdx.z = at / size_x / size_y;
#if KILN_CPU_WATCH
            kiln_cpu_watch.loop_thread = at;
#endif
            watched(arguments...);
        }
    }
#else
    // The arguments are copies of its own, so that no store of the kernel can change them.
    __attribute__((flatten, noinline)) static void threads(Parameters... arguments) {
        if (blockDim.x > KILN_CPU_MAX_THREADS || blockIdx.x * blockDim.x > KILN_CPU_INDEX_BOUND ||
            blockDim.y > KILN_CPU_MAX_THREADS || blockIdx.y * blockDim.y > KILN_CPU_INDEX_BOUND) {
            __builtin_unreachable();
        }
        const uint32_t size_x = blockDim.x, size_y = blockDim.y, size_z = blockDim.z;
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
    }
#endif

    template <uint32_t... i> KILN_CPU_UNSEEN static void block(kiln_cpu_indices<i...>) {
        threads(argument<Parameters>(i)...);
    }

    KILN_CPU_UNSEEN static void blocks(void) {
        each_block([]() __attribute__((always_inline)) { block(indices()); });
    }

#endif

    // Runs the job's blocks, x fastest or in the order that a check build was asked for, until one fails.
    template <class Block> KILN_MEMBER static void each_block(Block run) {
        kiln_cpu_gridDim.x = kiln_cpu_job->grid[0];
        kiln_cpu_gridDim.y = kiln_cpu_job->grid[1];
        kiln_cpu_gridDim.z = kiln_cpu_job->grid[2];
        kiln_cpu_blockDim.x = kiln_cpu_job->block[0];
        kiln_cpu_blockDim.y = kiln_cpu_job->block[1];
        kiln_cpu_blockDim.z = kiln_cpu_job->block[2];
#if KILN_CPU_CHECK
        kiln_cpu_set_order(kiln_cpu_job, kiln_cpu_job_first);
        for (uint64_t i = 0; i < kiln_cpu_job_count && !kiln_cpu_failed; i++) {
            go_to(kiln_cpu_permuted(&kiln_cpu_block_order, kiln_cpu_job_first + i));
#if KILN_CPU_WATCH
            kiln_cpu_watch_block();
#else
            kiln_cpu_poison_shared(kiln_cpu_job->dynamic_shared_bytes);
#endif
            run();
#if KILN_CPU_WATCH
            if (!kiln_cpu_failed) kiln_cpu_tell_at_end();
#endif
        }
#else
        go_to(kiln_cpu_job_first);
        for (uint64_t left = kiln_cpu_job_count; left > 0; left--) {
            run();
            if (kiln_cpu_failed) return;
            if (++kiln_cpu_blockIdx.x < kiln_cpu_gridDim.x) continue;
            kiln_cpu_blockIdx.x = 0;
            if (++kiln_cpu_blockIdx.y < kiln_cpu_gridDim.y) continue;
            kiln_cpu_blockIdx.y = 0;
            ++kiln_cpu_blockIdx.z;
        }
#endif
    }

    KILN_MEMBER static void go_to(uint64_t block) {
        uint64_t row = block / kiln_cpu_gridDim.x;
        kiln_cpu_blockIdx.x = (uint32_t)(block % kiln_cpu_gridDim.x);
        kiln_cpu_blockIdx.y = (uint32_t)(row % kiln_cpu_gridDim.y);
        kiln_cpu_blockIdx.z = (uint32_t)(row / kiln_cpu_gridDim.y);
    }

#if KILN_CPU_WATCH
    template <uint32_t... i> KILN_CPU_UNSEEN static void watch(const kiln_cpu_launch* launch, kiln_cpu_indices<i...>) {
        kiln_cpu_watch_starts(launch, kiln_cpu_job_first);
#ifdef KILN_CPU_EQUAL_STORES
        kiln_cpu_watch.equal_stores = true;
#else
        kiln_cpu_watch.equal_stores = false;
#endif
#ifdef KILN_CPU_UNWRITTEN_READS
        kiln_cpu_watch.unwritten_reads = true;
#else
        kiln_cpu_watch.unwritten_reads = false;
#endif
        (kiln_cpu_watch_value(launch->args[i], sizeof(Parameters)), ...);
        (point<Parameters>((int32_t)i, launch->args[i]), ...);
        kiln_cpu_watch_tracks();
    }

    template <class T> KILN_CPU_UNSEEN static void point(int32_t argument, const void* value) {
        typedef kiln_cpu_pointee<typename kiln_cpu_plain<T>::type> pointee;
        if (pointee::bytes) kiln_cpu_point(argument, *(const uintptr_t*)value, pointee::bytes, pointee::is_const);
    }
#endif

    KILN_CPU_UNSEEN static int run(const kiln_cpu_launch* launch, uint64_t first, uint64_t count) {
        kiln_cpu_job = launch;
        kiln_cpu_job_first = first;
        kiln_cpu_job_count = count;
        kiln_cpu_failed = false;
        kiln_cpu_message_length = kiln_cpu_remarks = 0;
        kiln_cpu_message[0] = 0;
#ifdef KILN_CPU_ASAN
        kiln_cpu_mark_memory(launch, launch->block[0] * launch->block[1] * launch->block[2]);
#endif
#if KILN_CPU_WATCH
        watch(launch, indices());
#if !KILN_CPU_FIBERS
        kiln_cpu_watch.stack_bytes = KILN_CPU_HOST_STACK;
        kiln_cpu_watch.stack_low = (uintptr_t)__builtin_frame_address(0) - KILN_CPU_HOST_STACK;
#endif
#endif
#if KILN_CPU_FIBERS
        blocks();
#else
        kiln_cpu_job_body = blocks;
        KILN_CPU_SUSPEND(kiln_cpu_run_here);
#endif
#if defined(__x86_64__)
        // Streaming stores are not ordered before what tells other threads that these blocks are done.
        __builtin_ia32_sfence();
#endif
#if KILN_CPU_WATCH
        launch->history->interval = kiln_cpu_watch.interval;
#endif
        return kiln_cpu_failed;
    }
};

KILN_CPU_UNSEEN static void kiln_cpu_fill_nothing(const void* const*) {}

// Copies the data for a __constant__ variable, before any block runs. In check builds, memcpy is a function that watches
// the accesses of the running thread, and no thread runs yet.
KILN_CPU_UNSEEN static inline void kiln_cpu_fill(void* to, const void* from, size_t bytes) {
#if KILN_CPU_WATCH
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t*)to)[i] = ((const uint8_t*)from)[i];
        __asm__ volatile("" ::: "memory");
    }
#else
    __builtin_memcpy(to, from, bytes);
#endif
}

// Exports a kernel to the executor as kiln_cpu_run_<name>, and how many arguments it takes. Its own names
// must not hide the kernel's.
#define KILN_CPU_ENTRY(name, ...) KILN_CPU_ENTRY_FILLED(name, kiln_cpu_fill_nothing, __VA_ARGS__)

// The same for a kernel with __constant__ variables that arguments fill: by `fill`, before any block runs.
#define KILN_CPU_ENTRY_FILLED(name, fill, ...)                                                         \
    KILN_CPU_EXPORT const uint32_t kiln_cpu_parameters_##name =                                        \
        kiln_cpu_entry<&__VA_ARGS__, decltype(&__VA_ARGS__)>::parameters;                              \
    KILN_CPU_EXPORT KILN_CPU_UNSEEN int kiln_cpu_run_##name(const kiln_cpu_launch* kiln_cpu_asked,                     \
                                            uint64_t kiln_cpu_first, uint64_t kiln_cpu_count) {        \
        typedef kiln_cpu_entry<&__VA_ARGS__, decltype(&__VA_ARGS__)> kiln_cpu_this;                    \
        fill(kiln_cpu_asked->args);                                                                    \
        return kiln_cpu_this::run(kiln_cpu_asked, kiln_cpu_first, kiln_cpu_count);                     \
    }

#endif
