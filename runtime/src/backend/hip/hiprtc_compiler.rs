//! The compiler for AMD GPUs that uses `libhiprtc`, for machines without clang.

use std::ffi::CString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use kiln_spec::codegen::Target;

use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};

use super::code_object;
use super::ffi::HiprtcUnit;
use super::hiprtc::{self, HiprtcLibrary, NO_BUILTIN_HEADER};

/// `HIPRTC_ERROR_OUT_OF_MEMORY` of `hip/hiprtc.h`.
const OUT_OF_MEMORY: i32 = 1;

/// The options of clang, without those that the library always adds (that the source is HIP, that it is compiled for
/// the device, and that the output is not bundled). With these options, the library searches only Kiln's headers and
/// links no device library.
const OWN_OPTIONS: &[&str] = &[NO_BUILTIN_HEADER, "-nogpuinc", "-nogpulib"];

/// `libhiprtc` as a compiler for one architecture of AMD GPUs. It compiles to code objects.
///
/// The library runs in this process, so neither a deadline nor a memory limit can be enforced. For this reason,
/// `tune` compiles in separate processes.
pub struct HiprtcCompiler {
    library: Arc<HiprtcLibrary>,
    arch: String,
    identity: CompilerIdentity,
    /// The names and texts of the prelude's headers.
    headers: Vec<(CString, CString)>,
}

impl HiprtcCompiler {
    /// Uses the first library that is found. It searches `KILN_HIPRTC`, ROCm's folders and the system's loader. The
    /// architecture has the name that the driver uses. No GPU is needed.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if no library is found, or if it is damaged, is too old, or does not support the
    /// architecture.
    pub fn new(arch: &str) -> Result<HiprtcCompiler, CompileError> {
        HiprtcCompiler::of(hiprtc::find()?, arch)
    }

    /// Like [`Self::new`], with the library at a path. If the path is a folder, the newest library in it is used.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn at(place: &Path, arch: &str) -> Result<HiprtcCompiler, CompileError> {
        HiprtcCompiler::of(hiprtc::at(place)?, arch)
    }

    fn of(library: Arc<HiprtcLibrary>, arch: &str) -> Result<HiprtcCompiler, CompileError> {
        let compiler = HiprtcCompiler {
            identity: CompilerIdentity {
                name: "hiprtc".into(),
                version: library.version.clone(),
                build: library.build.clone(),
            },
            headers: Target::Hip.prelude().iter().map(header).collect(),
            library,
            arch: arch.into(),
        };
        compiler.knows_its_arch()?;
        Ok(compiler)
    }

    /// Checks that the library supports the architecture. The library has no list of architectures, so this compiles
    /// a small source text.
    fn knows_its_arch(&self) -> Result<(), CompileError> {
        let source = "extern \"C\" __attribute__((global)) void kiln_first() {}\n";
        let asked = self.compile(&CompileRequest::new("kiln_first", source));
        asked.map(drop).map_err(|error| CompileError::NotFound {
            what: format!("a hiprtc for {}", self.arch),
            looked: format!("{}: {error}", self.library.file.display()),
            help: "set KILN_HIPRTC to a newer one, or install clang-22 and lld-22".into(),
        })
    }
}

/// A header as the library accepts it. The library rejects an empty header, so an empty text becomes a line break.
fn header((name, text): &(&str, &str)) -> (CString, CString) {
    let text = if text.is_empty() { "\n" } else { text };
    let terminated = |text: &str| CString::new(text).unwrap_or_default();
    (terminated(name), terminated(text))
}

impl Compiler for HiprtcCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.identity
    }

    fn flags(&self, _: BuildKind) -> Vec<String> {
        code_object::flags(OWN_OPTIONS, &self.arch)
    }

    fn target_arch(&self) -> &str {
        &self.arch
    }

    fn library(&self) -> Option<&Path> {
        Some(&self.library.file)
    }

    /// The log of the artifact contains clang's remarks on the registers, spills, scratch and shared memory of every
    /// kernel.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        code_object::check_build(request, &self.arch)?;
        let own = || self.flags(request.build);
        let mut options = request.flags().map_or_else(own, <[String]>::to_vec);
        options.extend(request.options.iter().cloned());
        let name = request.name.clone();
        let text = |text: &str| {
            CString::new(text).map_err(|_| CompileError::Failed {
                name: name.clone(),
                options: options.clone(),
                log: "error: the source or an option holds a zero byte\n".into(),
            })
        };
        let source = text(&request.source)?;
        let list: Vec<CString> = options.iter().map(|o| text(o)).collect::<Result<_, _>>()?;
        let kept = request.recipe.as_ref().map(|recipe| {
            let headers = recipe.headers().iter();
            headers
                .map(|(name, text)| header(&(name, text)))
                .collect::<Vec<_>>()
        });
        let mut compiled = self.library.hiprtc.compile(&HiprtcUnit {
            source: &source,
            headers: kept.as_ref().unwrap_or(&self.headers),
            options: &list,
        });
        let (code, memory_bytes) = (compiled.code, request.limits.memory_bytes);
        if code == OUT_OF_MEMORY {
            let log = compiled.log;
            return Err(CompileError::OutOfMemory {
                name,
                options,
                memory_bytes,
                log,
            });
        }
        if code != 0 {
            if !compiled.log.contains("error") {
                let text = self.library.hiprtc.error_text(code);
                compiled.log += &format!("error: {text}\n");
            }
            let log = compiled.log;
            return Err(CompileError::Failed { name, options, log });
        }
        let (image, log) = (compiled.image, compiled.log);
        code_object::artifact(self, "hiprtc", request, image, log)
    }
}

impl fmt::Debug for HiprtcCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HiprtcCompiler")
            .field("library", &self.library.file)
            .field("identity", &self.identity)
            .field("arch", &self.arch)
            .finish_non_exhaustive()
    }
}
