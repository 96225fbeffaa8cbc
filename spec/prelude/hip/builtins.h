// threadIdx, blockIdx, blockDim, gridDim: reading a member reads a register or an implicit argument.
#ifndef KILN_HIP_BUILTINS_H
#define KILN_HIP_BUILTINS_H

// Words of the implicit arguments of code object version 5: AMDGPU Usage, "Code Object V5 Metadata", offsets
// in bytes after the explicit arguments: 0 block counts (u32 x 3), 12 group sizes (u16 x 3), 120 bytes of
// dynamic LDS (u32).
KILN_INLINE uint32_t kiln_hip_implicit_word(uint32_t index) {
    typedef const __attribute__((address_space(4))) uint32_t words;
    return ((words*)__builtin_amdgcn_implicitarg_ptr())[index];
}

#define KILN_HIP_BUILTIN(name, value_x, value_y, value_z)                                              \
    struct kiln_hip_##name {                                                                           \
        __declspec(property(get = get_x)) unsigned int x;                                              \
        __declspec(property(get = get_y)) unsigned int y;                                              \
        __declspec(property(get = get_z)) unsigned int z;                                              \
        KILN_MEMBER unsigned int get_x() const { return value_x; }                                     \
        KILN_MEMBER unsigned int get_y() const { return value_y; }                                     \
        KILN_MEMBER unsigned int get_z() const { return value_z; }                                     \
        KILN_MEMBER operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }                \
        KILN_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }                  \
    };                                                                                                 \
    extern const __device__ __attribute__((weak)) kiln_hip_##name name;
KILN_HIP_BUILTIN(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                 __builtin_amdgcn_workitem_id_z())
KILN_HIP_BUILTIN(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                 __builtin_amdgcn_workgroup_id_z())
KILN_HIP_BUILTIN(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                 __builtin_amdgcn_workgroup_size_z())
KILN_HIP_BUILTIN(gridDim, kiln_hip_implicit_word(0), kiln_hip_implicit_word(1), kiln_hip_implicit_word(2))
#undef KILN_HIP_BUILTIN

static constexpr int warpSize = 32;

// The number of the running thread in its block, and in its wavefront.
KILN_INLINE uint32_t kiln_hip_linear_thread(void) {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
KILN_INLINE uint32_t kiln_hip_lane(void) { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }

// A counter that never wraps around, at a constant rate of the device (100 MHz on gfx11): the counter of the
// shader clock has 20 bits.
KILN_INLINE long long clock64(void) { return (long long)__builtin_readsteadycounter(); }
KILN_INLINE long long wall_clock64(void) { return (long long)__builtin_readsteadycounter(); }
KILN_INLINE int clock(void) { return (int)clock64(); }

#endif
