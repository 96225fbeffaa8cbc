// The check build's atomics, where a compiler makes calls of a source's own __atomic functions. Only one thread of
// the system runs a check build, so that they are plain loads and stores.
#ifndef KILN_CPU_WATCH_ATOMIC_H
#define KILN_CPU_WATCH_ATOMIC_H

#define KILN_CPU_ALL_OF_IT (KILN_CPU_READS | KILN_CPU_WRITES)
#define KILN_CPU_ATOMIC_CHANGE(bits, name, expression)                                                 \
    KILN_CPU_HOOK uint##bits##_t __tsan_atomic##bits##_##name(volatile void* at, uint##bits##_t value, int) { \
        kiln_cpu_see_atomic(at, bits / 8, KILN_CPU_ALL_OF_IT, KILN_CPU_HERE);                          \
        volatile uint##bits##_t* target = (volatile uint##bits##_t*)at;                                \
        uint##bits##_t old = *target;                                                                  \
        *target = (uint##bits##_t)(expression);                                                        \
        return old;                                                                                    \
    }
#define KILN_CPU_ATOMIC_EXCHANGE(bits, name)                                                           \
    KILN_CPU_HOOK bool __tsan_atomic##bits##_##name(volatile void* at, void* expected, uint##bits##_t value, \
                                                    int, int) {                                        \
        kiln_cpu_see_atomic(at, bits / 8, KILN_CPU_ALL_OF_IT, KILN_CPU_HERE);                          \
        volatile uint##bits##_t* target = (volatile uint##bits##_t*)at;                                \
        uint##bits##_t old = *target;                                                                  \
        bool same = old == *(uint##bits##_t*)expected;                                                 \
        if (same) *target = value;                                                                     \
        else *(uint##bits##_t*)expected = old;                                                         \
        kiln_cpu_compared(at, bits / 8);                                                               \
        return same;                                                                                   \
    }
#define KILN_CPU_ATOMIC_HOOKS(bits)                                                                    \
    KILN_CPU_HOOK uint##bits##_t __tsan_atomic##bits##_load(const volatile void* at, int) {            \
        kiln_cpu_see_atomic(at, bits / 8, KILN_CPU_READS, KILN_CPU_HERE);                              \
        return *(const volatile uint##bits##_t*)at;                                                    \
    }                                                                                                  \
    KILN_CPU_HOOK void __tsan_atomic##bits##_store(volatile void* at, uint##bits##_t value, int) {     \
        kiln_cpu_see_atomic(at, bits / 8, KILN_CPU_WRITES, KILN_CPU_HERE);                             \
        *(volatile uint##bits##_t*)at = value;                                                         \
    }                                                                                                  \
    KILN_CPU_ATOMIC_CHANGE(bits, exchange, (void(old), value))                                         \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_add, old + value)                                               \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_sub, old - value)                                               \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_and, old & value)                                               \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_or, old | value)                                                \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_xor, old ^ value)                                               \
    KILN_CPU_ATOMIC_CHANGE(bits, fetch_nand, ~(old & value))                                           \
    KILN_CPU_ATOMIC_EXCHANGE(bits, compare_exchange_strong)                                            \
    KILN_CPU_ATOMIC_EXCHANGE(bits, compare_exchange_weak)                                              \
    KILN_CPU_HOOK uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                           \
        volatile void* at, uint##bits##_t expected, uint##bits##_t value, int, int) {                  \
        kiln_cpu_see_atomic(at, bits / 8, KILN_CPU_ALL_OF_IT, KILN_CPU_HERE);                          \
        volatile uint##bits##_t* target = (volatile uint##bits##_t*)at;                                \
        uint##bits##_t old = *target;                                                                  \
        if (old == expected) *target = value;                                                          \
        kiln_cpu_compared(at, bits / 8);                                                               \
        return old;                                                                                    \
    }
KILN_CPU_ATOMIC_HOOKS(8)
KILN_CPU_ATOMIC_HOOKS(16)
KILN_CPU_ATOMIC_HOOKS(32)
KILN_CPU_ATOMIC_HOOKS(64)

KILN_CPU_HOOK void __tsan_atomic_thread_fence(int) { kiln_cpu_watch.fenced = true; }
KILN_CPU_HOOK void __tsan_atomic_signal_fence(int) { kiln_cpu_watch.fenced = true; }

#endif
