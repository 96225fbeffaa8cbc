// HIP's name of CUDA's bfloat16.
#pragma once
#include "shim/hip/runtime.h"
#include <cuda_bf16.h>
typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
