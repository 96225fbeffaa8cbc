// Atomics, and the cache hints of loads and stores.
//
// Memory of the device is allocated coarse-grained, for which the hardware's own floating-point additions
// are right: build with -munsafe-fp-atomics, or clang 19 makes loops of them.
#ifndef KILN_HIP_ATOMIC_H
#define KILN_HIP_ATOMIC_H

// Keeps a parameter from taking part in deduction, so that atomicAdd(&x, 1) works for every type of x.
template <class T> struct kiln_same { typedef T type; };

// Types whose sum the hardware makes.
template <class T> constexpr bool kiln_hip_adds = __is_integral(T);
template <> inline constexpr bool kiln_hip_adds<float> = true;
template <> inline constexpr bool kiln_hip_adds<double> = true;

// Replaces *address by change(*address) and gives the old value. An element of 16 bits is changed with the
// 32-bit word that holds it.
template <int scope, class T, class Change>
KILN_INLINE T kiln_hip_update(T* address, Change change) {
    typedef typename kiln_word<sizeof(T)>::type word;
    typedef typename kiln_word<(sizeof(T) < 4 ? 4 : sizeof(T))>::type whole;
    uint32_t into = (uint32_t)((uintptr_t)address & (sizeof(whole) - 1)), shift = into * 8;
    whole* target = (whole*)((char*)address - into);
    whole mask = (whole)(word)~(word)0 << shift;
    whole seen = __hip_atomic_load(target, __ATOMIC_RELAXED, scope);
    for (;;) {
        T old = kiln_bits<T>((word)(seen >> shift));
        whole wanted = (seen & ~mask) | (whole)kiln_bits<word>(change(old)) << shift;
        if (__hip_atomic_compare_exchange_strong(target, &seen, wanted, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED, scope)) {
            return old;
        }
    }
}

#define KILN_HIP_ATOMIC_IN(scope, name, direct, builtin, expression)                                   \
    template <class T> KILN_INLINE T name(T* address, typename kiln_same<T>::type value) {             \
        if constexpr (sizeof(T) >= 4 && (direct)) {                                                    \
            return builtin(address, value, __ATOMIC_RELAXED, scope);                                   \
        } else {                                                                                       \
            return kiln_hip_update<scope>(address, [value](T old) -> T { return (T)(expression); });   \
        }                                                                                              \
    }
#define KILN_HIP_ATOMIC(name, direct, builtin, expression)                                             \
    KILN_HIP_ATOMIC_IN(__HIP_MEMORY_SCOPE_AGENT, name, direct, builtin, expression)                    \
    KILN_HIP_ATOMIC_IN(__HIP_MEMORY_SCOPE_WORKGROUP, name##_block, direct, builtin, expression)        \
    KILN_HIP_ATOMIC_IN(__HIP_MEMORY_SCOPE_SYSTEM, name##_system, direct, builtin, expression)

KILN_HIP_ATOMIC(atomicAdd, kiln_hip_adds<T>, __hip_atomic_fetch_add, old + value)
KILN_HIP_ATOMIC(atomicSub, __is_integral(T), __hip_atomic_fetch_sub, old - value)
KILN_HIP_ATOMIC(atomicAnd, true, __hip_atomic_fetch_and, old & value)
KILN_HIP_ATOMIC(atomicOr, true, __hip_atomic_fetch_or, old | value)
KILN_HIP_ATOMIC(atomicXor, true, __hip_atomic_fetch_xor, old ^ value)
KILN_HIP_ATOMIC(atomicMin, __is_integral(T), __hip_atomic_fetch_min, value < old ? value : old)
KILN_HIP_ATOMIC(atomicMax, __is_integral(T), __hip_atomic_fetch_max, old < value ? value : old)
KILN_HIP_ATOMIC(atomicExch, kiln_hip_adds<T>, __hip_atomic_exchange, (void(old), value))
KILN_HIP_ATOMIC(atomicInc, false, __hip_atomic_fetch_add, old >= value ? 0 : old + 1)
KILN_HIP_ATOMIC(atomicDec, false, __hip_atomic_fetch_add, old == 0 || old > value ? value : old - 1)
#undef KILN_HIP_ATOMIC

// The value is replaced where its bits are those expected.
#define KILN_HIP_ATOMIC_CAS(name, scope)                                                               \
    template <class T>                                                                                 \
    KILN_INLINE T name(T* address, typename kiln_same<T>::type expected,                               \
                       typename kiln_same<T>::type value) {                                            \
        typedef typename kiln_word<sizeof(T)>::type word;                                              \
        if constexpr (sizeof(T) >= 4) {                                                                \
            word seen = kiln_bits<word>(expected);                                                     \
            __hip_atomic_compare_exchange_strong((word*)address, &seen, kiln_bits<word>(value),        \
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);           \
            return kiln_bits<T>(seen);                                                                 \
        } else {                                                                                       \
            return kiln_hip_update<scope>(address, [expected, value](T old) -> T {                     \
                return kiln_bits<word>(old) == kiln_bits<word>(expected) ? value : old;                \
            });                                                                                        \
        }                                                                                              \
    }
KILN_HIP_ATOMIC_CAS(atomicCAS, __HIP_MEMORY_SCOPE_AGENT)
KILN_HIP_ATOMIC_CAS(atomicCAS_block, __HIP_MEMORY_SCOPE_WORKGROUP)
KILN_HIP_ATOMIC_CAS(atomicCAS_system, __HIP_MEMORY_SCOPE_SYSTEM)
#undef KILN_HIP_ATOMIC_CAS

// clang's nontemporal accesses take numbers, pointers and its own vectors: others go as plain ones.
template <class T> constexpr bool kiln_hip_is_number = __is_arithmetic(T) && sizeof(T) <= 8;

#define KILN_HIP_LOAD(name)                                                                            \
    template <class T> KILN_INLINE T name(const T* address) { return *address; }
#define KILN_HIP_LOAD_ONCE(name)                                                                       \
    template <class T> KILN_INLINE T name(const T* address) {                                          \
        if constexpr (kiln_hip_is_number<T>) return __builtin_nontemporal_load(address);               \
        else return *address;                                                                          \
    }
#define KILN_HIP_STORE(name)                                                                           \
    template <class T>                                                                                 \
    KILN_INLINE void name(T* address, typename kiln_same<T>::type value) { *address = value; }
#define KILN_HIP_STORE_ONCE(name)                                                                      \
    template <class T> KILN_INLINE void name(T* address, typename kiln_same<T>::type value) {          \
        if constexpr (kiln_hip_is_number<T>) __builtin_nontemporal_store(value, address);              \
        else *address = value;                                                                         \
    }
KILN_HIP_LOAD(__ldg)
KILN_HIP_LOAD(__ldca)
KILN_HIP_LOAD(__ldcg)
KILN_HIP_LOAD_ONCE(__ldcs)
KILN_HIP_LOAD_ONCE(__ldlu)
KILN_HIP_STORE(__stwb)
KILN_HIP_STORE(__stcg)
KILN_HIP_STORE_ONCE(__stcs)
KILN_HIP_STORE(__stwt)
#undef KILN_HIP_LOAD
#undef KILN_HIP_LOAD_ONCE
#undef KILN_HIP_STORE
#undef KILN_HIP_STORE_ONCE

template <class T> KILN_INLINE T __ldcv(const T* address) { return *(const volatile T*)address; }

#endif
