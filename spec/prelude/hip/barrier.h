// Barriers and fences.
#ifndef KILN_HIP_BARRIER_H
#define KILN_HIP_BARRIER_H

KILN_INLINE void __syncthreads(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Lanes of a wavefront run together, so this orders memory alone.
KILN_INLINE void __syncwarp(unsigned int = 0xffffffffu) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

KILN_INLINE void __threadfence(void) { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KILN_INLINE void __threadfence_block(void) { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KILN_INLINE void __threadfence_system(void) { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

// Sleeps some 64 cycles: enough to let others go on, whatever was asked for.
KILN_INLINE void __nanosleep(unsigned int) { __builtin_amdgcn_s_sleep(1); }

// A barrier that tells every thread how many came with a true predicate.
static __device__ __attribute__((noinline)) int __syncthreads_count(int predicate) {
    static __shared__ unsigned int count;
    if (kiln_hip_linear_thread() == 0) count = 0;
    __syncthreads();
    uint32_t voters = __builtin_amdgcn_ballot_w32(predicate != 0);
    if (kiln_hip_lane() == (uint32_t)__builtin_ctz(__builtin_amdgcn_ballot_w32(true))) {
        __hip_atomic_fetch_add(&count, (unsigned int)__builtin_popcount(voters), __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    __syncthreads();
    int all = (int)count;
    __syncthreads();
    return all;
}
KILN_INLINE int __syncthreads_or(int predicate) { return __syncthreads_count(predicate != 0) != 0; }
KILN_INLINE int __syncthreads_and(int predicate) { return __syncthreads_count(predicate == 0) == 0; }

#endif
