//! The device preludes: headers that every kernel is compiled with, embedded so that they are there for
//! crates outside this workspace too. A compiler gets them through a folder named by their hash.
//!
//! In each list the first header is the one to include. Headers that CUDA sources include by habit are
//! there too; they are empty where the prelude or the compiler itself has their contents.

use crate::hash::{Hash, Hasher};

/// Headers by name and file. Where it says `@device_functions`, `kiln.cuh` and all that it includes on every target.
macro_rules! prelude {
    ($($name:literal = $path:literal,)* @device_functions $($others:tt)*) => {
        prelude! {
            $($name = $path,)*
            "kiln.cuh" = "kiln.cuh",
            "device/number.h" = "device/number.h",
            "device/vector.h" = "device/vector.h",
            "device/shared.h" = "device/shared.h",
            "device/warp.h" = "device/warp.h",
            "device/block.h" = "device/block.h",
            "device/atomic.h" = "device/atomic.h",
            "device/tile.h" = "device/tile.h",
            $($others)*
        }
    };
    ($($name:literal = $path:literal,)*) => {
        &[$(($name, include_str!(concat!("../prelude/", $path))),)*]
    };
}

/// The headers of the cpu device: name below the include folder, and text. The host's own standard library
/// has what is not here.
pub const CPU_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_cpu.h" = "kiln_cpu.h",
    "cpu/base.h" = "cpu/base.h",
    "portable/vector.h" = "portable/vector.h",
    "portable/integer.h" = "portable/integer.h",
    "cpu/math.h" = "cpu/math.h",
    "portable/conversion.h" = "portable/conversion.h",
    "portable/half.h" = "portable/half.h",
    "portable/bfloat16.h" = "portable/bfloat16.h",
    "cpu/fault.h" = "cpu/fault.h",
    "cpu/context.h" = "cpu/context.h",
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
    "assert.h" = "cpu/shim/assert.h",
    "math.h" = "shim/empty.h",
    "math_constants.h" = "shim/empty.h",
    "cuda_runtime.h" = "shim/empty.h",
    "cuda_fp16.h" = "shim/empty.h",
    "cuda_bf16.h" = "shim/empty.h",
};

/// The headers for NVRTC. `cuda_fp16.h`, `cuda_bf16.h` and `mma.h` are NVIDIA's own and come with NVRTC.
pub const CUDA_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_cuda.h" = "kiln_cuda.h",
    "portable/receipt.h" = "portable/receipt.h",
    "cuda/receipt.h" = "cuda/receipt.h",
    @device_functions
    "device/tile_cuda.h" = "device/tile_cuda.h",
    "assert.h" = "shim/empty.h",
    "cassert" = "shim/empty.h",
    "cfloat" = "shim/float.h",
    "climits" = "shim/limits.h",
    "cmath" = "shim/empty.h",
    "cstddef" = "shim/empty.h",
    "cstdint" = "shim/stdint.h",
    "cstdio" = "shim/empty.h",
    "cuda.h" = "shim/empty.h",
    "cuda_runtime.h" = "shim/empty.h",
    "cuda_runtime_api.h" = "shim/empty.h",
    "device_launch_parameters.h" = "shim/empty.h",
    "float.h" = "shim/float.h",
    "limits.h" = "shim/limits.h",
    "math.h" = "shim/empty.h",
    "math_constants.h" = "shim/empty.h",
    "stddef.h" = "shim/empty.h",
    "stdint.h" = "shim/stdint.h",
    "stdio.h" = "shim/empty.h",
    "vector_types.h" = "shim/empty.h",
};

/// The headers for clang's compilation for AMD GPUs.
pub const HIP_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_hip.h" = "kiln_hip.h",
    "hip/base.h" = "hip/base.h",
    "portable/vector.h" = "portable/vector.h",
    "hip/builtins.h" = "hip/builtins.h",
    "portable/integer.h" = "portable/integer.h",
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
    "portable/conversion.h" = "portable/conversion.h",
    "portable/half.h" = "portable/half.h",
    "portable/bfloat16.h" = "portable/bfloat16.h",
    "hip/barrier.h" = "hip/barrier.h",
    "hip/warp.h" = "hip/warp.h",
    "hip/atomic.h" = "hip/atomic.h",
    "portable/receipt.h" = "portable/receipt.h",
    "hip/receipt.h" = "hip/receipt.h",
    @device_functions
    "device/tile_hip.h" = "device/tile_hip.h",
    "assert.h" = "shim/empty.h",
    "cassert" = "shim/empty.h",
    "cfloat" = "shim/float.h",
    "climits" = "shim/limits.h",
    "cmath" = "shim/empty.h",
    "cstddef" = "shim/empty.h",
    "cstdint" = "shim/stdint.h",
    "cuda.h" = "shim/empty.h",
    "cuda_bf16.h" = "shim/empty.h",
    "cuda_fp16.h" = "shim/empty.h",
    "cuda_runtime.h" = "shim/empty.h",
    "cuda_runtime_api.h" = "shim/empty.h",
    "device_launch_parameters.h" = "shim/empty.h",
    "float.h" = "shim/float.h",
    "hip/hip_bf16.h" = "shim/empty.h",
    "hip/hip_fp16.h" = "shim/empty.h",
    "hip/hip_runtime.h" = "shim/empty.h",
    "limits.h" = "shim/limits.h",
    "math.h" = "shim/empty.h",
    "math_constants.h" = "shim/empty.h",
    "stddef.h" = "shim/empty.h",
    "stdint.h" = "shim/stdint.h",
    "vector_types.h" = "shim/empty.h",
};

/// The hash of a prelude's names and texts: part of every tuning key.
pub fn prelude_hash(files: &[(&str, &str)]) -> Hash {
    let mut hasher = Hasher::new("prelude");
    for (name, text) in files {
        hasher.field(name.as_bytes()).field(text.as_bytes());
    }
    hasher.finish()
}
