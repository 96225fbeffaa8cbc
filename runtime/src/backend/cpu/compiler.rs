//! The compiler of the cpu device, which is the host's C++ compiler, run with limits.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use kiln_spec::Backend;
use kiln_spec::prelude::CPU_PRELUDE;

use crate::compiler::cxx::Family;
use crate::compiler::include_folder::IncludeFolder;
use crate::compiler::process::{self, Built};
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};

use super::common_part::{CommonPart, CommonParts, KERNEL_PART};
use super::limits::{CpuOptions, CpuTarget};
use super::toolchain::Toolchain;

/// clang++ or g++ as a compiler for this processor or for a named instruction set.
pub struct CpuCompiler {
    toolchain: Toolchain,
    target: CpuTarget,
    target_name: String,
    stack_bytes: usize,
    common: CommonParts,
    sanitizing: OnceLock<Result<Sanitizing, CompileError>>,
    header_folders: OnceLock<Vec<PathBuf>>,
}

/// The compiler for sanitized builds, and the file of its sanitizer runtime.
#[derive(Clone, Debug)]
struct Sanitizing {
    toolchain: Toolchain,
    runtime: PathBuf,
}

impl CpuCompiler {
    /// Finds the compiler that `KILN_CXX` specifies, else the newest clang++, else the newest g++.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if no compiler is found.
    pub fn find(options: &CpuOptions) -> Result<CpuCompiler, CompileError> {
        CpuCompiler::of(Toolchain::find()?, options)
    }

    /// Uses the compiler with this path or program name.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if the program is neither clang++ nor g++.
    pub fn at(program: &Path, options: &CpuOptions) -> Result<CpuCompiler, CompileError> {
        CpuCompiler::of(Toolchain::at(program)?, options)
    }

    /// The paths of all installed compilers that are new enough, in order of preference.
    pub fn installed() -> Vec<PathBuf> {
        Toolchain::installed()
            .into_iter()
            .map(|toolchain| toolchain.program)
            .collect()
    }

    fn of(toolchain: Toolchain, options: &CpuOptions) -> Result<CpuCompiler, CompileError> {
        Ok(CpuCompiler {
            toolchain,
            target: options.target.clone(),
            target_name: options.target.name(),
            stack_bytes: options.usable_stack_bytes(),
            common: CommonParts::default(),
            sanitizing: OnceLock::new(),
            header_folders: OnceLock::new(),
        })
    }

    /// The path of the compiler.
    pub fn program(&self) -> &Path {
        &self.toolchain.program
    }

    /// The compiler for sanitized builds. It is this compiler if its sanitizer runtime is installed, else another
    /// installed compiler that has a runtime.
    fn sanitizing(&self) -> Result<&Sanitizing, CompileError> {
        let find = || {
            let others = std::iter::once(self.toolchain.clone()).chain(Toolchain::installed());
            let mut able = others.filter_map(|toolchain| {
                let runtime = toolchain.sanitizer_runtime()?;
                Some(Sanitizing { toolchain, runtime })
            });
            able.next().ok_or_else(|| CompileError::NotFound {
                what: "a compiler with its address sanitizer".into(),
                looked: "libasan.so of g++, libclang_rt.asan of clang++".into(),
                help: "install g++ or libclang-rt-dev".into(),
            })
        };
        self.sanitizing
            .get_or_init(find)
            .as_ref()
            .map_err(CompileError::clone)
    }

    /// The command that compiles a request.
    ///
    /// # Errors
    /// If the common part cannot be compiled or found.
    fn command(
        &self,
        toolchain: &Toolchain,
        request: &CompileRequest,
        folder: &Path,
        include: &IncludeFolder,
    ) -> Result<Command, CompileError> {
        let own = || self.flags_of(toolchain.family, request.build);
        let flags = request.flags().map_or_else(own, <[String]>::to_vec);
        let common = self.common.object(CommonPart {
            request,
            target: &self.target_name,
            toolchain,
            include: include.path(),
            flags: &flags,
        })?;
        let mut command = Command::new(&toolchain.program);
        command
            .args(flags)
            .args(common.as_ref().map(|_| KERNEL_PART))
            .args(self.frame_flags(toolchain.family, request))
            .arg("-I")
            .arg(include.path())
            .arg(format!("-ffile-prefix-map={}=.", folder.display()))
            .args(["-o", "kernel.so"])
            // The common part comes first, so that shared variables come last in memory: an overrun of a shared
            // variable must not reach the variables of the access checks.
            .args(common)
            .arg("kernel.cpp")
            .args(&request.options)
            .args(libraries(request.build));
        Ok(command)
    }

    /// Flags that reject kernels whose stack frames exceed the stack of a coroutine. Without the flags, such a kernel
    /// would overrun its stack. The flags are not needed if threads run on the stack of the executor, or if each stack
    /// has a guard page.
    fn frame_flags(&self, family: Family, request: &CompileRequest) -> Vec<String> {
        let fibers = request.source.contains("#define KILN_CPU_FIBERS 1");
        if !fibers || request.build != BuildKind::Release {
            return Vec::new();
        }
        // A quarter of the stack is reserved for functions that the kernel calls.
        let limit = format!("frame-larger-than={}", self.stack_bytes * 3 / 4);
        match family {
            Family::Clang => vec![format!("-W{limit}"), "-Werror=frame-larger-than".into()],
            Family::Gcc => vec![format!("-Werror={limit}")],
        }
    }

    fn flags_of(&self, family: Family, build: BuildKind) -> Vec<String> {
        let mut flags: Vec<String> = COMMON.iter().map(ToString::to_string).collect();
        flags.push(self.target.option());
        // Plain `char` is signed on every GPU and on x86-64, but not on aarch64.
        if cfg!(target_arch = "aarch64") {
            flags.push("-fsigned-char".into());
        }
        // By default, clang uses 32-byte registers even if the processor has 64-byte registers, and splits 64-byte
        // vectors.
        if cfg!(target_arch = "x86_64") && family == Family::Clang {
            flags.push("-mprefer-vector-width=512".into());
        }
        let (kind, family_flags) = match family {
            Family::Clang => (clang_kind_flags(build), CLANG),
            Family::Gcc => (gcc_kind_flags(build), GCC),
        };
        flags.extend(kind.iter().chain(family_flags).map(ToString::to_string));
        flags
    }
}

/// The flags of every build, with these effects:
///
/// - Symbols are hidden, because g++ would otherwise inline no kernel.
/// - Floating-point functions do not set errno, and operations do not trap. Otherwise, loops with maths or masks would
///   not be vectorised.
/// - Strict aliasing is off, because kernels read `float` as `float4`.
/// - Floating-point operations are contracted, as on a GPU.
const COMMON: &[&str] = &[
    "-std=c++20",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-strict-aliasing",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-Wl,-Bsymbolic",
    "-Wl,--build-id=none",
    "-Wno-unknown-pragmas",
];
/// Flags for clang++ only. Two of them turn off warnings that a user cannot act on: that a loop over threads was not
/// vectorised, and that `-march=native` selects an invalid combination of features, which clang 19 reports on some
/// virtual machines.
const CLANG: &[&str] = &[
    // With this option, the prelude's functions whose names state a rounding mode can turn contraction off with a
    // pragma.
    "-ffp-contract=fast-honor-pragmas",
    "-Wno-pass-failed",
    "-Wno-invalid-feature-combination",
];
/// Flags for g++ only:
///
/// - `-fno-ipa-reference`: g++ would not see that a function with a barrier lets other threads change shared variables,
///   and would move accesses to them over calls of the function.
/// - `-fno-threadsafe-statics`: the initialisation of a shared array of class type needs no lock. Kernels are not linked
///   with the library that has the lock.
const GCC: &[&str] = &[
    "-ffp-contract=fast",
    "-fno-ipa-reference",
    "-fno-threadsafe-statics",
];

const RELEASE: &[&str] = &["-O3", "-nostdlib"];
/// Flags of check builds with g++. The instrumentation of the thread sanitizer reports each access by calling the
/// prelude's own functions (`watch_access.h`). Optimisations that move or widen an access before it is instrumented are
/// off. They are off for clang too, which does not instrument accesses of more than 16 bytes.
const CHECK_GCC: &[&str] = &[
    "-O2",
    "-g1",
    "-DKILN_CPU_CHECK=1",
    "-nostdlib",
    "-fsanitize=thread",
    "-fno-optimize-sibling-calls",
    "-fno-tree-vectorize",
    "-fno-tree-loop-im",
    "-fno-tree-loop-if-convert",
    "-Wno-tsan",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
];
/// Flags of check builds with clang. Without `-tsan-instrument-read-before-write`, clang would not report the read in
/// `y[i] += x[i]`, which matters if `y` is an output that no thread has written. From version 22, clang merges equal calls at the ends of branches. A merged access
/// would have no line of its own, so this optimisation is off.
const CHECK_CLANG: &[&str] = &[
    "-O2",
    "-g1",
    "-DKILN_CPU_CHECK=1",
    "-nostdlib",
    "-fsanitize=thread",
    "-fno-optimize-sibling-calls",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-mllvm",
    "-tsan-distinguish-volatile=1",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-simplifycfg-sink-common=false",
];
/// Flags of sanitized builds with g++. The check `vptr` is off because it needs run-time type information, which is
/// also off.
const SANITIZE_GCC: &[&str] = &[
    "-O1",
    "-g1",
    "-DKILN_CPU_CHECK=1",
    "-fsanitize=address,undefined",
    "-fno-sanitize=vptr",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "--param=asan-use-after-return=0",
];
const SANITIZE_CLANG: &[&str] = &[
    "-O1",
    "-g1",
    "-DKILN_CPU_CHECK=1",
    "-fsanitize=address,undefined",
    "-fno-sanitize=vptr,function",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-fsanitize-address-use-after-return=never",
    "-shared-libasan",
];

fn gcc_kind_flags(build: BuildKind) -> &'static [&'static str] {
    match build {
        BuildKind::Release => RELEASE,
        BuildKind::Check => CHECK_GCC,
        BuildKind::Sanitize => SANITIZE_GCC,
    }
}

fn clang_kind_flags(build: BuildKind) -> &'static [&'static str] {
    match build {
        BuildKind::Release => RELEASE,
        BuildKind::Check => CHECK_CLANG,
        BuildKind::Sanitize => SANITIZE_CLANG,
    }
}

/// The libraries to link. Release and check builds (`-nostdlib`) link only these libraries, which takes a fraction of
/// the time that linking all standard libraries takes. Sanitizers add the standard libraries that they need.
fn libraries(build: BuildKind) -> &'static [&'static str] {
    match build {
        BuildKind::Sanitize => &["-lm"],
        _ => &["-lm", "-lc", "-lgcc"],
    }
}

impl Compiler for CpuCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.toolchain.identity
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        self.flags_of(self.toolchain.family, build)
    }

    fn target_arch(&self) -> &str {
        &self.target_name
    }

    fn header_folders(&self) -> Vec<PathBuf> {
        let folders = &self.header_folders;
        folders
            .get_or_init(|| process::header_folders(&self.toolchain.program))
            .clone()
    }

    /// If the sanitizer runtime of this compiler is not installed, sanitized builds use another compiler, and the log
    /// reports that.
    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let toolchain = match request.build {
            BuildKind::Sanitize => &self.sanitizing()?.toolchain,
            _ => &self.toolchain,
        };
        let folder = process::folder(request)?;
        let include = request.include_folder(CPU_PRELUDE)?;
        let mut command = self.command(toolchain, request, folder.path(), &include)?;
        let built = Built {
            source: "kernel.cpp",
            image: "kernel.so",
        };
        let (image, mut log) = process::run(&mut command, request, &folder, built)?;
        if toolchain.identity != self.toolchain.identity {
            log = format!("sanitized by {}\n{log}", toolchain.identity);
        }
        Ok(Artifact::new(
            Backend::Cpu,
            &self.target_name,
            request.build,
            image,
            log,
        ))
    }

    fn sanitizer_environment(&self) -> Result<Vec<(String, OsString)>, CompileError> {
        let runtime = self.sanitizing()?.runtime.clone();
        Ok(vec![
            ("LD_PRELOAD".into(), runtime.into()),
            (
                "ASAN_OPTIONS".into(),
                "detect_leaks=0:abort_on_error=0:exitcode=86".into(),
            ),
            (
                "UBSAN_OPTIONS".into(),
                "print_stacktrace=1:exitcode=86".into(),
            ),
        ])
    }
}

impl fmt::Debug for CpuCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuCompiler")
            .field("program", &self.toolchain.program)
            .field("identity", &self.toolchain.identity)
            .field("target", &self.target_name)
            .finish_non_exhaustive()
    }
}
