// Qualifiers, builtin variables and the records shared with the executor.
#ifndef KILN_CPU_BASE_H
#define KILN_CPU_BASE_H

typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long clock_t;

#define KILN_CPU_TEXT_OF(x) #x
#define KILN_CPU_TEXT(x) KILN_CPU_TEXT_OF(x)
#define KILN_CPU_EXPORT extern "C" __attribute__((visibility("default"), used))
#define KILN_INLINE static inline __attribute__((always_inline))
// A variable that code changes which the compiler sees no call to, since inline assembly calls it. Were it
// static and its address never taken, clang would conclude that nobody does.
#if KILN_CPU_PART == 2
#define KILN_CPU_STATE extern __attribute__((visibility("hidden")))
#else
#define KILN_CPU_STATE __attribute__((visibility("hidden")))
#endif
#define KILN_MEMBER inline __attribute__((always_inline))
// Begins an overload of a C function for another type, which it also returns. A template, since the C++
// library has functions of these names and types and takes ours into its namespace.
#define KILN_CPU_OVERLOAD(type) template <class T> requires __is_same(T, type) KILN_INLINE T
#define KILN_CPU_COLD static __attribute__((noinline, cold, unused)) KILN_CPU_UNSEEN

// A check build watches the kernel's loads and stores, which the compiler reports (-fsanitize=thread). Functions
// of the prelude that run beside the kernel are not watched.
#if defined(__SANITIZE_THREAD__)
#define KILN_CPU_WATCH 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KILN_CPU_WATCH 1
#endif
#endif
#ifndef KILN_CPU_WATCH
#define KILN_CPU_WATCH 0
#define KILN_CPU_UNSEEN
#elif defined(__clang__)
#define KILN_CPU_UNSEEN __attribute__((disable_sanitizer_instrumentation))
#else
#define KILN_CPU_UNSEEN __attribute__((no_sanitize("thread")))
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KILN_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_CPU_ASAN 1
#endif
#endif

#define KILN_CPU_HAS_KERNEL (KILN_CPU_PART != 2)
#define KILN_CPU_HAS_COMMON (KILN_CPU_PART != 1)
#if KILN_CPU_PART && !KILN_CPU_WATCH && !KILN_CPU_FIBERS
#error "a release build without fibres has no parts"
#endif
// A function that the kernel's part calls and the common part defines.
#if KILN_CPU_PART
#define KILN_CPU_COMMON extern "C" __attribute__((noinline, visibility("hidden"))) KILN_CPU_UNSEEN
#elif KILN_CPU_WATCH
#define KILN_CPU_COMMON static __attribute__((noinline, unused)) KILN_CPU_UNSEEN
#else
#define KILN_CPU_COMMON static
#endif

// A kernel is inlined into the loop over its threads, where alone it can vectorise. The address sanitizer of
// g++ does not protect the static variables of inline functions: there it is a plain function.
#ifdef KILN_CPU_ASAN
#define __global__
#else
#define __global__ inline __attribute__((always_inline))
#endif
#if !defined(__clang__)
#define __builtin_assume(...) ((__VA_ARGS__) ? (void)0 : __builtin_unreachable())
#endif
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __managed__ __device__
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// The check build keeps shared variables far apart, so that an overrun of one does not end in another.
#if KILN_CPU_WATCH
#define KILN_CPU_SHARED_ALIGN 65536
#else
#define KILN_CPU_SHARED_ALIGN 64
#endif
#define __shared__ static __attribute__((aligned(KILN_CPU_SHARED_ALIGN)))
// The executor knows a variable of a function by its name, and a shared variable outside a function by its section.
#define KILN_CPU_AT_FILE_SCOPE __attribute__((section(".kiln_shared")))
// A section of its own tells the executor that such a variable is never written, other than a
// __device__ variable, which would differ between the copies of the object. The counter keeps const
// and plain ones apart, which may not share a section.
#define __constant__ __attribute__((section(".kiln_constant." KILN_CPU_TEXT(__COUNTER__))))

// Most threads of a block: the scheduler's two levels of masks, 64 words of 32 threads.
#define KILN_CPU_MAX_THREADS 2048
// Most dynamic shared memory of a block, in bytes; untouched pages cost nothing.
#define KILN_CPU_DYNAMIC_BYTES 262144
// The executor refuses launches in which blockIdx * blockDim exceeds this on x or y. It lets the
// compiler see that index arithmetic with up to 16 elements a thread does not wrap around in 32 bits;
// without, g++ uses gathers where contiguous loads would do (5 times slower).
#define KILN_CPU_INDEX_BOUND 0x07ffffffu

struct uint3 { unsigned int x, y, z; };

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

// In LOOP mode their addresses must never be taken, or g++ falls back to gathers. A constructor takes it, so
// they are not a dim3 (which converts both ways); so does assigning a whole struct: assign the fields.
#if KILN_CPU_FIBERS
#define KILN_CPU_BUILTIN KILN_CPU_STATE
#else
#define KILN_CPU_BUILTIN static
#endif
#if KILN_CPU_WATCH
// Constants to the kernel, as they are while a thread runs: then the compiler does not report their loads. Every
// thread is a call of its own (kiln_cpu_entry::watched).
#define KILN_CPU_BUILTINS(name)                                                                        \
    extern "C" {                                                                                       \
    KILN_CPU_STATE uint3 kiln_cpu_##name;                                                              \
    extern __attribute__((visibility("hidden"))) const uint3 name __asm__("kiln_cpu_" #name);          \
    }
KILN_CPU_BUILTINS(threadIdx)
KILN_CPU_BUILTINS(blockIdx)
KILN_CPU_BUILTINS(blockDim)
KILN_CPU_BUILTINS(gridDim)
#else
KILN_CPU_BUILTIN uint3 threadIdx;
KILN_CPU_BUILTIN uint3 blockIdx;
KILN_CPU_BUILTIN uint3 blockDim;
KILN_CPU_BUILTIN uint3 gridDim;
#define kiln_cpu_threadIdx threadIdx
#define kiln_cpu_blockIdx blockIdx
#define kiln_cpu_blockDim blockDim
#define kiln_cpu_gridDim gridDim
#endif
static constexpr int warpSize = 32;

// What memory is for. The executor knows these numbers.
enum kiln_cpu_memory_kind : uint32_t {
    KILN_CPU_ARGUMENT,        // what an argument points to
    KILN_CPU_SHARED,          // a __shared__ variable
    KILN_CPU_VARIABLE,        // a __device__ variable
    KILN_CPU_CONSTANT,        // only to be read
    KILN_CPU_OWN,             // the prelude's
    KILN_CPU_DYNAMIC_SHARED,
    KILN_CPU_OUTPUT,          // what an argument points to, without content when a launch begins
};

// Memory that a kernel may use, as the executor describes it to check builds.
struct kiln_cpu_memory {
    const char* name;  // null if there is none
    uint8_t* start;
    uint64_t bytes;
    uint32_t element_bytes;  // 0 if it is not known
    uint32_t kind;
    const uint8_t* initial;  // of a __device__ variable, what it held when the object was loaded; null for zeros
};

// What check builds remember of accesses, over all launches.
struct kiln_cpu_history {
    uint8_t* cells;     // zeroed when new
    uint64_t count;     // of cells
    uint64_t interval;  // the last one
};

// One launch, as the executor describes it.
struct kiln_cpu_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t flags;
    void** args;  // a pointer to each argument's value, as cuLaunchKernel takes them
    // FIBER mode only: stack i is the memory [stacks + i * stack_stride, + stack_bytes).
    uint8_t* stacks;
    uint64_t stack_stride;
    uint64_t stack_bytes;
    uint64_t seed;  // of KILN_CPU_SEEDED
    // Check builds only.
    const kiln_cpu_memory* memory;
    uint64_t memory_count;
    kiln_cpu_history* history;
};

// Flags of a launch, for check builds.
#define KILN_CPU_REVERSE 1u  // blocks, warps and threads run from the last to the first
#define KILN_CPU_SEEDED 2u   // they run in a random order

KILN_CPU_STATE const kiln_cpu_launch* kiln_cpu_job;  // the running one

#if KILN_CPU_CHECK
// The object's variables in the order of their addresses: the executor fills this in from the symbol table.
extern "C" {
extern __attribute__((visibility("default"))) const kiln_cpu_memory* kiln_cpu_variables;
extern __attribute__((visibility("default"))) uint64_t kiln_cpu_variable_count;
#if KILN_CPU_HAS_KERNEL
const kiln_cpu_memory* kiln_cpu_variables;
uint64_t kiln_cpu_variable_count;
#endif
}
#endif

#if KILN_CPU_WATCH
KILN_CPU_STATE __attribute__((aligned(KILN_CPU_SHARED_ALIGN))) uint8_t kiln_cpu_dynamic[KILN_CPU_DYNAMIC_BYTES];
#else
static __attribute__((aligned(128))) uint8_t kiln_cpu_dynamic[KILN_CPU_DYNAMIC_BYTES];
#endif

// The block's dynamic shared memory: what `extern __shared__` arrays are rewritten to.
KILN_INLINE void* kiln_cpu_dynamic_shared(void) { return kiln_cpu_dynamic; }

// The number of the running thread in its block.
KILN_INLINE uint32_t kiln_cpu_linear_thread(void) {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

extern "C" int printf(const char*, ...);

#endif
