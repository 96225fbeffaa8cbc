//! Our occupancy calculators against the vendors': NVIDIA's `cuda_occupancy.h`, and what LLVM's AMDGPU backend says of
//! kernels made to take up so many registers and so much local data share.

mod amd;
mod nvidia;
