//! The compiler families for which translation units are generated.

use crate::codegen::prelude::{CPU_PRELUDE, CUDA_PRELUDE, HIP_PRELUDE, prelude_hash};
use crate::device::Backend;
use crate::hash::Hash;

/// The compiler family for which a translation unit is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// C++ for the host processor.
    Cpu,
    /// CUDA C++.
    Cuda,
    /// HIP C++.
    Hip,
}

impl From<Backend> for Target {
    /// The compiler family for a backend's units.
    fn from(backend: Backend) -> Target {
        match backend {
            Backend::Cpu | Backend::Fake => Target::Cpu,
            Backend::Cuda => Target::Cuda,
            Backend::Hip => Target::Hip,
        }
    }
}

/// The properties in which units of one target differ from those of others.
pub(super) struct TargetRow {
    /// Its name, part of every symbol's hash.
    pub name: &'static str,
    /// The header that the unit includes first.
    pub prelude: &'static str,
    /// The headers that Kiln passes to the compiler.
    pub headers: &'static [(&'static str, &'static str)],
    /// The macro that exports an entry to the executor; `None` if the entry itself is loaded.
    pub entry_macro: Option<&'static str>,
    /// Whether dynamic shared memory and `#pragma unroll` are rewritten for host compilers.
    pub host: bool,
    /// Whether inline PTX is reported as an error, instead of reaching the target's assembler.
    pub refuses_ptx: bool,
    /// Whether the compiler supports `#pragma push_macro`; NVRTC does not.
    pub pushes_macros: bool,
    /// Headers of 16-bit floats. They are too costly for the prelude, so only units that use those types include
    /// them.
    pub half_header: Option<&'static str>,
    /// The same for bfloat16.
    pub bfloat16_header: Option<&'static str>,
}

impl Target {
    pub(super) fn row(self) -> &'static TargetRow {
        match self {
            Target::Cpu => &TargetRow {
                name: "cpu",
                prelude: "kiln_cpu.h",
                headers: CPU_PRELUDE,
                entry_macro: Some("KILN_CPU_ENTRY"),
                host: true,
                refuses_ptx: true,
                pushes_macros: true,
                half_header: None,
                bfloat16_header: None,
            },
            Target::Cuda => &TargetRow {
                name: "cuda",
                prelude: "kiln_cuda.h",
                headers: CUDA_PRELUDE,
                entry_macro: None,
                host: false,
                refuses_ptx: false,
                pushes_macros: false,
                half_header: Some("cuda_fp16.h"),
                bfloat16_header: Some("cuda_bf16.h"),
            },
            Target::Hip => &TargetRow {
                name: "hip",
                prelude: "kiln_hip.h",
                headers: HIP_PRELUDE,
                entry_macro: None,
                host: false,
                refuses_ptx: true,
                pushes_macros: true,
                half_header: None,
                bfloat16_header: None,
            },
        }
    }

    /// The prelude: header names relative to the include folder, and texts.
    pub fn prelude(self) -> &'static [(&'static str, &'static str)] {
        self.row().headers
    }

    /// Hash of the prelude.
    pub fn prelude_hash(self) -> Hash {
        prelude_hash(self.prelude())
    }
}
