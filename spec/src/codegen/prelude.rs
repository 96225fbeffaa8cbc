//! Device preludes: headers with which every kernel is compiled. They are embedded in the crate, so that crates outside
//! this workspace have them too. A compiler receives them in a folder whose name is their hash.
//!
//! A translation unit includes the first header of its list. The lists also contain the headers that CUDA sources
//! customarily include. Such a header is empty if the first header or the compiler itself provides its contents.

use crate::hash::{Hash, Hasher};

/// A list of headers, as pairs of name and file. `@device_functions` stands for `kiln.cuh` and its includes, which
/// every target has. `@hip_headers` stands for the headers that replace HIP's, on every target. `@stand_ins` stands for
/// the headers that replace NVIDIA's own headers for compilers other than NVRTC.
macro_rules! prelude {
    ($($name:literal = $path:literal,)* @stand_ins $($others:tt)*) => {
        prelude! {
            $($name = $path,)*
            "shim/call_site.h" = "shim/call_site.h",
            "shim/nvidia_alone.h" = "shim/nvidia_alone.h",
            "cooperative_groups.h" = "shim/cooperative_groups.h",
            "cooperative_groups/memcpy_async.h" = "shim/cooperative_groups/memcpy_async.h",
            "cooperative_groups/reduce.h" = "shim/cooperative_groups/reduce.h",
            "cooperative_groups/scan.h" = "shim/cooperative_groups/scan.h",
            "cub/block/block_discontinuity.cuh" = "shim/cub/block_flags.h",
            "cub/block/block_exchange.cuh" = "shim/cub/block_exchange.h",
            "cub/block/block_histogram.cuh" = "shim/cub/block_flags.h",
            "cub/block/block_load.cuh" = "shim/cub/block_load.h",
            "cub/block/block_radix_sort.cuh" = "shim/cub/block_radix_sort.h",
            "cub/block/block_reduce.cuh" = "shim/cub/block_reduce.h",
            "cub/block/block_scan.cuh" = "shim/cub/block_scan.h",
            "cub/block/block_store.cuh" = "shim/cub/block_load.h",
            "cub/cub.cuh" = "shim/cub/cub.h",
            "cub/warp/warp_reduce.cuh" = "shim/cub/warp.h",
            "cub/warp/warp_scan.cuh" = "shim/cub/warp.h",
            "shim/cub/operators.h" = "shim/cub/operators.h",
            "cuda/functional" = "shim/std/cuda_std.h",
            "cuda/std/cmath" = "shim/std/cuda_std.h",
            "cuda/std/cstddef" = "shim/std/cuda_std.h",
            "cuda/std/cstdint" = "shim/std/cuda_std.h",
            "cuda/std/functional" = "shim/std/cuda_std.h",
            "cuda/std/limits" = "shim/std/cuda_std.h",
            "cuda/std/type_traits" = "shim/std/cuda_std.h",
            "cuda/std/utility" = "shim/std/cuda_std.h",
            "cuda.h" = "shim/empty.h",
            "cuda_bf16.h" = "shim/empty.h",
            "cuda_fp16.h" = "shim/empty.h",
            "cuda_fp8.h" = "shim/cuda_fp8.h",
            "cuda_pipeline.h" = "shim/cuda_pipeline.h",
            "cuda_pipeline_primitives.h" = "shim/cuda_pipeline.h",
            "cuda_runtime.h" = "shim/empty.h",
            "cuda_runtime_api.h" = "shim/empty.h",
            "curand_kernel.h" = "shim/curand_kernel.h",
            "device_launch_parameters.h" = "shim/empty.h",
            "driver_types.h" = "shim/empty.h",
            "math.h" = "shim/cmath.h",
            "math_constants.h" = "shim/empty.h",
            "mma.h" = "shim/mma.h",
            "vector_types.h" = "shim/empty.h",
            $($others)*
        }
    };
    ($($name:literal = $path:literal,)* @hip_headers $($others:tt)*) => {
        prelude! {
            $($name = $path,)*
            "shim/hip/runtime.h" = "shim/hip/runtime.h",
            "shim/hip/vector.h" = "shim/hip/vector.h",
            "shim/hip/votes.h" = "shim/hip/votes.h",
            "hip/device_functions.h" = "shim/hip/runtime.h",
            "hip/hip_bf16.h" = "shim/hip/bf16.h",
            "hip/hip_cooperative_groups.h" = "shim/hip/cooperative_groups.h",
            "hip/hip_fp16.h" = "shim/hip/fp16.h",
            "hip/hip_runtime.h" = "shim/hip/runtime.h",
            "hip/hip_runtime_api.h" = "shim/hip/runtime.h",
            "hip/hip_vector_types.h" = "shim/hip/runtime.h",
            "hip/math_functions.h" = "shim/hip/runtime.h",
            "hipcub/hipcub.hpp" = "shim/hip/cub.h",
            $($others)*
        }
    };
    ($($name:literal = $path:literal,)* @device_functions $($others:tt)*) => {
        prelude! {
            $($name = $path,)*
            "kiln.cuh" = "kiln.cuh",
            "device/number.h" = "device/number.h",
            "device/vector.h" = "device/vector.h",
            "device/shared.h" = "device/shared.h",
            "device/warp.h" = "device/warp.h",
            "device/staged_copy.h" = "device/staged_copy.h",
            "device/block.h" = "device/block.h",
            "device/atomic.h" = "device/atomic.h",
            "device/tile.h" = "device/tile.h",
            $($others)*
        }
    };
    ($($name:literal = $path:literal,)*) => {
        &[$(($name, include_str!(concat!("../../prelude/", $path))),)*]
    };
}

/// The headers for the `cpu` device, as pairs of the header's name (relative to the include folder) and its text. The
/// host provides the system headers that they include.
pub const CPU_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_cpu.h" = "kiln_cpu.h",
    "cpu/base.h" = "cpu/base.h",
    "portable/vector.h" = "portable/vector.h",
    "portable/bits.h" = "portable/bits.h",
    "portable/integer.h" = "portable/integer.h",
    "portable/simd.h" = "portable/simd.h",
    "portable/constants.h" = "portable/constants.h",
    "cpu/float_math.h" = "cpu/float_math.h",
    "cpu/math.h" = "cpu/math.h",
    "portable/more_math.h" = "portable/more_math.h",
    "portable/rounding.h" = "portable/rounding.h",
    "portable/double_rounding.h" = "portable/double_rounding.h",
    "portable/conversion.h" = "portable/conversion.h",
    "portable/float16.h" = "portable/float16.h",
    "portable/half.h" = "portable/half.h",
    "portable/bfloat16.h" = "portable/bfloat16.h",
    "cpu/fault.h" = "cpu/fault.h",
    "cpu/context.h" = "cpu/context.h",
    "cpu/schedule.h" = "cpu/schedule.h",
    "cpu/watch_state.h" = "cpu/watch_state.h",
    "cpu/watch.h" = "cpu/watch.h",
    "cpu/watch_tell.h" = "cpu/watch_tell.h",
    "cpu/watch_order.h" = "cpu/watch_order.h",
    "cpu/watch_access.h" = "cpu/watch_access.h",
    "cpu/watch_atomic.h" = "cpu/watch_atomic.h",
    "cpu/watch_copy.h" = "cpu/watch_copy.h",
    "cpu/watch_equal.h" = "cpu/watch_equal.h",
    "cpu/watch_launch.h" = "cpu/watch_launch.h",
    "cpu/scheduler.h" = "cpu/scheduler.h",
    "cpu/group.h" = "cpu/group.h",
    "cpu/coroutine.h" = "cpu/coroutine.h",
    "cpu/warp.h" = "cpu/warp.h",
    "cpu/atomic.h" = "cpu/atomic.h",
    "cpu/entry.h" = "cpu/entry.h",
    "portable/receipt.h" = "portable/receipt.h",
    "cpu/receipt.h" = "cpu/receipt.h",
    @device_functions
    "device/tile_cpu.h" = "device/tile_cpu.h",
    "device/tile_gfx11_cpu.h" = "device/tile_gfx11_cpu.h",
    "device/tile_hip.h" = "device/tile_hip.h",
    "assert.h" = "cpu/shim/assert.h",
    @hip_headers
    @stand_ins
};

/// The headers for NVRTC. NVRTC itself comes with NVIDIA's `cuda_fp16.h`, `cuda_bf16.h` and `mma.h`.
pub const CUDA_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_cuda.h" = "kiln_cuda.h",
    "portable/constants.h" = "portable/constants.h",
    "portable/receipt.h" = "portable/receipt.h",
    "cuda/cub_operators.h" = "cuda/cub_operators.h",
    "cuda/receipt.h" = "cuda/receipt.h",
    @device_functions
    "device/tile_cuda.h" = "device/tile_cuda.h",
    "device/warpgroup.h" = "device/warpgroup.h",
    @hip_headers
    "algorithm" = "shim/std/algorithm.h",
    "assert.h" = "shim/empty.h",
    "bit" = "shim/empty.h",
    "cassert" = "shim/empty.h",
    "cfloat" = "shim/float.h",
    "climits" = "shim/limits.h",
    "cmath" = "shim/cmath.h",
    "cstddef" = "shim/std/integers.h",
    "cstdint" = "shim/std/integers.h",
    "cstdio" = "shim/empty.h",
    "cstring" = "shim/empty.h",
    "cub/cub.cuh" = "shim/cub/nvrtc.h",
    "cuda.h" = "shim/empty.h",
    "cuda_runtime.h" = "shim/empty.h",
    "cuda_runtime_api.h" = "shim/empty.h",
    "curand_kernel.h" = "shim/curand_kernel.h",
    "device_launch_parameters.h" = "shim/empty.h",
    "driver_types.h" = "shim/empty.h",
    "float.h" = "shim/float.h",
    "limits" = "shim/std/limits.h",
    "limits.h" = "shim/limits.h",
    "math.h" = "shim/cmath.h",
    "math_constants.h" = "shim/empty.h",
    "stddef.h" = "shim/empty.h",
    "stdint.h" = "shim/stdint.h",
    "stdio.h" = "shim/empty.h",
    "string.h" = "shim/empty.h",
    "shim/std/type_categories.h" = "shim/std/type_categories.h",
    "shim/std/type_relations.h" = "shim/std/type_relations.h",
    "type_traits" = "shim/std/type_traits.h",
    "utility" = "shim/std/type_traits.h",
    "vector_types.h" = "shim/empty.h",
};

/// The headers with which clang compiles for AMD GPUs.
pub const HIP_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_hip.h" = "kiln_hip.h",
    "hip/base.h" = "hip/base.h",
    "portable/vector.h" = "portable/vector.h",
    "hip/builtins.h" = "hip/builtins.h",
    "portable/bits.h" = "portable/bits.h",
    "portable/integer.h" = "portable/integer.h",
    "portable/simd.h" = "portable/simd.h",
    "portable/constants.h" = "portable/constants.h",
    "portable/math/pair.h" = "portable/math/pair.h",
    "portable/math/angle.h" = "portable/math/angle.h",
    "portable/math/arc.h" = "portable/math/arc.h",
    "portable/math/error_function.h" = "portable/math/error_function.h",
    "portable/math/exponential.h" = "portable/math/exponential.h",
    "portable/math/gamma.h" = "portable/math/gamma.h",
    "portable/math/logarithm.h" = "portable/math/logarithm.h",
    "portable/math/parts.h" = "portable/math/parts.h",
    "portable/math/root.h" = "portable/math/root.h",
    "hip/math.h" = "hip/math.h",
    "portable/more_math.h" = "portable/more_math.h",
    "portable/rounding.h" = "portable/rounding.h",
    "portable/double_rounding.h" = "portable/double_rounding.h",
    "portable/conversion.h" = "portable/conversion.h",
    "portable/float16.h" = "portable/float16.h",
    "portable/half.h" = "portable/half.h",
    "portable/bfloat16.h" = "portable/bfloat16.h",
    "hip/barrier.h" = "hip/barrier.h",
    "hip/warp.h" = "hip/warp.h",
    "hip/atomic.h" = "hip/atomic.h",
    "portable/receipt.h" = "portable/receipt.h",
    "hip/receipt.h" = "hip/receipt.h",
    @device_functions
    "device/tile_hip.h" = "device/tile_hip.h",
    @hip_headers
    @stand_ins
    "algorithm" = "shim/std/algorithm.h",
    "assert.h" = "shim/empty.h",
    "bit" = "shim/empty.h",
    "cassert" = "shim/empty.h",
    "cfloat" = "shim/float.h",
    "climits" = "shim/limits.h",
    "cmath" = "shim/cmath.h",
    "cstddef" = "shim/std/integers.h",
    "cstdint" = "shim/std/integers.h",
    "cstdio" = "shim/empty.h",
    "cstring" = "shim/string.h",
    "float.h" = "shim/float.h",
    "limits" = "shim/std/limits.h",
    "limits.h" = "shim/limits.h",
    "stddef.h" = "shim/empty.h",
    "stdint.h" = "shim/stdint.h",
    "stdio.h" = "shim/empty.h",
    "string.h" = "shim/string.h",
    "shim/std/type_categories.h" = "shim/std/type_categories.h",
    "shim/std/type_relations.h" = "shim/std/type_relations.h",
    "type_traits" = "shim/std/type_traits.h",
    "utility" = "shim/std/type_traits.h",
};

/// The hash of the names and texts of a prelude. It is part of the key of every tuning result.
pub fn prelude_hash(files: &[(&str, &str)]) -> Hash {
    let mut hasher = Hasher::new("prelude");
    for (name, text) in files {
        hasher.field(name.as_bytes()).field(text.as_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(prelude: &[(&str, &'static str)], name: &str) -> &'static str {
        let mut headers = prelude.iter();
        headers
            .find(|(known, _)| *known == name)
            .expect("the prelude should have the header")
            .1
    }

    /// The statements of a header that sign a receipt, without those that differ between targets: the atomic
    /// addition, the size of dynamic shared memory, and the number of threads per warp.
    fn signing(header: &'static str) -> Vec<&'static str> {
        let (_, body) = header.split_once("sign_receipt(").expect("it should sign");
        let (body, _) = body.split_once("\n}").expect("the function should end");
        let lines = body.lines().map(str::trim);
        let lines = lines.filter(|line| {
            let own = ["dynamic_shared_bytes", "warp_size"]
                .iter()
                .any(|name| line.contains(name));
            !own && (line.starts_with("receipt->") || line.contains("return;"))
        });
        lines.collect()
    }

    #[test]
    fn receipts_report_the_same_of_a_launch_on_every_target() {
        let cpu = header(CPU_PRELUDE, "cpu/receipt.h");
        let others = [
            (
                header(CUDA_PRELUDE, "cuda/receipt.h"),
                "\n    atomicAdd((unsigned long long*)&receipt->threads, 1ull);\n",
            ),
            (
                header(HIP_PRELUDE, "hip/receipt.h"),
                "\n    __hip_atomic_fetch_add(&receipt->threads, (uint64_t)1, ",
            ),
        ];
        assert_eq!(signing(cpu).len(), 11, "{:?}", signing(cpu));
        for (other, counts) in others {
            assert_eq!(signing(other), signing(cpu));
            // Every thread counts itself, so there must be no condition before the addition.
            assert!(other.contains(counts), "{other}");
        }
    }

    #[test]
    fn lanes_read_from_the_same_lanes_on_the_cpu_and_on_amd() {
        let rules = |header: &str, target: &str| {
            let (_, from) = header
                .split_once("// The lane that each kind of shuffle")
                .expect("it should have them");
            let (rules, _) = from.split_once("\n\n").expect("they should end");
            rules.replace(target, "")
        };
        let cpu = rules(header(CPU_PRELUDE, "cpu/warp.h"), "kiln_cpu_");
        assert!(cpu.contains("from_xor"), "{cpu}");
        assert_eq!(rules(header(HIP_PRELUDE, "hip/warp.h"), "kiln_hip_"), cpu);
    }
}
