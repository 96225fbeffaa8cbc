//! The device preludes: headers that every kernel is compiled with, embedded so that they are there for
//! crates outside this workspace too. A compiler gets them through a folder named by their hash.

use crate::hash::{Hash, Hasher};

macro_rules! prelude {
    ($($name:literal = $path:literal,)*) => {
        &[$(($name, include_str!(concat!("../prelude/", $path))),)*]
    };
}

/// The headers of the cpu device: name below the include folder, and text. The first is the one to include;
/// those that CUDA sources include by habit are there too, and empty.
pub const CPU_PRELUDE: &[(&str, &str)] = prelude! {
    "kiln_cpu.h" = "kiln_cpu.h",
    "cpu/base.h" = "cpu/base.h",
    "cpu/vector.h" = "cpu/vector.h",
    "cpu/integer.h" = "cpu/integer.h",
    "cpu/math.h" = "cpu/math.h",
    "cpu/half.h" = "cpu/half.h",
    "cpu/bfloat16.h" = "cpu/bfloat16.h",
    "cpu/fault.h" = "cpu/fault.h",
    "cpu/context.h" = "cpu/context.h",
    "cpu/scheduler.h" = "cpu/scheduler.h",
    "cpu/group.h" = "cpu/group.h",
    "cpu/coroutine.h" = "cpu/coroutine.h",
    "cpu/warp.h" = "cpu/warp.h",
    "cpu/atomic.h" = "cpu/atomic.h",
    "cpu/entry.h" = "cpu/entry.h",
    "cpu/receipt.h" = "cpu/receipt.h",
    "assert.h" = "cpu/shim/assert.h",
    "math.h" = "cpu/shim/empty.h",
    "math_constants.h" = "cpu/shim/empty.h",
    "cuda_runtime.h" = "cpu/shim/empty.h",
    "cuda_fp16.h" = "cpu/shim/empty.h",
    "cuda_bf16.h" = "cpu/shim/empty.h",
};

/// The hash of a prelude's names and texts: part of every tuning key.
pub fn prelude_hash(files: &[(&str, &str)]) -> Hash {
    let mut hasher = Hasher::new("prelude");
    for (name, text) in files {
        hasher.field(name.as_bytes()).field(text.as_bytes());
    }
    hasher.finish()
}
