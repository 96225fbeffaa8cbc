//! The compiler of a simulated device.

use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;

use crate::backend::cuda::NvrtcCompiler;
use crate::backend::hip;
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};

/// The options for line tables, which the simulator's messages and profiles use. They do not change the machine code.
/// Files have their names in the kernel's package, without the temporary folder in which the kernel is compiled.
const LINES: [&str; 2] = ["-gline-tables-only", "-fdebug-compilation-dir=."];

/// The compiler whose images the simulator executes. For NVIDIA GPUs this is NVRTC, which compiles to PTX. For AMD
/// GPUs it is the same compiler as for a real GPU.
///
/// # Errors
/// [`CompileError::NotFound`] if no such compiler is installed.
pub(super) fn compiler(target: &KnownTarget) -> Result<Box<dyn Compiler>, CompileError> {
    match target.backend {
        Backend::Cuda => Ok(Box::new(NvrtcCompiler::to_ptx(target.arch)?)),
        _ => Ok(Box::new(WithLines(hip::compiler(target.arch)?))),
    }
}

/// A compiler for AMD GPUs that adds line tables to its images.
#[derive(Debug)]
struct WithLines(Box<dyn Compiler>);

impl Compiler for WithLines {
    fn identity(&self) -> &CompilerIdentity {
        self.0.identity()
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        let mut flags = self.0.flags(build);
        flags.extend(LINES.map(String::from));
        flags
    }

    fn target_arch(&self) -> &str {
        self.0.target_arch()
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let mut request = request.clone();
        request.options.extend(LINES.map(String::from));
        self.0.compile(&request)
    }
}
