// Qualifiers, fixed-width integers, and what CUDA's compilers have built in.
#ifndef KILN_HIP_BASE_H
#define KILN_HIP_BASE_H

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

// What hipcc defines, so that sources for both vendors take AMD's branch.
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __grid_constant__
#define __maxnreg__(...)
#define __managed__ __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict

#define KILN_INLINE static __device__ inline __attribute__((always_inline))
#define KILN_MEMBER __device__ inline __attribute__((always_inline))

// clang's own launch_bounds attribute changes nothing for AMD: the flat work group size does. CUDA's second
// number is blocks of a multiprocessor; AMD's is waves of a SIMD. A workgroup processor, which is what HIP
// counts as a multiprocessor, has four SIMDs, and a SIMD holds sixteen waves at most.
#define KILN_HIP_WAVES(threads, blocks)                                                                \
    ((((threads) + 31) / 32 * (blocks) + 3) / 4 > 16 ? 16 : (((threads) + 31) / 32 * (blocks) + 3) / 4)
static_assert(KILN_HIP_WAVES(256, 2) == 4 && KILN_HIP_WAVES(32, 1) == 1 && KILN_HIP_WAVES(1024, 4) == 16,
              "waves of a SIMD are a quarter of a workgroup processor's");
#define KILN_HIP_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, (threads))))
#define KILN_HIP_BOUNDS_2(threads, blocks)                                                             \
    __attribute__((amdgpu_flat_work_group_size(1, (threads)),                                          \
                   amdgpu_waves_per_eu(KILN_HIP_WAVES(threads, blocks))))
#define KILN_HIP_BOUNDS_3(threads, blocks, cluster) KILN_HIP_BOUNDS_2(threads, blocks)
#define KILN_HIP_FOURTH(a, b, c, name, ...) name
#define __launch_bounds__(...)                                                                         \
    KILN_HIP_FOURTH(__VA_ARGS__, KILN_HIP_BOUNDS_3, KILN_HIP_BOUNDS_2, KILN_HIP_BOUNDS_1, )(__VA_ARGS__)

struct uint3 { unsigned int x, y, z; };

struct dim3 {
    unsigned int x, y, z;
    KILN_MEMBER constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    KILN_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    KILN_MEMBER constexpr operator uint3() const { return uint3{x, y, z}; }
};

// Printing needs a service of ROCm's runtime that this prelude does without.
__device__ int printf(const char*, ...)
    __attribute__((unavailable("printf is not there in kernels for AMD: write to a buffer instead")));

KILN_INLINE void __trap(void) { __builtin_trap(); }

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __trap())
#endif

#endif
