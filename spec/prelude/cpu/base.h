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

#define KILN_CPU_TEXT_OF(x) #x
#define KILN_CPU_TEXT(x) KILN_CPU_TEXT_OF(x)
#define KILN_CPU_EXPORT extern "C" __attribute__((visibility("default"), used))
#define KILN_INLINE static inline __attribute__((always_inline))
// A variable that code changes which the compiler sees no call to, since inline assembly calls it. Were it
// static and its address never taken, clang would conclude that nobody does.
#define KILN_CPU_STATE __attribute__((visibility("hidden")))
#define KILN_MEMBER inline __attribute__((always_inline))
// Begins an overload of a C function for another type, which it also returns. A template, since the C++
// library has functions of these names and types and takes ours into its namespace.
#define KILN_CPU_OVERLOAD(type) template <class T> requires __is_same(T, type) KILN_INLINE T
#define KILN_CPU_COLD static __attribute__((noinline, cold, unused))

#if defined(__SANITIZE_ADDRESS__)
#define KILN_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_CPU_ASAN 1
#endif
#endif

// A kernel is inlined into the loop over its threads, where alone it can vectorise. The address sanitizer of
// g++ does not protect the static variables of inline functions: there it is a plain function.
#ifdef KILN_CPU_ASAN
#define __global__
#else
#define __global__ inline __attribute__((always_inline))
#endif
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((aligned(64)))
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
// they are no dim3 (which converts both ways); so does assigning a whole struct: assign the fields.
#if KILN_CPU_FIBERS
#define KILN_CPU_BUILTIN KILN_CPU_STATE
#else
#define KILN_CPU_BUILTIN static
#endif
KILN_CPU_BUILTIN uint3 threadIdx;
KILN_CPU_BUILTIN uint3 blockIdx;
KILN_CPU_BUILTIN uint3 blockDim;
KILN_CPU_BUILTIN uint3 gridDim;
static constexpr int warpSize = 32;

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
};

// Flags of a launch.
#define KILN_CPU_REVERSE 1u  // threads run from the last to the first (check builds)

static __attribute__((aligned(128))) uint8_t kiln_cpu_dynamic[KILN_CPU_DYNAMIC_BYTES];

// The block's dynamic shared memory: what `extern __shared__` arrays are rewritten to.
KILN_INLINE void* kiln_cpu_dynamic_shared(void) { return kiln_cpu_dynamic; }

// The number of the running thread in its block.
KILN_INLINE uint32_t kiln_cpu_linear_thread(void) {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

extern "C" int printf(const char*, ...);

#endif
