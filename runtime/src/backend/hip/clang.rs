//! Finds a clang that can compile for AMD GPUs.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::compiler::child::output_of;
use crate::compiler::cxx::{Family, candidates, identify, major};
use crate::compiler::{CompileError, CompilerIdentity};

use super::rocm;

/// The oldest version with which the prelude is tested.
pub(super) const OLDEST: u32 = 19;

/// The help if no suitable clang is found.
const INSTALL: &str = "install clang-22 and lld-22 (or 19), or set KILN_HIP_CLANG to a clang++";

/// A clang that can compile and link for AMD GPUs.
#[derive(Clone, Debug)]
pub(super) struct Clang {
    /// The path of the program.
    pub program: PathBuf,
    /// The name and version of the compiler.
    pub identity: CompilerIdentity,
}

/// The reason why a program is not a suitable clang.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unfit {
    /// The program cannot be run.
    Absent,
    /// The program is not clang.
    NotClang,
    /// The version of clang is below [`OLDEST`].
    TooOld(String),
    /// This clang was built without the AMDGPU target.
    NoTarget,
    /// This clang does not find lld, which links code objects.
    NoLinker(String),
}

impl Clang {
    /// Uses `$KILN_HIP_CLANG` if it is set. Otherwise finds the clang of ROCm, or else the newest clang in the folders
    /// of `PATH`.
    ///
    /// # Errors
    /// [`CompileError::NotFound`], with the reason for each program that was found.
    pub fn find() -> Result<Clang, CompileError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(wanted) = set("KILN_HIP_CLANG") {
            return Clang::at(Path::new(&wanted));
        }
        let roots = rocm::roots();
        let mut programs: Vec<PathBuf> = roots.iter().flat_map(|root| rocm::clangs(root)).collect();
        programs.extend(newest_first(candidates()));
        let mut unfit = Vec::new();
        for program in programs {
            match probe(&program) {
                Ok(clang) => return Ok(clang),
                Err(Unfit::Absent | Unfit::NotClang) => {}
                Err(why) => unfit.push((program, why)),
            }
        }
        Err(not_found(&unfit))
    }

    /// Uses the clang with this path or program name.
    ///
    /// # Errors
    /// [`CompileError::NotFound`], with the reason why the program is not suitable.
    pub fn at(program: &Path) -> Result<Clang, CompileError> {
        probe(program).map_err(|why| not_found(&[(program.into(), why)]))
    }

    /// Checks that this clang supports an architecture. The error lists the supported architectures.
    pub fn knows(&self, arch: &str) -> Result<(), UnknownArch> {
        let arguments = [
            "--target=amdgcn-amd-amdhsa",
            "-nogpulib",
            "--print-supported-cpus",
        ];
        let text = output_of(self.program.as_os_str(), &arguments).unwrap_or_default();
        let known: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("gfx"))
            .collect();
        // Features that are on or off follow after colons, as in gfx90a:sramecc+:xnack-.
        let processor = arch.split(':').next().unwrap_or(arch);
        // If a clang lists no architectures, only the first compile shows whether it supports this one.
        if known.is_empty() || known.contains(&processor) {
            return Ok(());
        }
        Err(UnknownArch {
            known: known.join(" "),
        })
    }
}

/// The error if a clang does not support an architecture.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{known}")]
pub(super) struct UnknownArch {
    /// The names of the architectures that the clang supports.
    pub known: String,
}

/// Queries the version and the targets of a program.
fn probe(program: &Path) -> Result<Clang, Unfit> {
    let ask = |arguments: &[&str]| output_of(program.as_os_str(), arguments);
    let text = ask(&["--version"]).ok_or(Unfit::Absent)?;
    let Some((Family::Clang, identity)) = identify(&text) else {
        return Err(Unfit::NotClang);
    };
    if major(&identity.version) < OLDEST {
        return Err(Unfit::TooOld(identity.version));
    }
    let targets = ask(&["--print-targets"]).unwrap_or_default();
    if !has_amdgcn(&targets) {
        return Err(Unfit::NoTarget);
    }
    // A clang that does not find a program prints the name unchanged.
    let linker = ask(&["-print-prog-name=lld"]).unwrap_or_default();
    if !Path::new(linker.trim()).is_absolute() {
        return Err(Unfit::NoLinker(identity.version));
    }
    Ok(Clang {
        program: program.into(),
        identity,
    })
}

/// Whether the output of `--print-targets` contains the target `amdgcn`.
fn has_amdgcn(targets: &str) -> bool {
    let mut words = targets
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    words.any(|word| word == "amdgcn")
}

/// The programs called clang, with the highest version first. A name without a version is last.
fn newest_first(programs: Vec<PathBuf>) -> Vec<PathBuf> {
    let rank = |program: &PathBuf| {
        let name = program.file_name()?.to_str()?.strip_prefix("clang++")?;
        Some(name.strip_prefix('-').map_or(0, major))
    };
    let mut ranked: Vec<(u32, PathBuf)> = programs
        .into_iter()
        .filter_map(|program| Some((rank(&program)?, program)))
        .collect();
    ranked.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    ranked.into_iter().map(|(_, program)| program).collect()
}

/// The error if no program is suitable. If a program lacks only its linker, the error reports that program, since it
/// is the easiest to fix.
fn not_found(unfit: &[(PathBuf, Unfit)]) -> CompileError {
    let lacks_linker = unfit.iter().find_map(|(program, why)| match why {
        Unfit::NoLinker(version) => Some((program, version)),
        _ => None,
    });
    if let Some((program, version)) = lacks_linker {
        let program = program.display();
        return CompileError::NotFound {
            what: format!("lld, the linker of `{program}` for AMD GPUs,"),
            looked: format!("`{program} -print-prog-name=lld`"),
            help: format!("install lld-{}", major(version)),
        };
    }
    let said: Vec<String> = unfit
        .iter()
        .map(|(program, why)| format!("`{}` {why}", program.display()))
        .collect();
    CompileError::NotFound {
        what: "a compiler for AMD GPUs".into(),
        looked: if said.is_empty() {
            let places = rocm::PLACES;
            format!("ROCm's clang++ in {places}, clang++ {OLDEST} or newer on PATH")
        } else {
            said.join("; ")
        },
        help: INSTALL.into(),
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unfit::Absent => f.write_str("does not run"),
            Unfit::NotClang => f.write_str("is not clang++"),
            Unfit::TooOld(version) => write!(f, "is version {version}, below {OLDEST}"),
            Unfit::NoTarget => f.write_str("was built without the AMDGPU target"),
            Unfit::NoLinker(_) => f.write_str("finds no lld"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A script that answers like a clang with this version, these targets and this linker.
    fn pretender(folder: &Path, version: &str, targets: &str, lld: &str) -> PathBuf {
        let program = folder.join("clang++");
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n--version) echo 'clang version {version}';;\n\
             --print-targets) echo '  Registered Targets:'; echo '    {targets} - some target';;\n\
             -print-prog-name=lld) echo '{lld}';;\n\
             *) printf 'Available CPUs for this target:\\n\\n\\tgfx1100\\n\\tgfx1151\\n';;\nesac\n"
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    fn said(program: &Path) -> String {
        Clang::at(program).unwrap_err().to_string()
    }

    #[test]
    fn each_thing_that_a_clang_can_lack_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |version, targets, lld| pretender(folder.path(), version, targets, lld);
        let fit = at("19.1.7 (ROCm)", "amdgcn", "/usr/lib/llvm-19/bin/lld");
        assert_eq!(Clang::at(&fit).unwrap().identity.version, "19.1.7");
        let text = said(&at("19.1.7", "amdgcn", "lld"));
        assert!(text.starts_with("lld, the linker of"), "{text}");
        assert!(text.ends_with("help: install lld-19"), "{text}");
        let text = said(&at("18.1.2", "amdgcn", "/bin/lld"));
        assert!(text.contains("is version 18.1.2, below 19"), "{text}");
        let text = said(&at("20.1.2", "aarch64", "/bin/lld"));
        assert!(text.contains("without the AMDGPU target"), "{text}");
        let text = said(Path::new("/nonexistent/clang++"));
        assert!(text.contains("does not run"), "{text}");
        assert!(text.contains("KILN_HIP_CLANG"), "{text}");
    }

    #[test]
    fn an_architecture_is_known_with_and_without_its_features() {
        let folder = tempfile::tempdir().unwrap();
        let clang = Clang::at(&pretender(folder.path(), "22.1.8", "amdgcn", "/bin/lld")).unwrap();
        assert_eq!(clang.knows("gfx1151"), Ok(()));
        assert_eq!(clang.knows("gfx1100:cumode+"), Ok(()));
        assert_eq!(
            clang.knows("gfx9999"),
            Err(UnknownArch {
                known: "gfx1100 gfx1151".into()
            })
        );
    }

    #[test]
    fn the_newest_clang_is_tried_first_and_the_plain_name_last() {
        let programs = ["/b/clang++", "/b/g++-13", "/b/clang++-19", "/b/clang++-22"];
        let sorted = newest_first(programs.map(PathBuf::from).into());
        let expected = ["/b/clang++-22", "/b/clang++-19", "/b/clang++"];
        assert_eq!(sorted, expected.map(PathBuf::from));
    }

    #[test]
    fn with_nothing_found_the_error_says_where_it_was_looked() {
        let text = not_found(&[]).to_string();
        assert!(text.contains("clang++ 19 or newer on PATH"), "{text}");
        let old = PathBuf::from("/usr/bin/clang++-14");
        let text = not_found(&[(old, Unfit::TooOld("14.0.6".into()))]).to_string();
        assert!(
            text.contains("`/usr/bin/clang++-14` is version 14.0.6"),
            "{text}"
        );
    }
}
