//! Compilers for targets whose device is not present. CI and `tune` use them to compile and inspect kernels.

use std::path::Path;

use kiln_spec::Backend;
use kiln_spec::targets::{TARGETS, target};

use crate::backend::cpu::{CpuCompiler, CpuOptions};
use crate::backend::cuda::NvrtcCompiler;
use crate::backend::hip::{self, HiprtcCompiler};
use crate::compiler::{CompileError, Compiler};

/// The compiler for an architecture; the device need not be present. It is NVRTC for NVIDIA architectures such as
/// `sm_89`, clang or else `libhiprtc` for AMD architectures, and the host's C++ compiler for `cpu`.
///
/// # Errors
/// [`CompileError::NotFound`] if the architecture is unknown or its compiler is not installed.
pub fn compiler(arch: &str) -> Result<Box<dyn Compiler>, CompileError> {
    match backend_of(arch) {
        Some(Backend::Cuda) => Ok(Box::new(NvrtcCompiler::new(arch)?)),
        Some(Backend::Cpu) => {
            let options = CpuOptions::from_env().map_err(|error| CompileError::NotFound {
                what: "the host's C++ compiler".into(),
                looked: error.to_string(),
                help: "unset the variable, or correct it".into(),
            })?;
            Ok(Box::new(CpuCompiler::find(&options)?))
        }
        Some(Backend::Hip) => hip::compiler(arch),
        Some(Backend::Fake) | None => Err(unknown(arch)),
    }
}

/// Loads the compiler for an architecture from a shared library. `library` is a path that [`Compiler::library`]
/// returned.
///
/// # Errors
/// The errors of [`compiler`]. It is also an error if compilers for the architecture are not shared libraries.
pub fn library_compiler(library: &Path, arch: &str) -> Result<Box<dyn Compiler>, CompileError> {
    match backend_of(arch) {
        Some(Backend::Cuda) => Ok(Box::new(NvrtcCompiler::at(library, arch)?)),
        Some(Backend::Hip) => Ok(Box::new(HiprtcCompiler::at(library, arch)?)),
        _ => Err(unknown(arch)),
    }
}

/// The backend of an architecture, from the table of known targets or else from the form of the name.
pub fn backend_of(arch: &str) -> Option<Backend> {
    if let Some(known) = target(arch) {
        return Some(known.backend);
    }
    let forms = [("sm_", Backend::Cuda), ("gfx", Backend::Hip)];
    let form = forms.into_iter().find(|(form, _)| arch.starts_with(form));
    form.map(|(_, backend)| backend)
}

fn unknown(arch: &str) -> CompileError {
    let known: Vec<_> = TARGETS.iter().map(|known| known.arch).collect();
    CompileError::NotFound {
        what: format!("a compiler for the target `{arch}`"),
        looked: format!("known targets: {}", known.join(", ")),
        help: "name one of those, or another architecture of an NVIDIA or AMD GPU".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_target_belongs_to_the_backend_of_its_row_and_others_go_by_their_form() {
        for known in TARGETS {
            assert_eq!(backend_of(known.arch), Some(known.backend));
        }
        assert_eq!(backend_of("sm_120"), Some(Backend::Cuda));
        assert_eq!(backend_of("gfx1100"), Some(Backend::Hip));
        assert_eq!(backend_of("toaster"), None);
        let error = compiler("toaster").unwrap_err().to_string();
        assert!(
            error.contains("sm_89") && error.contains("gfx1151"),
            "{error}"
        );
    }
}
