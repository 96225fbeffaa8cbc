//! The [`Compiler`] trait: from one generated source text to an [`Artifact`] that a device loads.

pub mod artifacts;
pub(crate) mod child;
pub mod compile_only;
pub(crate) mod cxx;
pub(crate) mod dialect;
pub(crate) mod end;
pub(crate) mod error;
mod in_workspace;
pub(crate) mod include_folder;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod process;
pub mod recipe;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kiln_spec::{Backend, Hash};

pub use crate::compiler::error::{CompileError, is_of_a_crash};
pub use crate::compiler::in_workspace::in_workspace;

use crate::compiler::include_folder::IncludeFolder;
use crate::compiler::recipe::Recipe;

/// A compiler for one target.
pub trait Compiler: Send + Sync + fmt::Debug {
    /// Its name and version, which are part of every tuning key.
    fn identity(&self) -> &CompilerIdentity;

    /// The options of every compile of this kind, in order. They are part of every tuning key.
    fn flags(&self, build: BuildKind) -> Vec<String>;

    /// The target that it compiles for: `sm_89`, `gfx1151`, `x86-64-v3`, `native:…`.
    fn target_arch(&self) -> &str;

    /// Whether its artifacts may be cached between processes. Those of scripted compilers in tests are not.
    fn artifacts_are_kept(&self) -> bool {
        true
    }

    /// The library with which it compiles inside this process, where no limit can interrupt it; `None` for a compiler
    /// that runs as a separate process.
    fn library(&self) -> Option<&Path> {
        None
    }

    /// Compiles one source text. Blocks; may be called from many threads at once.
    ///
    /// # Errors
    /// See [`CompileError`]; it contains the options and the full log.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError>;

    /// The environment variables that a process needs at its start to load sanitized builds. The first finding ends
    /// that process with exit code 86.
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

/// Name and version of a compiler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CompilerIdentity {
    /// Its name: `clang++`, `g++`, `nvrtc`.
    pub name: String,
    /// Its version: `19.1.7`.
    pub version: String,
    /// Distinguishes two builds of one version: the vendor's version line, a library's hash.
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
    /// The fast build, which is timed and shipped.
    Release,
    /// Checked in process: every load and store is checked for races and bounds, divergent barriers are faults,
    /// and blocks and threads run in the order that the launch asks for.
    Check,
    /// As `Check`, with the sanitizers of the host compiler; loads only into a process started for it.
    Sanitize,
}

/// One source text to compile.
#[derive(Clone, Debug)]
pub struct CompileRequest {
    /// The whole generated translation unit.
    pub source: String,
    /// A name for messages: usually the entry's symbol.
    pub name: String,
    /// Options after the compiler's own.
    pub options: Vec<String>,
    /// The purpose of the build.
    pub build: BuildKind,
    /// The resources that the compiler may use.
    pub limits: CompileLimits,
    /// An existing folder for the compiler's own files; the system's temporary folder if there is none.
    pub scratch: Option<PathBuf>,
    /// Headers and flags that replace the compiler's own, for a saved unit.
    pub recipe: Option<Arc<Recipe>>,
}

impl CompileRequest {
    /// A release build within the usual limits.
    pub fn new(name: &str, source: impl Into<String>) -> CompileRequest {
        CompileRequest {
            source: source.into(),
            name: name.into(),
            options: Vec::new(),
            build: BuildKind::Release,
            limits: CompileLimits::default(),
            scratch: None,
            recipe: None,
        }
    }

    /// The flags that replace the compiler's own, if there are any.
    pub(crate) fn flags(&self) -> Option<&[String]> {
        self.recipe.as_ref()?.flags.as_deref()
    }

    /// The folder of the headers that replace the compiler's own, if there are any.
    pub(crate) fn include_folder(&self) -> Result<Option<IncludeFolder>, CompileError> {
        let recipe = self.recipe.as_ref();
        recipe.map(|recipe| recipe.include_folder()).transpose()
    }

    /// The same request for another kind of build.
    pub fn with_build(mut self, build: BuildKind) -> CompileRequest {
        self.build = build;
        self
    }
}

/// The limits of one compile; beyond them it is killed with all its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Wall time.
    pub deadline: Duration,
    /// Address space of each process, in bytes.
    pub memory_bytes: u64,
}

impl Default for CompileLimits {
    fn default() -> Self {
        CompileLimits {
            deadline: Duration::from_secs(60),
            memory_bytes: 4 << 30,
        }
    }
}

/// A compiled translation unit, which devices load, caches store and programs embed.
#[derive(Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The backend that it is for.
    pub backend: Backend,
    /// The target that it was compiled for.
    pub target: String,
    /// The purpose of the build.
    pub build: BuildKind,
    /// The image: shared object, cubin or code object.
    pub image: Arc<[u8]>,
    /// Hash of the image.
    pub hash: Hash,
    /// The compiler's log, including warnings.
    pub log: String,
}

impl Artifact {
    /// An artifact of an image; computes its hash.
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
