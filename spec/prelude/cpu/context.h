// Switching between stacks, by inline assembly.
//
// KILN_CPU_SUSPEND(callee) saves the running context as two words on its own stack, calls
// `void* callee(void* here)` with their address, and jumps to the context that the callee returns, which
// may be the same one. Done inline with every register declared clobbered, the compiler saves only what is
// live. The jump is indirect and the call balanced, so that the processor's return predictor stays right
// (3 to 6 ns a switch; a switching function that returns elsewhere takes 12 to 18).
// KILN_CPU_LEAVE(callee) does the same without saving: the context never goes on.
//
// The clobber list must name every register that a compiler can keep a value in, or a thread resumes with
// another thread's value. runtime/tests/stack_switch checks the list against the machine code. Registers
// that are not switched: the stack and frame pointers and the base pointer (saved by hand), and the
// floating-point control registers (MXCSR, the x87 control word, FPCR), which no CUDA function changes, so
// that all threads share one value.
#ifndef KILN_CPU_CONTEXT_H
#define KILN_CPU_CONTEXT_H

// The frame: what KILN_CPU_SUSPEND leaves on the stack, and what starts a new thread.
struct kiln_cpu_frame {
    void* frame_pointer;
    void* resume;
};

#define KILN_CPU_CALLEE extern "C" __attribute__((used, noinline, visibility("hidden"))) KILN_CPU_UNSEEN

#if defined(__x86_64__)

#if defined(__AVX512F__)
#define KILN_CPU_WIDE_CLOBBERS                                                                         \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",        \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5",      \
        "k6", "k7"
#else
#define KILN_CPU_WIDE_CLOBBERS
#endif
// Sixteen more general registers (Intel APX).
#if defined(__EGPR__) || defined(__APX_F__)
#define KILN_CPU_APX_CLOBBERS                                                                          \
    , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28",       \
        "r29", "r30", "r31"
#else
#define KILN_CPU_APX_CLOBBERS
#endif
// long double lives in x87 registers.
#define KILN_CPU_X87_CLOBBERS                                                                          \
    , "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
// rbp may be the frame pointer and, under the sanitizers, rbx the base pointer: neither can be declared
// clobbered, so both are saved by hand.
#define KILN_CPU_CLOBBERS                                                                              \
    "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",   \
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",      \
        "xmm12", "xmm13", "xmm14", "xmm15" KILN_CPU_WIDE_CLOBBERS KILN_CPU_APX_CLOBBERS                \
            KILN_CPU_X87_CLOBBERS,                                                                     \
        "cc", "memory"

// The 128 bytes below the stack pointer may be in use (red zone).
#define KILN_CPU_SUSPEND(callee)                                                                       \
    __asm__ volatile(                                                                                  \
        "leaq -128(%%rsp), %%rsp\n\t"                                                                  \
        "pushq %%rbx\n\t"                                                                              \
        "leaq 1f(%%rip), %%rax\n\t"                                                                    \
        "pushq %%rax\n\t"                                                                              \
        "pushq %%rbp\n\t"                                                                              \
        "movq %%rsp, %%rdi\n\t"                                                                        \
        "andq $-16, %%rsp\n\t"                                                                         \
        "call " #callee "\n\t"                                                                         \
        "movq %%rax, %%rsp\n\t"                                                                        \
        "popq %%rbp\n\t"                                                                               \
        "popq %%rcx\n\t"                                                                               \
        "jmpq *%%rcx\n"                                                                                \
        "1:\n\t"                                                                                       \
        "popq %%rbx\n\t"                                                                               \
        "leaq 128(%%rsp), %%rsp"                                                                       \
        :                                                                                              \
        :                                                                                              \
        : KILN_CPU_CLOBBERS)

#define KILN_CPU_LEAVE(callee)                                                                         \
    __asm__ volatile(                                                                                  \
        "leaq -128(%%rsp), %%rsp\n\t"                                                                  \
        "andq $-16, %%rsp\n\t"                                                                         \
        "call " #callee "\n\t"                                                                         \
        "movq %%rax, %%rsp\n\t"                                                                        \
        "popq %%rbp\n\t"                                                                               \
        "popq %%rcx\n\t"                                                                               \
        "jmpq *%%rcx"                                                                                  \
        :                                                                                              \
        :                                                                                              \
        : KILN_CPU_CLOBBERS)

// Where a new thread starts, with its frame popped. The gap keeps the frame intact for the next block.
#define KILN_CPU_START(name, callee)                                                                   \
    __asm__(                                                                                           \
        ".text\n\t.p2align 4\n\t.hidden " #name "\n\t.type " #name ", @function\n" #name ":\n\t"       \
        "leaq -32(%rsp), %rsp\n\t"                                                                     \
        "call " #callee "\n\t"                                                                         \
        "ud2\n\t.size " #name ", .-" #name)

#elif defined(__aarch64__)

// The same plan. It has run under emulation only (QEMU; g++ and clang, -O0 to -O3): no machine was at hand.
#if defined(__ARM_FEATURE_SVE)
// clang has no name for the first-fault register, and never keeps a value in it.
#if defined(__clang__)
#define KILN_CPU_FFR
#else
#define KILN_CPU_FFR , "ffr"
#endif
#define KILN_CPU_SVE_CLOBBERS                                                                          \
    , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14",   \
        "p15" KILN_CPU_FFR
#else
#define KILN_CPU_SVE_CLOBBERS
#endif
#define KILN_CPU_CLOBBERS                                                                              \
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",     \
        "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",\
        "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",     \
        "v28", "v29", "v30", "v31" KILN_CPU_SVE_CLOBBERS, "cc", "memory"

// x19 may be the base pointer and x29 the frame pointer: both are saved by hand. Targets of `br` begin with
// `bti j` (hint #36, a no-op on older processors), which distributions' compilers require by default.
#define KILN_CPU_SUSPEND(callee)                                                                       \
    __asm__ volatile(                                                                                  \
        "str x19, [sp, #-16]!\n\t"                                                                     \
        "adr x9, 1f\n\t"                                                                               \
        "stp x29, x9, [sp, #-16]!\n\t"                                                                 \
        "mov x0, sp\n\t"                                                                               \
        "bl " #callee "\n\t"                                                                           \
        "mov sp, x0\n\t"                                                                               \
        "ldp x29, x9, [sp], #16\n\t"                                                                   \
        "br x9\n"                                                                                      \
        "1:\n\t"                                                                                       \
        "hint #36\n\t"                                                                                 \
        "ldr x19, [sp], #16"                                                                           \
        :                                                                                              \
        :                                                                                              \
        : KILN_CPU_CLOBBERS)

#define KILN_CPU_LEAVE(callee)                                                                         \
    __asm__ volatile(                                                                                  \
        "bl " #callee "\n\t"                                                                           \
        "mov sp, x0\n\t"                                                                               \
        "ldp x29, x9, [sp], #16\n\t"                                                                   \
        "br x9"                                                                                        \
        :                                                                                              \
        :                                                                                              \
        : KILN_CPU_CLOBBERS)

#define KILN_CPU_START(name, callee)                                                                   \
    __asm__(                                                                                           \
        ".text\n\t.p2align 4\n\t.hidden " #name "\n\t.type " #name ", %function\n" #name ":\n\t"       \
        "hint #36\n\t"                                                                                 \
        "sub sp, sp, #32\n\t"                                                                          \
        "bl " #callee "\n\t"                                                                           \
        "brk #1\n\t.size " #name ", .-" #name)

#else
#error "kiln_cpu.h switches stacks on x86-64 and aarch64 only"
#endif

// The context of the executor's call, to which a finished block and a fault return.
KILN_CPU_STATE void* kiln_cpu_home;

// Leaves the running thread, and with it the launch, after a fault.
#if KILN_CPU_HAS_COMMON
KILN_CPU_CALLEE void* kiln_cpu_go_home(void) { return kiln_cpu_home; }
#endif

// Not declared noreturn: the sanitizers would take the switch for the end of the whole stack.
KILN_CPU_COLD void kiln_cpu_fail(const char* what) {
    kiln_cpu_fault_begins(threadIdx);
    kiln_cpu_say(what);
    KILN_CPU_LEAVE(kiln_cpu_go_home);
}

KILN_INLINE void __trap(void) { kiln_cpu_fail("__trap()"); }

#endif
