//! The families of compilers for which translation units are generated.

use crate::codegen::prelude::{CPU_PRELUDE, CUDA_PRELUDE, HIP_PRELUDE, prelude_hash};
use crate::device::Backend;
use crate::hash::Hash;

/// The family of compilers for which a translation unit is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// C++ compilers for the host processor.
    Cpu,
    /// CUDA C++ compilers.
    Cuda,
    /// HIP C++ compilers.
    Hip,
}

impl From<Backend> for Target {
    /// The family of compilers that compiles units for a backend.
    fn from(backend: Backend) -> Target {
        match backend {
            Backend::Cpu | Backend::Fake => Target::Cpu,
            Backend::Cuda => Target::Cuda,
            Backend::Hip => Target::Hip,
        }
    }
}

/// The properties in which the units of different targets differ.
pub(super) struct TargetRow {
    /// The name of the target, which is part of the hash in every symbol.
    pub name: &'static str,
    /// The header that the unit includes first.
    pub prelude: &'static str,
    /// The headers that Kiln supplies to the compiler, as pairs of name and text.
    pub headers: &'static [(&'static str, &'static str)],
    /// The macro that makes an entry loadable on the host. `None` if the entry itself can be loaded.
    pub entry_macro: Option<&'static str>,
    /// Whether dynamic shared memory and `#pragma unroll` are rewritten for host compilers.
    pub host: bool,
    /// Whether inline PTX is an error. Otherwise it is passed to the assembler of the target.
    pub refuses_ptx: bool,
    /// Lines before and after the source, so that functions without `__device__` are device functions, as with NVRTC.
    pub around_source: [&'static str; 2],
    /// Whether the compiler supports `#pragma push_macro`. NVRTC does not support it.
    pub pushes_macros: bool,
    /// The header of 16-bit floats; `None` if the prelude contains the type. The header takes long to compile, so only
    /// units that use the type include it.
    pub half_header: Option<&'static str>,
    /// The header of bfloat16; `None` if the prelude contains the type.
    pub bfloat16_header: Option<&'static str>,
    /// The header of HIP's own names. Units include it if their source tests `__HIP_PLATFORM_AMD__`, because such a
    /// source may rely on hipcc to include it.
    pub hip_header: Option<&'static str>,
    /// The header of the SIMD intrinsics (`__vadd4` and similar); `None` if the compiler has them built in.
    pub simd_header: Option<&'static str>,
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
                around_source: ["", ""],
                pushes_macros: true,
                half_header: None,
                bfloat16_header: None,
                hip_header: None,
                simd_header: Some("portable/simd.h"),
            },
            Target::Cuda => &TargetRow {
                name: "cuda",
                prelude: "kiln_cuda.h",
                headers: CUDA_PRELUDE,
                entry_macro: None,
                host: false,
                refuses_ptx: false,
                around_source: ["", ""],
                pushes_macros: false,
                half_header: Some("cuda_fp16.h"),
                bfloat16_header: Some("cuda_bf16.h"),
                hip_header: None,
                simd_header: None,
            },
            Target::Hip => &TargetRow {
                name: "hip",
                prelude: "kiln_hip.h",
                headers: HIP_PRELUDE,
                entry_macro: None,
                host: false,
                refuses_ptx: true,
                around_source: [
                    "#pragma clang force_cuda_host_device begin\n",
                    "#pragma clang force_cuda_host_device end\n",
                ],
                pushes_macros: true,
                half_header: None,
                bfloat16_header: None,
                hip_header: Some("hip/hip_runtime.h"),
                simd_header: Some("portable/simd.h"),
            },
        }
    }

    /// The headers of the prelude, as pairs of the name relative to the include folder and the text.
    pub fn prelude(self) -> &'static [(&'static str, &'static str)] {
        self.row().headers
    }

    /// The header of the prelude that units include.
    pub fn prelude_header(self) -> &'static str {
        self.row().prelude
    }

    /// Hash of the names and texts of the prelude.
    pub fn prelude_hash(self) -> Hash {
        prelude_hash(self.prelude())
    }
}
