// __pipeline_memcpy_async and its waits, on kiln::copy_async, which is checked for data that is used too early.
#ifndef KILN_SHIM_CUDA_PIPELINE_H
#define KILN_SHIM_CUDA_PIPELINE_H

#include "kiln.cuh"

// 4, 8 or 16 bytes, of which the last `zeros` become zero and are not read.
KILN_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    unsigned int* target = (unsigned int*)to;
    const unsigned int* source = (const unsigned int*)from;
    if (zeros > 0 && zeros < bytes) {
        __builtin_memset(to, 0, bytes);
        __builtin_memcpy(to, from, bytes - zeros);
    } else if (bytes == 4) {
        kiln::copy_async_or_zero<1>(target, source, zeros == 0);
    } else if (bytes == 8) {
        kiln::copy_async_or_zero<2>(target, source, zeros == 0);
    } else {
        kiln::copy_async_or_zero<4>(target, source, zeros == 0);
    }
}
KILN_INLINE void __pipeline_commit() { kiln::copy_commit(); }
// Past seven groups it waits for all, which is never too early.
KILN_INLINE void __pipeline_wait_prior(size_t pending) {
    switch (pending) {
        case 1: return kiln::copy_wait<1>();
        case 2: return kiln::copy_wait<2>();
        case 3: return kiln::copy_wait<3>();
        case 4: return kiln::copy_wait<4>();
        case 5: return kiln::copy_wait<5>();
        case 6: return kiln::copy_wait<6>();
        case 7: return kiln::copy_wait<7>();
        default: return kiln::copy_wait<0>();
    }
}

#endif
