// HIP's cooperative groups are those of CUDA.
#pragma once
#include "shim/hip/runtime.h"
#undef __ballot
#undef __any
#undef __all
#include <cooperative_groups.h>
#include "shim/hip/votes.h"
