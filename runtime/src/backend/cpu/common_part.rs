//! The part of a unit that does not depend on the kernel: the detector of check builds, and what switches between threads.
//!
//! Compiling it takes up to three times as long as compiling most kernels. So it is compiled once for a compiler and its
//! flags, kept in the user's cache, and linked with the kernel's part (`KILN_CPU_PART` in `kiln_cpu.h`).

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use kiln_spec::hash::{Hash, Hasher};
use kiln_spec::prelude::{CPU_PRELUDE, prelude_hash};

use crate::compile_process::{self, Built};
use crate::compiler::{BuildKind, CompileRequest};
use crate::include_folder::IncludeFolder;

use super::toolchain::Toolchain;

/// The flag that leaves the common part out of a unit.
pub(super) const KERNEL_PART: &str = "-DKILN_CPU_PART=1";

const OBJECT: &str = "common.o";
const OBJECT_HASH: &str = "common.o.hash";

/// How threads run, as the first line of a unit says it.
const LOOPS: &str = "#define KILN_CPU_FIBERS 0\n";
const FIBERS: &str = "#define KILN_CPU_FIBERS 1\n";

/// The common parts that a compiler has made or found; none if one could not be made.
#[derive(Debug, Default)]
pub(super) struct CommonParts(Mutex<HashMap<Hash, Option<PathBuf>>>);

/// What a common part is compiled from and with.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommonPart<'a> {
    pub request: &'a CompileRequest,
    pub toolchain: &'a Toolchain,
    pub include: &'a Path,
    pub flags: &'a [String],
}

impl CommonParts {
    /// The object to link with a request's unit, which must be compiled with [`KERNEL_PART`]. `None` if the unit must be
    /// compiled whole: there is nothing to share, its headers are older than the parts, or the object cannot be made.
    pub fn object(&self, part: CommonPart<'_>) -> Option<PathBuf> {
        let mode = part.mode()?;
        let prelude = part.prelude()?;
        let name = part.name(mode, prelude);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = known.entry(name).or_insert_with(|| part.folder(mode, name));
        Some(folder.as_ref()?.join(OBJECT))
    }
}

impl CommonPart<'_> {
    /// How the unit's threads run, if a unit of its kind has something to share.
    fn mode(&self) -> Option<&'static str> {
        let source = &self.request.source;
        let modes: &[&'static str] = match self.request.build {
            BuildKind::Check => &[LOOPS, FIBERS],
            BuildKind::Release => &[FIBERS],
            BuildKind::Sanitize => &[],
        };
        modes.iter().copied().find(|mode| source.contains(mode))
    }

    /// The hash of the headers, if they can be compiled in parts.
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
        let mut hasher = Hasher::new("common part");
        hasher
            .field(prelude.to_string().as_bytes())
            .field(mode.as_bytes())
            .field(self.toolchain.program.as_os_str().as_encoded_bytes())
            .field(self.toolchain.identity.to_string().as_bytes());
        for flag in self.flags {
            hasher.field(flag.as_bytes());
        }
        hasher.finish()
    }

    /// The folder with the object. An error is not told: the unit, compiled whole, meets it again.
    fn folder(&self, mode: &str, name: Hash) -> Option<PathBuf> {
        let write = |folder: &Path| {
            let object = self.compile(mode)?;
            fs::write(folder.join(OBJECT), &object)?;
            fs::write(folder.join(OBJECT_HASH), hash_of(&object).to_string())
        };
        let folder = IncludeFolder::filled(&name.to_string(), is_complete, write).ok()?;
        Some(folder.path().to_owned())
    }

    fn compile(&self, mode: &str) -> io::Result<Vec<u8>> {
        let mut unit =
            CompileRequest::new("common part", format!("{mode}#include \"kiln_cpu.h\"\n"));
        unit.limits = self.request.limits;
        unit.scratch.clone_from(&self.request.scratch);
        let folder = compile_process::folder(&unit).map_err(io::Error::other)?;
        // Its lines are in no message.
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
        let (object, _) =
            compile_process::run(&mut command, &unit, &folder, built).map_err(io::Error::other)?;
        Ok(object)
    }
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
                toolchain: &toolchain,
                include: include.path(),
                flags,
            };
            parts.object(part).is_some()
        };
        let flags = ["-std=c++20".into(), "-fPIC".into()];
        assert!(is_split(FIBERS, BuildKind::Release, &flags));
        assert!(!is_split(LOOPS, BuildKind::Release, &flags));
        assert!(!is_split(FIBERS, BuildKind::Sanitize, &flags));
        assert!(!is_split("int x;\n", BuildKind::Check, &flags));
        // An option that no compiler has: the object cannot be made.
        let flags = ["--no-such-option".into()];
        assert!(!is_split(FIBERS, BuildKind::Release, &flags));
    }
}
