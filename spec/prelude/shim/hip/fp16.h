// HIP's half is that of CUDA.
#pragma once
#include "shim/hip/runtime.h"
#include <cuda_fp16.h>
