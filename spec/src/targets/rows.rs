//! The table of targets, with one row per target. To add a target, copy the most similar row. `docs/targets.md`
//! describes the other steps.

use super::amd::AmdWgp;
use super::known::{CPU_LIMITS, KnownTarget, MAX_THREADS_PER_BLOCK, Multiprocessor, Peaks, Source};
use super::nvidia::NvidiaSm;
use crate::device::Backend;
use crate::device::limits::DeviceLimits;

/// The values that all targets of compute capability 8.6 to 9.0 share.
const SM: NvidiaSm = NvidiaSm {
    max_threads: 1536,
    max_blocks: 16,
    registers: 65_536,
    registers_per_block: 65_536,
    registers_per_thread: 255,
    register_granularity: 256,
    partitions: 4,
    shared_bytes: 100 * 1024,
    reserved_shared_bytes: 1024,
    shared_granularity: 128,
    barriers: None,
};

const CUDA_GUIDE: Source = Source {
    figures: "threads, blocks, registers and shared memory of a multiprocessor and of a block; grid",
    read_in: "CUDA C++ Programming Guide 13, Compute Capabilities, tables of technical specifications",
};

const CUDA_OCCUPANCY: Source = Source {
    figures: "granularities, partitions, barriers, reserved shared memory",
    read_in: "cuda_occupancy.h of the CUDA 13.5 runtime",
};

const fn cuda(shared_kib: u32, multiprocessors: u32, l2_mib: u64, memory_gib: u64) -> DeviceLimits {
    DeviceLimits {
        max_threads_per_block: MAX_THREADS_PER_BLOCK,
        max_block: [1024, 1024, 64],
        max_grid: [0x7fff_ffff, 65_535, 65_535],
        shared_bytes_per_block: shared_kib * 1024,
        warp_size: 32,
        lockstep_threads: 32,
        warps_per_product: 1,
        multiprocessors,
        l2_bytes: l2_mib << 20,
        memory_bytes: memory_gib << 30,
    }
}

/// Every known target.
pub const TARGETS: &[KnownTarget] = &[
    KnownTarget {
        arch: "sm_86",
        product: "NVIDIA GeForce RTX 3090",
        backend: Backend::Cuda,
        limits: cuda(99, 82, 6, 24),
        multiprocessor: Multiprocessor::Nvidia(SM),
        peaks: Some(Peaks {
            clock_hz: 1_695_000_000,
            memory_bytes_per_s: 936_000_000_000,
            f32_flops_per_s: 35_580_000_000_000,
            f16_matrix_flops_per_s: 71_000_000_000_000,
        }),
        sources: &[
            CUDA_GUIDE,
            CUDA_OCCUPANCY,
            Source {
                figures: "multiprocessors, L2, memory, peaks",
                read_in: "NVIDIA Ampere GA102 GPU Architecture whitepaper 2.0, appendix A, GeForce RTX 3090",
            },
        ],
    },
    KnownTarget {
        arch: "sm_89",
        product: "NVIDIA L4",
        backend: Backend::Cuda,
        limits: cuda(99, 58, 48, 24),
        multiprocessor: Multiprocessor::Nvidia(NvidiaSm {
            max_blocks: 24,
            ..SM
        }),
        peaks: Some(Peaks {
            clock_hz: 2_040_000_000,
            memory_bytes_per_s: 300_000_000_000,
            f32_flops_per_s: 30_300_000_000_000,
            f16_matrix_flops_per_s: 121_000_000_000_000,
        }),
        sources: &[
            CUDA_GUIDE,
            CUDA_OCCUPANCY,
            Source {
                figures: "memory, peaks (the matrix peak is half of the sparse figure given)",
                read_in: "NVIDIA L4 Tensor Core GPU datasheet",
            },
            Source {
                figures: "multiprocessors (7,424 cores of 128 each), L2",
                read_in: "NVIDIA Ada GPU Architecture whitepaper, AD104; L4 product brief",
            },
        ],
    },
    KnownTarget {
        arch: "sm_90",
        product: "NVIDIA H100 80GB HBM3",
        backend: Backend::Cuda,
        limits: DeviceLimits {
            warps_per_product: 4,
            ..cuda(227, 132, 50, 80)
        },
        multiprocessor: Multiprocessor::Nvidia(NvidiaSm {
            max_threads: 2048,
            max_blocks: 32,
            shared_bytes: 228 * 1024,
            barriers: Some(64),
            ..SM
        }),
        peaks: Some(Peaks {
            clock_hz: 1_980_000_000,
            memory_bytes_per_s: 3_350_000_000_000,
            f32_flops_per_s: 66_900_000_000_000,
            f16_matrix_flops_per_s: 989_400_000_000_000,
        }),
        sources: &[
            CUDA_GUIDE,
            CUDA_OCCUPANCY,
            Source {
                figures: "multiprocessors, L2, memory, peaks",
                read_in: "NVIDIA H100 Tensor Core GPU Architecture whitepaper, H100 SXM5; H100 datasheet",
            },
        ],
    },
    KnownTarget {
        arch: "gfx1151",
        product: "AMD Radeon 8060S Graphics",
        backend: Backend::Hip,
        limits: DeviceLimits {
            max_threads_per_block: MAX_THREADS_PER_BLOCK,
            max_block: [1024, 1024, 1024],
            max_grid: [0x7fff_ffff, 65_535, 65_535],
            shared_bytes_per_block: 64 * 1024,
            warp_size: 32,
            lockstep_threads: 32,
            warps_per_product: 1,
            // Number of workgroup processors (two compute units each), because HIP reports these as multiprocessors.
            multiprocessors: 20,
            l2_bytes: 2 << 20,
            memory_bytes: 96 << 30,
        },
        multiprocessor: Multiprocessor::Amd(AmdWgp {
            simds: 4,
            wave_size: 32,
            waves_per_simd: 16,
            vector_registers: 1536,
            registers_per_thread: 256,
            register_granularity: 24,
            shared_bytes: 128 * 1024,
            shared_granularity: 1024,
            max_barriers: 32,
        }),
        peaks: Some(Peaks {
            clock_hz: 2_900_000_000,
            memory_bytes_per_s: 256_000_000_000,
            f32_flops_per_s: 29_700_000_000_000,
            f16_matrix_flops_per_s: 59_400_000_000_000,
        }),
        sources: &[
            Source {
                figures: "compute units (40), L2, local data share, register files",
                read_in: "ROCm documentation, AMD GPU specifications, Ryzen AI Max+ PRO 395",
            },
            Source {
                figures: "that HIP counts workgroup processors",
                read_in: "HIP documentation, hardware implementation, RDNA; ROCm issue 6407",
            },
            Source {
                figures: "waves, vector registers and their granularity, barriers, modes",
                read_in: "LLVM 19, AMDGPUBaseInfo.cpp (IsaInfo) and the AMDGPU user guide",
            },
            Source {
                figures: "granularity of the local data share",
                read_in: "Mesa, ac_gpu_info.c, lds_alloc_granularity of GFX10.3 and newer",
            },
            Source {
                figures: "64 KiB of local data share and 1,024 threads a workgroup, two-fold issue, matrix rate",
                read_in: "RDNA 3.5 instruction set architecture reference guide",
            },
            Source {
                figures: "clock, memory; the f32 peak counts two-fold issue, which few kernels reach",
                read_in: "AMD Ryzen AI Max+ 395 product page (256-bit LPDDR5X-8000); rocminfo of a gfx1151",
            },
        ],
    },
    KnownTarget {
        arch: "cpu",
        product: "the processor at hand",
        backend: Backend::Cpu,
        limits: CPU_LIMITS,
        multiprocessor: Multiprocessor::Host,
        peaks: None,
        sources: &[Source {
            figures: "launch limits",
            read_in: "chosen: what the GPUs above have in common",
        }],
    },
];
