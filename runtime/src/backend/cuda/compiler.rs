//! The compiler of CUDA devices: NVRTC, which compiles source text to a cubin for one architecture.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiln_spec::Backend;
use kiln_spec::codegen::Target;

use crate::compiler::include_folder::IncludeFolder;
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};
use crate::compiler::{log, manifest};

use super::ffi::{ImageKind, NvrtcOutput};
use super::headers;
use super::nvrtc::{self, NvrtcLibrary, WantedVersions};
use super::packages;

/// NVRTC's result codes (`nvrtcResult` of `nvrtc.h`).
const OUT_OF_MEMORY: i32 = 1;
const INVALID_OPTION: i32 = 5;
const COMPILATION: i32 = 6;
const BUILTIN_OPERATION_FAILURE: i32 = 7;

/// The first version of NVRTC with its own result cache. That cache loads the driver. Kiln disables it, because Kiln
/// has its own cache and compiles without a driver.
const KEEPS_RESULTS: (u32, u32) = (12, 9);

/// The first version of NVRTC that compiles for `sm_90a`.
const KNOWS_FEATURES_OF_HOPPER: (u32, u32) = (12, 0);

/// The option with which ptxas prints the registers, stack and shared memory of each kernel.
const VERBOSE: &str = "--ptxas-options=-v";

/// NVRTC as a compiler for one architecture.
///
/// NVRTC runs in this process. A deadline takes effect only with NVRTC 12.9 and later, and only between two steps of a
/// compile. A memory limit has no effect. For these reasons, `tune` compiles in separate processes.
pub struct NvrtcCompiler {
    library: Arc<NvrtcLibrary>,
    arch: String,
    kind: ImageKind,
    identity: CompilerIdentity,
}

impl NvrtcCompiler {
    /// Uses the first NVRTC that is found, for an architecture such as `sm_89`. It searches `KILN_NVRTC`, the wheel
    /// that `cargo xtask setup` installed in the workspace, `CUDA_PATH` and `CUDA_HOME`, and the system's loader. It
    /// needs no GPU and no driver.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if no NVRTC is found, if it is damaged, or if it does not support the architecture.
    pub fn new(arch: &str) -> Result<NvrtcCompiler, CompileError> {
        NvrtcCompiler::of(
            nvrtc::find(WantedVersions::default())?,
            arch,
            ImageKind::Cubin,
        )
    }

    /// Like [`Self::new`], but compiles to PTX, which simulated devices execute.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    #[cfg(feature = "sim")]
    pub fn to_ptx(arch: &str) -> Result<NvrtcCompiler, CompileError> {
        NvrtcCompiler::of(
            nvrtc::find(WantedVersions::default())?,
            arch,
            ImageKind::Ptx,
        )
    }

    /// Like [`Self::new`], but uses only an NVRTC whose images the driver can load. `driver` is the CUDA version that
    /// the driver supports, such as 13000 for CUDA 13.0. Within a major version, an older driver can load the images
    /// of a newer NVRTC. It cannot load images of a newer major version.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn for_driver(arch: &str, driver: i32) -> Result<NvrtcCompiler, CompileError> {
        let newest_major = u32::try_from(driver / 1000).ok();
        NvrtcCompiler::of(
            nvrtc::find(WantedVersions { newest_major })?,
            arch,
            ImageKind::Cubin,
        )
    }

    /// Like [`Self::new`], with the NVRTC at a path. If the path is a folder, the newest NVRTC below it is used.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn at(place: &Path, arch: &str) -> Result<NvrtcCompiler, CompileError> {
        NvrtcCompiler::of(nvrtc::at(place)?, arch, ImageKind::Cubin)
    }

    fn of(
        library: Arc<NvrtcLibrary>,
        arch: &str,
        kind: ImageKind,
    ) -> Result<NvrtcCompiler, CompileError> {
        let (major, minor) = library.version;
        check_arch(&library, arch)?;
        Ok(NvrtcCompiler {
            identity: CompilerIdentity {
                name: "nvrtc".into(),
                version: format!("{major}.{minor}"),
                build: library.build.clone(),
            },
            library,
            arch: arch.into(),
            kind,
        })
    }

    /// The folders of the CUDA headers, in order of search: those that NVRTC contains, then those that are installed with
    /// it. NVRTC may lack a header that an installed package has: 13.3 lacks `crt/mma.h`. The first call unpacks what
    /// NVRTC contains. So does a call after it was deleted.
    fn all_header_folders(&self) -> Result<Vec<PathBuf>, CompileError> {
        let installed = headers::folders(&self.library.file);
        if !self.library.nvrtc.bundles_headers {
            return Ok(installed);
        }
        let name = format!("nvrtc-{}", self.library.build);
        let unpack = |folder: &Path| {
            self.unpack(folder).map_err(io::Error::other)?;
            manifest::write(folder)
        };
        let bundled = IncludeFolder::filled(&name, manifest::holds, unpack)
            .map_err(|error| CompileError::io("unpacking NVRTC's headers", error))?;
        let bundled = [bundled.path().to_owned(), bundled.path().join("cccl")];
        Ok(bundled.into_iter().chain(installed).collect())
    }

    /// Makes NVRTC write its headers into a folder. NVRTC does this at the start of a compile whose options contain
    /// the folder.
    fn unpack(&self, folder: &Path) -> Result<(), CompileError> {
        let mut options = vec![format!("--gpu-architecture={}", self.arch)];
        options.extend(self.keeping_nothing());
        options.push(bundled(folder));
        let request = CompileRequest::new("headers", "#include <cuda_fp16.h>\n");
        let include = request.include_folder(Target::Cuda.prelude())?;
        let compiled = self.run(&request, &options, &include)?;
        if compiled.code == 0 {
            return Ok(());
        }
        Err(self.rejected(&request, options, compiled))
    }

    /// The architecture to compile for. For `sm_90` it is `sm_90a` if this NVRTC supports it, because a compile for
    /// `sm_90` rejects some instructions of GPUs of compute capability 9.0, such as `wgmma`. Code for `sm_90a` runs
    /// only on these GPUs, as does every cubin for `sm_90`.
    fn real_arch(&self) -> &str {
        match &*self.arch {
            "sm_90" if self.library.version >= KNOWS_FEATURES_OF_HOPPER => "sm_90a",
            arch => arch,
        }
    }

    /// The option that disables NVRTC's own cache, if it has one.
    fn keeping_nothing(&self) -> Option<String> {
        (self.library.version >= KEEPS_RESULTS).then(|| "--no-cache".into())
    }

    /// The complete list of options for a request.
    fn options(
        &self,
        request: &CompileRequest,
        include: &IncludeFolder,
    ) -> Result<Vec<String>, CompileError> {
        let own = || self.flags(request.build);
        let mut options = request.flags().map_or_else(own, <[String]>::to_vec);
        options.push(format!("-I{}", include.path().display()));
        options.extend(self.keeping_nothing());
        if request.source.contains("__int128") {
            options.push("--device-int128".into());
        }
        let folders = self.all_header_folders()?;
        options.extend(
            folders
                .iter()
                .map(|folder| format!("-I{}", folder.display())),
        );
        options.extend(request.options.iter().cloned());
        Ok(options)
    }

    fn run(
        &self,
        request: &CompileRequest,
        options: &[String],
        include: &IncludeFolder,
    ) -> Result<NvrtcOutput, CompileError> {
        let text = |what: &str, text: String| {
            CString::new(text).map_err(|_| CompileError::Failed {
                name: request.name.clone(),
                options: options.to_vec(),
                log: format!("error: {what} holds a zero byte\n"),
            })
        };
        let source = text("the source", request.source.clone())?;
        // NVRTC searches the folder of the source for includes. The source's name is therefore in a folder that is
        // searched anyway, and not in the current folder of the process.
        let name = include.path().join("unit.cu");
        let name = text("the path of the prelude", name.display().to_string())?;
        let list = options
            .iter()
            .map(|option| text("an option", option.clone()));
        let list = list.collect::<Result<Vec<_>, _>>()?;
        let (nvrtc, limits) = (&self.library.nvrtc, &request.limits);
        Ok(nvrtc.compile(&source, &name, &list, limits, self.kind))
    }

    /// The error of a source that NVRTC rejected, or of a header that is not installed.
    fn failed(&self, name: String, options: Vec<String>, log: String) -> CompileError {
        let library = &self.library;
        let unopened = log::unopened(&log);
        let missing =
            unopened.and_then(|one| packages::missing(&one, &library.file, library.version));
        match missing {
            Some(missing) => CompileError::missing_header(missing, name, log),
            None => CompileError::Failed { name, options, log },
        }
    }

    /// The error of a compile that did not succeed.
    fn rejected(
        &self,
        request: &CompileRequest,
        options: Vec<String>,
        compiled: NvrtcOutput,
    ) -> CompileError {
        let name = request.name.clone();
        let NvrtcOutput {
            code, cut, mut log, ..
        } = compiled;
        if cut {
            let deadline = request.limits.deadline;
            return CompileError::TimedOut {
                name,
                options,
                deadline,
                log,
            };
        }
        match code {
            OUT_OF_MEMORY => CompileError::OutOfMemory {
                name,
                options,
                memory_bytes: request.limits.memory_bytes,
                log,
            },
            BUILTIN_OPERATION_FAILURE => CompileError::NotFound {
                what: "NVRTC's library of built-in functions".into(),
                looked: format!("next to {}: {}", self.library.file.display(), log.trim()),
                help: "install NVRTC whole: libnvrtc-builtins.so belongs to it".into(),
            },
            COMPILATION | INVALID_OPTION if says_why(&log) => self.failed(name, options, log),
            _ => {
                let text = self.library.nvrtc.error_text(code);
                log += &format!("error: {text}\n");
                CompileError::Failed { name, options, log }
            }
        }
    }
}

/// The option with which NVRTC writes its headers into a folder.
fn bundled(folder: &Path) -> String {
    format!("--use-bundled-headers={}", folder.display())
}

/// Checks that an NVRTC supports an architecture.
fn check_arch(library: &NvrtcLibrary, arch: &str) -> Result<(), CompileError> {
    let (major, minor) = library.version;
    let missing = |looked: String, help: &str| CompileError::NotFound {
        what: format!("an NVRTC for `{arch}`"),
        looked,
        help: help.into(),
    };
    let Some(number) = arch_number(arch) else {
        let looked = "it is not an architecture of an NVIDIA GPU".into();
        return Err(missing(looked, "name one as `sm_89`"));
    };
    let known = library.nvrtc.archs();
    if known.is_empty() || known.contains(&number) {
        return Ok(());
    }
    let known: Vec<_> = known.iter().map(|number| format!("sm_{number}")).collect();
    let (file, known) = (library.file.display(), known.join(", "));
    Err(missing(
        format!("{file} is NVRTC {major}.{minor}: {known}"),
        "set KILN_NVRTC to another version",
    ))
}

/// The number of an architecture, such as 89 for `sm_89` and 90 for `sm_90a`. `None` if the name has another form.
fn arch_number(arch: &str) -> Option<i32> {
    let digits = arch.strip_prefix("sm_")?;
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
    let plain = (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Whether a log contains an error message, in addition to what ptxas reports about kernels.
fn says_why(log: &str) -> bool {
    let words = ["error:", "Error:", "ptxas error", "ptxas fatal", "error  "];
    words.iter().any(|word| log.contains(word))
}

impl Compiler for NvrtcCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.identity
    }

    fn flags(&self, _: BuildKind) -> Vec<String> {
        let [arch, additional] = match self.kind {
            ImageKind::Cubin => [
                format!("--gpu-architecture={}", self.real_arch()),
                VERBOSE.into(),
            ],
            // A compile for a virtual architecture ends with PTX. The simulator's messages use the line information.
            ImageKind::Ptx => [
                format!(
                    "--gpu-architecture={}",
                    self.real_arch().replacen("sm_", "compute_", 1)
                ),
                "--generate-line-info".into(),
            ],
        };
        vec![
            arch,
            "--std=c++17".into(),
            // Without this option, NVRTC before 13.2 treats the body of a generic lambda as host code and rejects it.
            "--device-as-default-execution-space".into(),
            additional,
        ]
    }

    fn target_arch(&self) -> &str {
        &self.arch
    }

    fn library(&self) -> Option<&Path> {
        // `tune` loads this library into separate compile processes, and they produce only cubins.
        let makes_cubins = self.kind == ImageKind::Cubin;
        makes_cubins.then_some(&*self.library.file)
    }

    fn header_folders(&self) -> Vec<PathBuf> {
        // What NVRTC contains belongs to its identity.
        headers::folders(&self.library.file)
    }

    fn installs_headers(&self) -> Option<String> {
        let library = &self.library;
        Some(packages::install_all(&library.file, library.version))
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        if request.build != BuildKind::Release {
            return Err(CompileError::Unsupported {
                what: format!("a build for checking, for {}", self.arch),
                help: "check on the cpu device".into(),
            });
        }
        let include = request.include_folder(Target::Cuda.prelude())?;
        let options = self.options(request, &include)?;
        let compiled = self.run(request, &options, &include)?;
        if compiled.code != 0 {
            return Err(self.rejected(request, options, compiled));
        }
        Ok(Artifact::new(
            Backend::Cuda,
            &self.arch,
            request.build,
            compiled.image,
            compiled.log,
        ))
    }
}

impl fmt::Debug for NvrtcCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NvrtcCompiler")
            .field("library", &self.library.file)
            .field("identity", &self.identity)
            .field("arch", &self.arch)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_numbers_with_a_letter_at_most() {
        assert_eq!(arch_number("sm_89"), Some(89));
        assert_eq!(arch_number("sm_90a"), Some(90));
        assert_eq!(arch_number("sm_120f"), Some(120));
        for other in [
            "sm_",
            "sm_8",
            "sm_89b",
            "89",
            "compute_89",
            "gfx1151",
            "sm_-9",
            "sm_89 ",
        ] {
            assert_eq!(arch_number(other), None, "{other}");
        }
    }

    #[test]
    fn a_log_of_information_only_does_not_say_why() {
        let info = "ptxas info    : Compiling entry function 'error_sum' for 'sm_89'\n\
                    ptxas         .     0 bytes stack frame, 0 bytes spill stores\n";
        assert!(!says_why(info));
        assert!(says_why("k.cu(3): error: identifier \"x\" is undefined\n"));
        assert!(says_why(
            "k.cu(3): catastrophic error: cannot open source file\n"
        ));
        assert!(says_why(
            "ptxas error   : Entry function 'k' uses too much shared data\n"
        ));
    }
}
