//! Finds the host's C++ compilers and selects one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::compiler::child::output_of;
use crate::compiler::cxx::{Family, candidates, identify, major};
use crate::compiler::{CompileError, CompilerIdentity};

/// The oldest version that has all options that Kiln passes.
const OLDEST_CLANG_THAT_WORKS: u32 = 18;

/// The oldest versions with which the prelude is tested.
const OLDEST_CLANG: u32 = 19;
const OLDEST_GCC: u32 = 12;

/// Programs that users put before a compiler (`ccache g++`), so that its results are cached or distributed. Kiln runs
/// the compiler without them, because it has its own cache.
const WRAPPERS: &[&str] = &[
    "ccache",
    "sccache",
    "cachepot",
    "buildcache",
    "distcc",
    "icecc",
];

/// The compiler in a value of `KILN_CXX`, without a wrapper.
fn without_wrapper(value: &OsStr) -> PathBuf {
    let text = value.to_string_lossy();
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [wrapper, compiler] = words[..] {
        let name = Path::new(wrapper).file_name();
        if name.is_some_and(|name| WRAPPERS.iter().any(|known| name == *known)) {
            return compiler.into();
        }
    }
    value.into()
}

/// An installed C++ compiler.
#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    /// The path of the compiler.
    pub program: PathBuf,
    /// The family of the compiler.
    pub family: Family,
    /// The name and version of the compiler.
    pub identity: CompilerIdentity,
}

impl Toolchain {
    /// The compiler to use: the one that `$KILN_CXX` specifies, else the newest clang++, else the newest g++.
    pub fn find() -> Result<Toolchain, CompileError> {
        if let Some(wanted) = std::env::var_os("KILN_CXX").filter(|value| !value.is_empty()) {
            return Toolchain::at(&without_wrapper(&wanted))?.checked();
        }
        Toolchain::installed()
            .into_iter()
            .next()
            .ok_or_else(|| CompileError::NotFound {
                what: "a C++ compiler".into(),
                looked: format!(
                    "clang++ {OLDEST_CLANG} or newer, g++ {OLDEST_GCC} or newer, on PATH"
                ),
                help: "install clang or g++, or set KILN_CXX to one".into(),
            })
    }

    /// The same compiler, if it is not too old.
    fn checked(self) -> Result<Toolchain, CompileError> {
        let oldest = match self.family {
            Family::Clang => OLDEST_CLANG_THAT_WORKS,
            Family::Gcc => OLDEST_GCC,
        };
        if major(&self.identity.version) >= oldest {
            return Ok(self);
        }
        Err(CompileError::NotFound {
            what: format!(
                "a usable version of the C++ compiler `{}`",
                self.program.display()
            ),
            looked: format!("it is {} {}", self.identity.name, self.identity.version),
            help: format!(
                "set KILN_CXX to clang++ {OLDEST_CLANG} or newer, or to g++ {OLDEST_GCC} or newer"
            ),
        })
    }

    /// The compiler with this path or program name.
    pub fn at(program: &Path) -> Result<Toolchain, CompileError> {
        let looked = |text: &str| CompileError::NotFound {
            what: format!("the C++ compiler `{}`", program.display()),
            looked: text.into(),
            help: "set KILN_CXX to clang++ or g++, as one program without arguments".into(),
        };
        let Some(text) = output_of(program.as_os_str(), &["--version"]) else {
            return Err(looked("it does not run"));
        };
        let (family, identity) =
            identify(&text).ok_or_else(|| looked("it is neither clang++ nor g++"))?;
        Ok(Toolchain {
            program: program.into(),
            family,
            identity,
        })
    }

    /// Every compiler in the folders of `PATH` that is new enough, in order of preference.
    pub fn installed() -> Vec<Toolchain> {
        let mut found: Vec<Toolchain> = Vec::new();
        for program in candidates() {
            let Ok(toolchain) = Toolchain::at(&program) else {
                continue;
            };
            let oldest = match toolchain.family {
                Family::Clang => OLDEST_CLANG,
                Family::Gcc => OLDEST_GCC,
            };
            let known = found
                .iter()
                .any(|other| other.identity == toolchain.identity);
            if !known && major(&toolchain.identity.version) >= oldest {
                found.push(toolchain);
            }
        }
        let rank = |t: &Toolchain| (t.family == Family::Clang, major(&t.identity.version));
        found.sort_by_key(|toolchain| std::cmp::Reverse(rank(toolchain)));
        found
    }

    /// The file of the address sanitizer's runtime; `None` if it is not installed.
    pub fn sanitizer_runtime(&self) -> Option<PathBuf> {
        let name = match self.family {
            Family::Clang => format!("libclang_rt.asan-{}.so", std::env::consts::ARCH),
            Family::Gcc => "libasan.so".into(),
        };
        let per_target = "libclang_rt.asan.so".to_string();
        [name, per_target].into_iter().find_map(|name| {
            let text = output_of(
                self.program.as_os_str(),
                &[&format!("-print-file-name={name}")],
            )?;
            let path = PathBuf::from(text.trim());
            // A compiler that does not find a file prints the name unchanged.
            path.is_absolute()
                .then(|| path.canonicalize().ok())
                .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_before_the_compiler_is_left_out() {
        let found = |value: &str| without_wrapper(OsStr::new(value));
        assert_eq!(found("ccache g++-14"), Path::new("g++-14"));
        assert_eq!(
            found("/usr/bin/sccache /opt/clang++"),
            Path::new("/opt/clang++")
        );
        // Arguments would change the results, so they are not accepted; a path may contain spaces.
        assert_eq!(found("g++ -m32"), Path::new("g++ -m32"));
        assert_eq!(found("ccache g++ -m32"), Path::new("ccache g++ -m32"));
        assert_eq!(found("/my tools/g++"), Path::new("/my tools/g++"));
    }
}
