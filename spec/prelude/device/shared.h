// Dynamic shared memory, and copies from global to shared memory that run beside the kernel.
#ifndef KILN_DEVICE_SHARED_H
#define KILN_DEVICE_SHARED_H

namespace kiln {

// The block's dynamic shared memory, aligned to 16 bytes. Every call gives the same memory.
template <class T> KILN_INLINE T* dynamic_shared() {
#if defined(KILN_CPU)
    return (T*)kiln_cpu_dynamic_shared();
#else
    extern __shared__ __align__(16) unsigned char kiln_dynamic_shared[];
    return reinterpret_cast<T*>(kiln_dynamic_shared);
#endif
}

// Begins to copy N elements, 4, 8 or 16 bytes in all, from global to shared memory; both are aligned to as
// many bytes. They are there after copy_wait and a barrier.
template <int N, class T> KILN_INLINE void copy_async(T* to, const T* from) {
    constexpr int bytes = (int)sizeof(T) * N;
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a copy is of 4, 8 or 16 bytes");
#if defined(KILN_CUDA) && __CUDA_ARCH__ >= 800
    const unsigned int target = (unsigned int)__cvta_generic_to_shared(to);
    const size_t source = __cvta_generic_to_global(from);
    if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(bytes)
                     : "memory");
    }
#else
    store_aligned(to, load_aligned<N>(from));
#if defined(KILN_CPU) && KILN_CPU_WATCH
    kiln_cpu_copy_begins(to, bytes);
#endif
#endif
}

// The same where `valid`; elsewhere the elements become zero bits and nothing is read.
template <int N, class T> KILN_INLINE void copy_async_or_zero(T* to, const T* from, bool valid) {
    constexpr int bytes = (int)sizeof(T) * N;
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "a copy is of 4, 8 or 16 bytes");
#if defined(KILN_CUDA) && __CUDA_ARCH__ >= 800
    const unsigned int target = (unsigned int)__cvta_generic_to_shared(to);
    const size_t source = __cvta_generic_to_global(from);
    const int read = valid ? bytes : 0;
    if constexpr (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(read)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(source),
                     "n"(bytes), "r"(read)
                     : "memory");
    }
#else
    vec<T, N> elements = {};
    if (valid) elements = load_aligned<N>(from);
    store_aligned(to, elements);
#if defined(KILN_CPU) && KILN_CPU_WATCH
    kiln_cpu_copy_begins(to, bytes);
#endif
#endif
}

// Ends a group of copies: those that this thread has begun since the last commit.
KILN_INLINE void copy_commit() {
#if defined(KILN_CUDA) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(KILN_CPU) && KILN_CPU_WATCH
    kiln_cpu_copy_commits();
#endif
}

// Waits until at most PENDING of this thread's last groups are still running. With STAGES buffers in turn,
// PENDING is STAGES - 2. What other threads copied is there after a barrier.
template <int PENDING = 0> KILN_INLINE void copy_wait() {
#if defined(KILN_CUDA) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#elif defined(KILN_CPU) && KILN_CPU_WATCH
    kiln_cpu_copy_waits(PENDING);
#endif
}

}  // namespace kiln

#endif
