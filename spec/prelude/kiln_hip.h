// CUDA's language for AMD GPUs, for clang 19 or later alone: no ROCm header, no device library.
//
// The generator puts this file first, then the tuning defines, then the kernel's source. Kernels run with
// wavefronts of 32 lanes (gfx10 and later); code object version 5 or later, whose implicit arguments hold
// the grid. Build with
//   clang -x hip --cuda-device-only -nogpulib -nogpuinc -fdeclspec --no-gpu-bundle-output
//         -mcode-object-version=5 --offload-arch=<gfx>
#ifndef KILN_HIP_H
#define KILN_HIP_H

#define KILN_HIP 1

#ifndef NULL
#define NULL __null
#endif

#if !defined(__AMDGCN__)
#error "kiln_hip.h is for clang's HIP compilation of AMD device code"
#endif

// Newer clangs no longer define the size.
#if defined(__GFX9__) || (defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE != 32)
#error "kernels run with wavefronts of 32 lanes, which this architecture has not"
#endif

#include "hip/base.h"
#include "portable/vector.h"
#include "hip/builtins.h"
#include "portable/bits.h"
#include "portable/integer.h"
#include "hip/math.h"
#include "portable/more_math.h"
#include "portable/conversion.h"
#include "portable/half.h"
#include "portable/bfloat16.h"
#include "hip/barrier.h"
#include "hip/warp.h"
#include "hip/atomic.h"
#include "hip/receipt.h"
#include "shim/nvidia_alone.h"

#endif
