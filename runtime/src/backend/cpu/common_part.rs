//! The part of a translation unit that does not depend on the kernel: the access checks of check builds, and the code
//! that switches between threads.
//!
//! Compiling this part takes up to three times as long as compiling most kernels. It is therefore compiled once per
//! compiler and flags, stored in the user's cache, and linked with the kernel's part (`KILN_CPU_PART` in `kiln_cpu.h`).

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kiln_spec::hash::{Hash, Hasher};
use kiln_spec::prelude::{CPU_PRELUDE, prelude_hash};

use crate::compiler::include_folder::IncludeFolder;
use crate::compiler::process::{self, Built};
use crate::compiler::{BuildKind, CompileError, CompileRequest};

use super::toolchain::Toolchain;

/// The flag that leaves the common part out of a translation unit.
pub(super) const KERNEL_PART: &str = "-DKILN_CPU_PART=1";

const OBJECT: &str = "common.o";
const OBJECT_HASH: &str = "common.o.hash";

/// The lines of a translation unit that determine how its threads run: in loops, or as coroutines (fibers).
const LOOPS: &str = "#define KILN_CPU_FIBERS 0\n";
const FIBERS: &str = "#define KILN_CPU_FIBERS 1\n";

/// The common parts that this process has compiled or found for a compiler.
#[derive(Debug, Default)]
pub(super) struct CommonParts(Mutex<HashMap<Hash, Arc<Mutex<PartState>>>>);

/// The state of one common part.
#[derive(Debug, Default)]
enum PartState {
    #[default]
    Unknown,
    /// The object is in this file.
    Made(PathBuf),
    /// The compiler rejected the common part.
    Refused,
}

/// The inputs of compiling a common part.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommonPart<'a> {
    pub request: &'a CompileRequest,
    /// The target that the flags stand for on this machine. `-march=native` stands for a different processor on each
    /// machine.
    pub target: &'a str,
    pub toolchain: &'a Toolchain,
    pub include: &'a Path,
    pub flags: &'a [String],
}

impl CommonParts {
    /// The object to link with the translation unit of a request. If there is one, that unit must be compiled with
    /// [`KERNEL_PART`]. `None` if the translation unit must be compiled as a whole. This is the case if a unit of its kind has no
    /// common part, if its headers are from a version of Kiln without common parts, or if the compiler rejects the
    /// common part.
    ///
    /// # Errors
    /// If the compiler was killed or a file operation failed. Such an error does not mean that the source is wrong.
    pub fn object(&self, part: CommonPart<'_>) -> Result<Option<PathBuf>, CompileError> {
        let (Some(mode), Some(prelude)) = (part.mode(), part.prelude()) else {
            return Ok(None);
        };
        let name = part.name(mode, prelude);
        let state = locked(&self.0).entry(name).or_default().clone();
        // Only this part's lock is held while the part is compiled, so other threads can use other parts.
        let mut state = locked(&state);
        // The cache can be deleted while a program runs.
        if matches!(&*state, PartState::Made(object) if !object.exists()) {
            *state = PartState::Unknown;
        }
        if matches!(*state, PartState::Unknown) {
            *state = part.make(mode, name)?;
        }
        Ok(match &*state {
            PartState::Made(object) => Some(object.clone()),
            PartState::Unknown | PartState::Refused => None,
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CommonPart<'_> {
    /// The line that determines how the threads run; `None` if a translation unit of this kind has no common part.
    fn mode(&self) -> Option<&'static str> {
        let source = &self.request.source;
        let modes: &[&'static str] = match self.request.build {
            BuildKind::Check => &[LOOPS, FIBERS],
            BuildKind::Release => &[FIBERS],
            BuildKind::Sanitize => &[],
        };
        modes.iter().copied().find(|mode| source.contains(mode))
    }

    /// The hash of the headers; `None` if they cannot be compiled in parts.
    fn prelude(&self) -> Option<Hash> {
        let has_parts =
            |name: &str, text: &str| name == "kiln_cpu.h" && text.contains("KILN_CPU_PART");
        match &self.request.recipe {
            None => Some(prelude_hash(CPU_PRELUDE)),
            Some(recipe) => {
                let mut headers = recipe.headers().iter();
                let able = headers.any(|(name, text)| has_parts(name, text));
                able.then(|| recipe.prelude_hash())
            }
        }
    }

    fn name(&self, mode: &str, prelude: Hash) -> Hash {
        // The number is the version of the code in `compile`. Increase it whenever a change of `compile` changes its
        // result.
        let mut hasher = Hasher::new("common part 1");
        hasher
            .field(prelude.to_string().as_bytes())
            .field(self.target.as_bytes())
            .field(mode.as_bytes())
            .field(self.toolchain.program.as_os_str().as_encoded_bytes())
            .field(self.toolchain.identity.to_string().as_bytes());
        for flag in self.flags {
            hasher.field(flag.as_bytes());
        }
        hasher.finish()
    }

    /// Finds the object in the cache, or compiles it.
    fn make(&self, mode: &str, name: Hash) -> Result<PartState, CompileError> {
        // Compile only once, even if the cache cannot be written and the object is written to a temporary folder.
        let compiled = OnceCell::new();
        let write = |folder: &Path| {
            let object = compiled.get_or_init(|| self.compile(mode));
            let object = object
                .as_ref()
                .map_err(|error| io::Error::other(error.to_string()))?;
            fs::write(folder.join(OBJECT), object)?;
            fs::write(folder.join(OBJECT_HASH), hash_of(object).to_string())
        };
        let kept = IncludeFolder::filled(&name.to_string(), is_complete, write);
        match (kept, compiled.into_inner()) {
            (Ok(folder), _) => Ok(PartState::Made(folder.path().join(OBJECT))),
            (Err(_), Some(Err(error))) if judges_nothing(&error) => Err(error),
            // Compiling the whole translation unit will report the same error.
            (Err(_), Some(Err(_))) => Ok(PartState::Refused),
            (Err(error), _) => Err(CompileError::io("keeping a compiled part", error)),
        }
    }

    fn compile(&self, mode: &str) -> Result<Vec<u8>, CompileError> {
        let source = format!("{mode}#include \"kiln_cpu.h\"\n");
        let mut unit = CompileRequest::new(&self.request.name, source);
        unit.limits = self.request.limits;
        unit.scratch.clone_from(&self.request.scratch);
        let folder = process::folder(&unit)?;
        // The common part's lines never appear in a message, so it needs no debug information.
        let for_compiling = |flag: &&String| *flag != "-shared" && !flag.starts_with("-Wl,");
        let mut command = Command::new(&self.toolchain.program);
        command
            .args(self.flags.iter().filter(for_compiling))
            .args(["-g0", "-DKILN_CPU_PART=2", "-I"])
            .arg(self.include)
            .args(["-c", "-o", OBJECT, "common.cpp"]);
        let built = Built {
            source: "common.cpp",
            image: OBJECT,
        };
        let (object, _) = process::run(&mut command, &unit, &folder, built)?;
        Ok(object)
    }
}

/// Whether an error says nothing about the source, because the compiler was killed or a file operation failed.
fn judges_nothing(error: &CompileError) -> bool {
    matches!(
        error,
        CompileError::Lost { crashed: false, .. } | CompileError::Io { .. }
    )
}

fn hash_of(object: &[u8]) -> Hash {
    Hash::of("common part's object", object)
}

fn is_complete(folder: &Path) -> bool {
    let object = fs::read(folder.join(OBJECT));
    let hash = fs::read_to_string(folder.join(OBJECT_HASH));
    matches!((object, hash), (Ok(object), Ok(hash)) if hash_of(&object).to_string() == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_object_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_complete(folder.path()));
        fs::write(folder.path().join(OBJECT), b"an object").unwrap();
        let hash = hash_of(b"an object").to_string();
        fs::write(folder.path().join(OBJECT_HASH), hash).unwrap();
        assert!(is_complete(folder.path()));
        fs::write(folder.path().join(OBJECT), b"an obj").unwrap();
        assert!(!is_complete(folder.path()));
    }

    #[test]
    fn units_with_nothing_to_share_are_compiled_whole() {
        let toolchain = Toolchain::find().unwrap();
        let include = IncludeFolder::open(CPU_PRELUDE).unwrap();
        let parts = CommonParts::default();
        let is_split = |source: &str, build, flags: &[String]| {
            let request = CompileRequest::new("k", source).with_build(build);
            let part = CommonPart {
                request: &request,
                target: "a test's",
                toolchain: &toolchain,
                include: include.path(),
                flags,
            };
            parts.object(part).unwrap().is_some()
        };
        let flags = ["-std=c++20".into(), "-fPIC".into()];
        assert!(is_split(FIBERS, BuildKind::Release, &flags));
        assert!(!is_split(LOOPS, BuildKind::Release, &flags));
        assert!(!is_split(FIBERS, BuildKind::Sanitize, &flags));
        assert!(!is_split("int x;\n", BuildKind::Check, &flags));
        // No compiler has this option, so the object cannot be compiled.
        let flags = ["--no-such-option".into()];
        assert!(!is_split(FIBERS, BuildKind::Release, &flags));
    }

    #[test]
    fn another_processor_has_an_object_of_its_own() {
        let toolchain = Toolchain::find().unwrap();
        let request = CompileRequest::new("k", FIBERS);
        let name = |target, flag: &str| {
            let part = CommonPart {
                request: &request,
                target,
                toolchain: &toolchain,
                include: Path::new("include"),
                flags: &[flag.to_owned()],
            };
            part.name(FIBERS, prelude_hash(CPU_PRELUDE))
        };
        let here = name("native-1", "-march=native");
        assert_eq!(here, name("native-1", "-march=native"));
        assert_ne!(here, name("native-2", "-march=native"));
        assert_ne!(here, name("native-1", "-march=x86-64-v3"));
    }

    #[test]
    fn a_compiler_that_is_killed_from_outside_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("asked");
        let program = folder.path().join("compiler");
        let script = format!("#!/bin/sh\necho >> {}\nkill -9 $$\n", asked.display());
        fs::write(&program, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&program, mode).unwrap();
        let toolchain = Toolchain {
            program,
            ..Toolchain::find().unwrap()
        };
        let request = CompileRequest::new("k", FIBERS);
        let parts = CommonParts::default();
        for times in 1..=2 {
            let part = CommonPart {
                request: &request,
                target: "a test's",
                toolchain: &toolchain,
                include: folder.path(),
                flags: &[],
            };
            let error = parts.object(part).unwrap_err();
            assert!(matches!(error, CompileError::Lost { .. }), "{error}");
            // The object is not compiled again for the temporary folder.
            assert_eq!(fs::read(&asked).unwrap().len(), times);
        }
    }
}
