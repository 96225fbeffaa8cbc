//! The compiler of a simulated device.

use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;

use crate::backend::cuda::NvrtcCompiler;
use crate::backend::hip;
use crate::compiler::{CompileError, Compiler};

/// The compiler whose images the simulator executes: NVRTC as far as PTX, or that of AMD GPUs.
///
/// # Errors
/// [`CompileError::NotFound`] if none is installed.
pub(super) fn compiler(target: &KnownTarget) -> Result<Box<dyn Compiler>, CompileError> {
    match target.backend {
        Backend::Cuda => Ok(Box::new(NvrtcCompiler::to_ptx(target.arch)?)),
        _ => hip::compiler(target.arch),
    }
}
