// The portable device API: the same kernel source on CUDA, on AMD GPUs and on the cpu device.
//
// Include it as "kiln.cuh" or <kiln.cuh>; everything is in namespace kiln. docs/device-prelude.md describes
// each function, what it becomes on each target, and where the layouts come from. C++17.
#ifndef KILN_CUH
#define KILN_CUH

#if !defined(KILN_CPU) && !defined(KILN_CUDA) && !defined(KILN_HIP)
#error "kiln.cuh is for kernels that Kiln compiles: their prelude comes first"
#endif

#include "device/number.h"
#include "device/vector.h"
#include "device/shared.h"
#include "device/warp.h"
#include "device/staged_copy.h"
#include "device/block.h"
#include "device/atomic.h"
#include "device/tile.h"

#endif
