// What CUDA C++ as NVRTC compiles it lacks of the language that Kiln's kernels are written in: fixed-width
// integers, constants, the short names of types, and the receipt.
//
// The generator puts this file first, then the tuning defines, then the kernel's source. Headers that sources
// include by habit (cuda_runtime.h, math.h, stdint.h, assert.h, ..) are there too and empty: NVRTC has their
// contents built in, or this file has them. Half-precision types cost more to compile than most kernels, so
// the generator includes cuda_fp16.h and cuda_bf16.h only for units that mention them.
#ifndef KILN_CUDA_H
#define KILN_CUDA_H

#define KILN_CUDA 1

#if !defined(__CUDACC_RTC__)
#error "kiln_cuda.h is for NVRTC"
#endif

// NVCC's headers define these; NVRTC defines only the version of the compiler.
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#define CUDART_VERSION CUDA_VERSION

// The types that NVIDIA's own headers give these names under NVRTC: a unit may include both.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
static_assert(sizeof(uint64_t) == 8 && sizeof(uintptr_t) == sizeof(void*), "64 bits");
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// The other spelling of inline assembly, which nvcc accepts and NVRTC does not.
#define __asm__ asm
#define __volatile__ volatile

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#include "portable/constants.h"

#define KILN_INLINE static __device__ __forceinline__
#define KILN_MEMBER __device__ __forceinline__

#include "cuda/receipt.h"

#endif
