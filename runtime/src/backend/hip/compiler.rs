//! The compiler for AMD GPUs that uses clang, run with limits.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use kiln_spec::codegen::Target;

use crate::compiler::include_folder::IncludeFolder;
use crate::compiler::process::{self, Built};
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};

use super::clang::Clang;
use super::code_object;

/// clang++ as a compiler for one architecture of AMD GPUs. It compiles to code objects.
pub struct HipCompiler {
    clang: Clang,
    arch: String,
    header_folders: OnceLock<Vec<PathBuf>>,
}

/// Options of clang. They prevent clang from searching for parts of ROCm: device libraries, headers and the bundler.
const OWN_OPTIONS: &[&str] = &[
    "-x",
    "hip",
    "--cuda-device-only",
    "-nogpulib",
    "-nogpuinc",
    "--no-gpu-bundle-output",
];

impl HipCompiler {
    /// The compiler for an architecture, which has the name that the driver uses, such as `gfx1151` or
    /// `gfx90a:sramecc+:xnack-`.
    ///
    /// `KILN_HIP_CLANG` selects the clang++. If it is not set, the clang++ of ROCm is used (`rocm.rs` lists
    /// the folders), or else the newest clang++ in the folders of `PATH`.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if no clang++ supports the architecture, or if it has no lld.
    pub fn new(arch: &str) -> Result<HipCompiler, CompileError> {
        HipCompiler::of(Clang::find()?, arch)
    }

    /// Like [`Self::new`], but uses the clang++ with this path or program name.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn at(program: &Path, arch: &str) -> Result<HipCompiler, CompileError> {
        HipCompiler::of(Clang::at(program)?, arch)
    }

    fn of(clang: Clang, arch: &str) -> Result<HipCompiler, CompileError> {
        clang.knows(arch).map_err(|known| CompileError::NotFound {
            what: format!("a compiler for {arch}"),
            looked: format!("`{}` compiles for {known}", clang.program.display()),
            help: "install a newer clang, or set KILN_HIP_CLANG to one".into(),
        })?;
        Ok(HipCompiler {
            clang,
            arch: arch.into(),
            header_folders: OnceLock::new(),
        })
    }

    /// The path of the clang++.
    pub fn program(&self) -> &Path {
        &self.clang.program
    }

    /// The complete command that compiles a request.
    fn command(&self, request: &CompileRequest, include: &IncludeFolder) -> Command {
        let own = || self.flags(request.build);
        let mut command = Command::new(&self.clang.program);
        command
            .args(request.flags().map_or_else(own, <[String]>::to_vec))
            .arg("-I")
            .arg(include.path())
            .args(&request.options)
            .args(["-o", "kernel.co", "kernel.hip"]);
        command
    }
}

impl Compiler for HipCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.clang.identity
    }

    fn flags(&self, _: BuildKind) -> Vec<String> {
        code_object::flags(OWN_OPTIONS, &self.arch)
    }

    fn target_arch(&self) -> &str {
        &self.arch
    }

    fn header_folders(&self) -> Vec<PathBuf> {
        let folders = &self.header_folders;
        folders
            .get_or_init(|| process::header_folders(&self.clang.program))
            .clone()
    }

    /// The log of the artifact contains clang's remarks on the registers, spills, scratch and shared memory of every
    /// kernel.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        code_object::check_build(request, &self.arch)?;
        let folder = process::folder(request)?;
        let built = Built {
            source: "kernel.hip",
            image: "kernel.co",
        };
        let include = request.include_folder(Target::Hip.prelude())?;
        let mut command = self.command(request, &include);
        let (image, log) = process::run(&mut command, request, &folder, built)?;
        code_object::artifact(self, "the compiler", request, image, log)
    }
}

impl fmt::Debug for HipCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HipCompiler")
            .field("program", &self.clang.program)
            .field("identity", self.identity())
            .field("arch", &self.arch)
            .finish_non_exhaustive()
    }
}
