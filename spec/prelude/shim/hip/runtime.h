// The names that HIP has and CUDA lacks, for kernels that include <hip/hip_runtime.h>. Follows AMD's "HIP C++ language
// extensions". All else is what CUDA kernels use too.
#ifndef KILN_SHIM_HIP_RUNTIME_H
#define KILN_SHIM_HIP_RUNTIME_H

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

// Warp operations without a mask. On the cpu device, all lanes of the warp must take part.
#if KILN_CUDA
#define KILN_HIP_LANES __activemask()
#else
#define KILN_HIP_LANES 0xffffffffu
#endif
#define __shfl(...) __shfl_sync(KILN_HIP_LANES, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(KILN_HIP_LANES, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(KILN_HIP_LANES, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(KILN_HIP_LANES, __VA_ARGS__)
#include "shim/hip/vector.h"
#include "shim/hip/votes.h"
#define __lane_id()                                                                                    \
    ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % (unsigned int)warpSize)

#endif
