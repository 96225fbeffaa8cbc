// Atomics, and the cache hints of loads and stores.
//
// Only one thread of the operating system runs a copy of the object, so its own writable data, which is
// where __shared__ lies, needs no locked instruction (a histogram in shared memory: 16 to 32 % faster).
#ifndef KILN_CPU_ATOMIC_H
#define KILN_CPU_ATOMIC_H

// Placed by the linker around the object's zero-initialised data.
extern "C" __attribute__((visibility("hidden"))) char __bss_start[];
extern "C" __attribute__((visibility("hidden"))) char _end[];

KILN_INLINE bool kiln_cpu_is_own(const volatile void* address) {
    return (uintptr_t)address - (uintptr_t)__bss_start < (uintptr_t)_end - (uintptr_t)__bss_start;
}

template <class T> struct kiln_cpu_same { typedef T type; };

template <class T> constexpr bool kiln_cpu_is_integer = (T)0.5f == (T)0;
template <> inline constexpr bool kiln_cpu_is_integer<half2> = false;
template <> inline constexpr bool kiln_cpu_is_integer<__nv_bfloat16> = false;
template <> inline constexpr bool kiln_cpu_is_integer<__nv_bfloat162> = false;

// Replaces *address by change(*address) and gives the old value.
#if KILN_CPU_WATCH
template <class T, class Change>
static __attribute__((noinline)) KILN_CPU_UNSEEN T kiln_cpu_update(T* address, Change change) {
    kiln_cpu_see_atomic(address, sizeof(T), KILN_CPU_READS | KILN_CPU_WRITES, KILN_CPU_HERE);
    T old = *address;
    *address = change(old);
    return old;
}
#else
template <class T, class Change>
KILN_INLINE T kiln_cpu_update(T* address, Change change) {
    if (kiln_cpu_is_own(address)) {
        T old = *address;
        *address = change(old);
        return old;
    }
    typedef typename kiln_word<sizeof(T)>::type word;
    word* target = (word*)address;
    word seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(target, &seen, kiln_bits<word>(change(kiln_bits<T>(seen))),
                                        true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return kiln_bits<T>(seen);
}
#endif

#define KILN_CPU_ATOMIC(name, expression)                                                              \
    template <class T>                                                                                 \
    KILN_INLINE T name(T* address, typename kiln_cpu_same<T>::type value) {                            \
        return kiln_cpu_update(address, [value](T old) -> T { return (T)(expression); });              \
    }
// With an instruction of its own for integers.
#define KILN_CPU_ATOMIC_INTEGER(name, builtin, expression)                                             \
    template <class T>                                                                                 \
    KILN_INLINE T name(T* address, typename kiln_cpu_same<T>::type value) {                            \
        if constexpr (kiln_cpu_is_integer<T> && !KILN_CPU_WATCH) {                                                        \
            if (!kiln_cpu_is_own(address)) return builtin(address, value, __ATOMIC_RELAXED);           \
        }                                                                                              \
        return kiln_cpu_update(address, [value](T old) -> T { return (T)(expression); });              \
    }
#define KILN_CPU_ATOMIC_SCOPES(kind, name)                                                             \
    kind(name) kind(name##_block) kind(name##_system)

#define KILN_CPU_ATOMIC_ADD(name) KILN_CPU_ATOMIC_INTEGER(name, __atomic_fetch_add, old + value)
#define KILN_CPU_ATOMIC_SUB(name) KILN_CPU_ATOMIC_INTEGER(name, __atomic_fetch_sub, old - value)
#define KILN_CPU_ATOMIC_AND(name) KILN_CPU_ATOMIC_INTEGER(name, __atomic_fetch_and, old & value)
#define KILN_CPU_ATOMIC_OR(name) KILN_CPU_ATOMIC_INTEGER(name, __atomic_fetch_or, old | value)
#define KILN_CPU_ATOMIC_XOR(name) KILN_CPU_ATOMIC_INTEGER(name, __atomic_fetch_xor, old ^ value)
#define KILN_CPU_ATOMIC_MIN(name) KILN_CPU_ATOMIC(name, value < old ? value : old)
#define KILN_CPU_ATOMIC_MAX(name) KILN_CPU_ATOMIC(name, old < value ? value : old)
#define KILN_CPU_ATOMIC_EXCH(name) KILN_CPU_ATOMIC(name, (void(old), value))
#define KILN_CPU_ATOMIC_INC(name) KILN_CPU_ATOMIC(name, old >= value ? 0 : old + 1)
#define KILN_CPU_ATOMIC_DEC(name) KILN_CPU_ATOMIC(name, old == 0 || old > value ? value : old - 1)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_ADD, atomicAdd)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_SUB, atomicSub)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_AND, atomicAnd)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_OR, atomicOr)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_XOR, atomicXor)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_MIN, atomicMin)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_MAX, atomicMax)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_EXCH, atomicExch)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_INC, atomicInc)
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_DEC, atomicDec)

#define KILN_CPU_ATOMIC_CAS(name)                                                                      \
    template <class T>                                                                                 \
    KILN_INLINE T name(T* address, typename kiln_cpu_same<T>::type expected,                           \
                           typename kiln_cpu_same<T>::type value) {                                    \
        typedef typename kiln_word<sizeof(T)>::type word;                                              \
        if constexpr (KILN_CPU_WATCH) {                                                                \
            word wanted = kiln_bits<word>(expected), next = kiln_bits<word>(value);                    \
            word old = kiln_cpu_update((word*)address, [wanted, next](word old) -> word {              \
                return old == wanted ? next : old;                                                     \
            });                                                                                        \
            kiln_cpu_compared(address, sizeof(T));                                                     \
            return kiln_bits<T>(old);                                                                  \
        }                                                                                              \
        word seen = kiln_bits<word>(expected);                                                         \
        __atomic_compare_exchange_n((word*)address, &seen, kiln_bits<word>(value), false,              \
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);                               \
        return kiln_bits<T>(seen);                                                                     \
    }
KILN_CPU_ATOMIC_SCOPES(KILN_CPU_ATOMIC_CAS, atomicCAS)

#define KILN_CPU_LOAD(name)                                                                            \
    template <class T> KILN_INLINE T name(const T* address) { return *address; }
KILN_CPU_LOAD(__ldg)
KILN_CPU_LOAD(__ldca)
KILN_CPU_LOAD(__ldcg)
KILN_CPU_LOAD(__ldcs)
KILN_CPU_LOAD(__ldlu)
KILN_CPU_LOAD(__ldcv)
#undef KILN_CPU_LOAD
#define KILN_CPU_STORE(name)                                                                           \
    template <class T>                                                                                 \
    KILN_INLINE void name(T* address, typename kiln_cpu_same<T>::type value) { *address = value; }
KILN_CPU_STORE(__stwb)
KILN_CPU_STORE(__stcg)
KILN_CPU_STORE(__stcs)
KILN_CPU_STORE(__stwt)
#undef KILN_CPU_STORE

// Counters by which the device measures itself.
KILN_INLINE long long clock64(void) {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return (long long)ticks;
#endif
}
// A template, since the C library has a function of this name.
template <class T = int> KILN_INLINE T clock(void) { return (T)clock64(); }

#endif
