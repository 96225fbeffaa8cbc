// CUDA semantics on the host processor, for g++ 12 and clang 19 or later.
//
// The generator puts this file first, then the tuning defines, then the kernel's source, then one
// KILN_CPU_ENTRY for each entry. Before including it, define
//   KILN_CPU_FIBERS  0: LOOP mode, a vectorisable loop over the threads of a block; a barrier is a fault.
//                    1: FIBER mode, every thread a coroutine; barriers and warp operations work.
//   KILN_CPU_CHECK   1: divergent barriers are faults that name their place, blocks, warps and threads run in
//                       the order that the launch asks for, and with -fsanitize=thread every access is looked at (cpu/watch_state.h).
//                       Default 0.
//   KILN_CPU_PART   0: one unit has everything (default). A check build, or a build with fibres, may instead consist of two
//                   units that are linked. 1: the kernel's unit. 2: what does not depend on the kernel, compiled once.
//
// One thread of the operating system uses one loaded copy of the object, so that builtins and
// __shared__ are plain statics: thread-local ones would be slower and keep loops from vectorising.
// No standard header is included: that alone would cost more than compiling most kernels.
#ifndef KILN_CPU_H
#define KILN_CPU_H

#define KILN_CPU 1

#ifndef NULL
#define NULL __null
#endif

#ifndef KILN_CPU_FIBERS
#error "KILN_CPU_FIBERS must be defined as 0 or 1 before kiln_cpu.h"
#endif
#ifndef KILN_CPU_CHECK
#define KILN_CPU_CHECK 0
#endif
#ifndef KILN_CPU_PART
#define KILN_CPU_PART 0
#endif

#include "cpu/base.h"
#include "portable/vector.h"
#include "portable/bits.h"
#include "portable/integer.h"
#include "cpu/math.h"
#include "portable/more_math.h"
#include "portable/conversion.h"
#include "portable/half.h"
#include "portable/bfloat16.h"
#include "cpu/fault.h"
#include "cpu/context.h"
#include "cpu/schedule.h"
#if KILN_CPU_WATCH
#include "cpu/watch_state.h"
#include "cpu/watch.h"
#endif
#if KILN_CPU_FIBERS
#include "cpu/scheduler.h"
#endif
#if KILN_CPU_WATCH && KILN_CPU_HAS_COMMON
#include "cpu/watch_tell.h"
#include "cpu/watch_order.h"
#include "cpu/watch_equal.h"
#include "cpu/watch_access.h"
#include "cpu/watch_atomic.h"
#include "cpu/watch_copy.h"
#include "cpu/watch_launch.h"
#endif
#if KILN_CPU_FIBERS && KILN_CPU_HAS_COMMON
#include "cpu/group.h"
#include "cpu/coroutine.h"
#endif
#if KILN_CPU_HAS_KERNEL
#include "cpu/warp.h"
#include "cpu/atomic.h"
#include "cpu/entry.h"
#include "cpu/receipt.h"
#include "shim/nvidia_alone.h"
#endif

#endif
