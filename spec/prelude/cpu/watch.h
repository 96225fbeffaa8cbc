// What a kernel's part of a check build calls of the watch. The definitions are in the common part.
#ifndef KILN_CPU_WATCH_H
#define KILN_CPU_WATCH_H

// A kernel in LOOP mode may keep this much on the stack of the executor.
#define KILN_CPU_HOST_STACK (1u << 20)

#define KILN_CPU_HERE __builtin_return_address(0)

// A launch begins: its memory, then the values of its arguments, then what their pointers point to.
KILN_CPU_COMMON void kiln_cpu_watch_starts(const kiln_cpu_launch* launch, uint64_t first);
KILN_CPU_COMMON void kiln_cpu_watch_value(const void* value, uint64_t bytes);
KILN_CPU_COMMON void kiln_cpu_point(int32_t argument, uintptr_t to, uint32_t element_bytes, bool is_const);
KILN_CPU_COMMON void kiln_cpu_watch_tracks(void);
// A block begins; at the end of an interval, whether a read of it was wrong.
KILN_CPU_COMMON void kiln_cpu_watch_block(void);
KILN_CPU_COMMON bool kiln_cpu_tell_at_end(void);
// A volatile access, or one of an atomic function.
KILN_CPU_COMMON void kiln_cpu_see_strong(const volatile void* address, uint32_t bytes, uint32_t access,
                                         const void* from);
KILN_INLINE void kiln_cpu_see_atomic(const volatile void* address, uint32_t bytes, uint32_t access,
                                     const void* from) {
    kiln_cpu_see_strong(address, bytes, access | KILN_CPU_IS_ATOMIC, from);
}
// A comparison and swap, after it was seen as an atomic access.
KILN_CPU_COMMON void kiln_cpu_compared(const volatile void* address, uint32_t bytes);
// copy_async.
KILN_CPU_COMMON void kiln_cpu_copy_begins(const void* to, uint32_t bytes);
KILN_CPU_COMMON void kiln_cpu_copy_commits(void);
KILN_CPU_COMMON void kiln_cpu_copy_waits(uint32_t left);

// What is known of a parameter from its type.
template <class T> struct kiln_cpu_pointee {
    static constexpr uint32_t bytes = 0;
    static constexpr bool is_const = false;
};
template <class T> struct kiln_cpu_pointee<T*> {
    static constexpr uint32_t bytes = sizeof(T);
    static constexpr bool is_const = false;
};
template <class T> struct kiln_cpu_pointee<const T*> {
    static constexpr uint32_t bytes = sizeof(T);
    static constexpr bool is_const = true;
};
template <> struct kiln_cpu_pointee<void*> {
    static constexpr uint32_t bytes = 1;
    static constexpr bool is_const = false;
};
template <> struct kiln_cpu_pointee<const void*> {
    static constexpr uint32_t bytes = 1;
    static constexpr bool is_const = true;
};
template <class T> struct kiln_cpu_pointee<T* const> : kiln_cpu_pointee<T*> {};
template <class T> struct kiln_cpu_pointee<T* __restrict> : kiln_cpu_pointee<T*> {};
template <class T> struct kiln_cpu_pointee<T* const __restrict> : kiln_cpu_pointee<T*> {};

#endif
