//! The [`Compiler`] trait, which compiles one generated source text to an [`Artifact`] that a device can load.

pub mod artifacts;
pub(crate) mod child;
pub mod compile_only;
pub(crate) mod cxx;
pub(crate) mod dialect;
pub(crate) mod end;
pub(crate) mod error;
pub mod headers;
mod in_workspace;
pub(crate) mod include_folder;
mod limits;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod process;
pub mod recipe;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiln_spec::{Backend, Hash};

pub use crate::compiler::error::{CompileError, is_of_a_crash};
pub use crate::compiler::in_workspace::in_workspace;
pub use crate::compiler::limits::{CompileLimits, deadline_of_user};

use crate::compiler::include_folder::{Headers, IncludeFolder};
use crate::compiler::recipe::Recipe;

/// A compiler for one target.
pub trait Compiler: Send + Sync + fmt::Debug {
    /// The name and version of the compiler. They are part of every tuning key, the key under which results are stored.
    fn identity(&self) -> &CompilerIdentity;

    /// The options that every compile of this kind uses, in order. They are part of every tuning key.
    fn flags(&self, build: BuildKind) -> Vec<String>;

    /// The target for which the compiler generates code: `sm_89`, `gfx1151`, `x86-64-v3`, `native-…`.
    fn target_arch(&self) -> &str;

    /// Whether the compiler's artifacts may be stored in the disk cache. The artifacts of the scripted compilers in
    /// tests must not be stored.
    fn artifacts_are_kept(&self) -> bool {
        true
    }

    /// The path of the library, if the compiler is a library that runs inside this process. Such a compile cannot be
    /// killed, so its limits may have no effect. `None` if the compiler is a separate process.
    fn library(&self) -> Option<&Path> {
        None
    }

    /// The folders outside Kiln in which the compiler searches the headers of a kernel, in order. Their files are
    /// installed separately from the compiler, so [`headers::hash`] of what a source includes from them is part of the
    /// source's keys.
    fn header_folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The command that installs the headers of the compiler's vendor, in the way in which the compiler is installed;
    /// `None` if the vendor has none apart from the compiler.
    fn installs_headers(&self) -> Option<String> {
        None
    }

    /// Compiles one source text. Blocks until the compile ends. Several threads may call this at the same time.
    ///
    /// # Errors
    /// A [`CompileError`]. If the compiler ran, the error contains its options and its log.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError>;

    /// The environment variables with which a process must be started so that it can load sanitized builds. In such a
    /// process, the first error that a sanitizer finds ends the process with exit code 86.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if the compiler has no sanitizers on this machine.
    fn sanitizer_environment(&self) -> Result<Vec<(String, OsString)>, CompileError> {
        Err(CompileError::NotFound {
            what: format!("a sanitizer of {}", self.identity()),
            looked: format!("target {}", self.target_arch()),
            help: "check on the cpu device".into(),
        })
    }
}

/// The name and version of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompilerIdentity {
    /// The name of the compiler: `clang++`, `g++`, `nvrtc`.
    pub name: String,
    /// The version of the compiler, such as `19.1.7`.
    pub version: String,
    /// Distinguishes two builds of the same version. This is the vendor's version line or the hash of a library.
    pub build: String,
}

impl fmt::Display for CompilerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.name, self.version, self.build)
    }
}

/// The purpose of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BuildKind {
    /// An optimised build, which is the one that is timed and shipped.
    Release,
    /// A build with checks inside the kernel. It checks every load and store for races and bounds, reports divergent
    /// barriers as faults, and runs blocks and threads in the order that the launch requests.
    Check,
    /// A `Check` build that also uses the sanitizers of the host compiler. It can be loaded only into a process that
    /// was started for it.
    Sanitize,
}

impl BuildKind {
    /// The name in keys and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BuildKind::Release => "release",
            BuildKind::Check => "check",
            BuildKind::Sanitize => "sanitize",
        }
    }
}

/// One source text to compile.
#[derive(Clone, Debug)]
pub struct CompileRequest {
    /// The whole generated translation unit.
    pub source: String,
    /// The name in messages, usually the symbol of the entry.
    pub name: String,
    /// Additional options, which follow the compiler's own.
    pub options: Vec<String>,
    /// The purpose of the build.
    pub build: BuildKind,
    /// The resources that the compiler may use.
    pub limits: CompileLimits,
    /// An existing folder for the compiler's temporary files. `None` means the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// Headers and flags that replace the compiler's own, to rebuild a saved translation unit. `None` if nothing is
    /// replaced.
    pub recipe: Option<Arc<Recipe>>,
}

impl CompileRequest {
    /// A request for a release build with the default limits.
    pub fn new(name: &str, source: impl Into<String>) -> CompileRequest {
        CompileRequest {
            source: source.into(),
            name: name.into(),
            options: Vec::new(),
            build: BuildKind::Release,
            limits: CompileLimits::of_user(),
            scratch: None,
            recipe: None,
        }
    }

    /// The flags that replace the compiler's own; `None` if the compiler uses its own.
    pub(crate) fn flags(&self) -> Option<&[String]> {
        self.recipe.as_ref()?.flags.as_deref()
    }

    /// The folder of the compiler's own headers, or of the headers that replace them. Missing files are written again,
    /// because the folder can be deleted while a program runs.
    pub(crate) fn include_folder(&self, own: Headers<'_>) -> Result<IncludeFolder, CompileError> {
        IncludeFolder::open(&self.prelude(own))
    }

    /// The headers of the request's prelude: those of its recipe, or else the target's `own`.
    pub(crate) fn prelude<'h>(&'h self, own: Headers<'h>) -> Cow<'h, [(&'h str, &'h str)]> {
        match &self.recipe {
            Some(recipe) => Cow::Owned(recipe.borrowed()),
            None => Cow::Borrowed(own),
        }
    }

    /// Changes the kind of build.
    pub fn with_build(mut self, build: BuildKind) -> CompileRequest {
        self.build = build;
        self
    }
}

/// A compiled translation unit. Devices load it, caches store it, and programs embed its image.
#[derive(Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The backend whose devices can load the artifact.
    pub backend: Backend,
    /// The target for which the artifact was compiled.
    pub target: String,
    /// The purpose of the build.
    pub build: BuildKind,
    /// The compiled image: a shared object, a cubin or an AMD code object.
    pub image: Arc<[u8]>,
    /// The hash of the image.
    pub hash: Hash,
    /// The compiler's log, including warnings.
    pub log: String,
}

impl Artifact {
    /// Creates an artifact from an image and computes the image's hash.
    pub fn new(
        backend: Backend,
        target: &str,
        build: BuildKind,
        image: impl Into<Arc<[u8]>>,
        log: String,
    ) -> Artifact {
        let image = image.into();
        let hash = Hash::of("artifact", &image);
        Artifact {
            backend,
            target: target.into(),
            build,
            image,
            hash,
            log,
        }
    }
}

impl fmt::Debug for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifact")
            .field("backend", &self.backend)
            .field("target", &self.target)
            .field("build", &self.build)
            .field("bytes", &self.image.len())
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}
