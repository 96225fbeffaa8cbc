//! The compiler of a simulated device.

use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;

use crate::backend::cuda::NvrtcCompiler;
use crate::backend::hip;
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};

/// Line tables for the simulator's messages and profiles. They do not change the machine code.
const LINES: &str = "-gline-tables-only";

/// The compiler whose images the simulator executes: NVRTC as far as PTX, or that of AMD GPUs.
///
/// # Errors
/// [`CompileError::NotFound`] if none is installed.
pub(super) fn compiler(target: &KnownTarget) -> Result<Box<dyn Compiler>, CompileError> {
    match target.backend {
        Backend::Cuda => Ok(Box::new(NvrtcCompiler::to_ptx(target.arch)?)),
        _ => Ok(Box::new(WithLines(hip::compiler(target.arch)?))),
    }
}

/// A compiler of AMD GPUs, with line tables.
#[derive(Debug)]
struct WithLines(Box<dyn Compiler>);

impl Compiler for WithLines {
    fn identity(&self) -> &CompilerIdentity {
        self.0.identity()
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        let mut flags = self.0.flags(build);
        flags.push(LINES.into());
        flags
    }

    fn target_arch(&self) -> &str {
        self.0.target_arch()
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let mut request = request.clone();
        request.options.push(LINES.into());
        self.0.compile(&request)
    }
}
