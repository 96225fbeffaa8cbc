// CUDA semantics on the host processor, for g++ 12 and clang 19 or later.
//
// The generator puts this file first, then the tuning defines, then the kernel's source, then one
// KILN_CPU_ENTRY for each entry. Before including it, define
//   KILN_CPU_FIBERS  0: LOOP mode, a vectorisable loop over the threads of a block; a barrier is a fault.
//                    1: FIBER mode, every thread a coroutine; barriers and warp operations work.
//   KILN_CPU_CHECK   1: divergent barriers are faults that name their place, the order of threads can be
//                       reversed, and shared memory starts every block as NaN. Default 0.
//
// One thread of the operating system uses one loaded copy of the object, so that builtins and
// __shared__ are plain statics: thread-local ones would be slower and keep loops from vectorising.
// No standard header is included: that alone would cost more than compiling most kernels.
#ifndef KILN_CPU_H
#define KILN_CPU_H

#define KILN_CPU 1

#ifndef KILN_CPU_FIBERS
#error "KILN_CPU_FIBERS must be defined as 0 or 1 before kiln_cpu.h"
#endif
#ifndef KILN_CPU_CHECK
#define KILN_CPU_CHECK 0
#endif

#include "cpu/base.h"
#include "portable/vector.h"
#include "portable/integer.h"
#include "cpu/math.h"
#include "portable/conversion.h"
#include "portable/half.h"
#include "portable/bfloat16.h"
#include "cpu/fault.h"
#include "cpu/context.h"
#if KILN_CPU_FIBERS
#include "cpu/scheduler.h"
#include "cpu/group.h"
#include "cpu/coroutine.h"
#endif
#include "cpu/warp.h"
#include "cpu/atomic.h"
#include "cpu/entry.h"
#include "cpu/receipt.h"

#endif
