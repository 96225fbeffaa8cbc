//! The part of a check build that does not depend on the kernel: the detector of races and accesses out of bounds.
//!
//! It takes three times as long to compile as most kernels, so it is compiled once for a compiler and its flags, kept in
//! the user's cache, and linked to the kernel's part (`KILN_CPU_PART` in `kiln_cpu.h`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// The common parts of one compiler, for both ways to run threads.
#[derive(Debug, Default)]
pub(super) struct CommonPart {
    loops: OnceLock<Option<IncludeFolder>>,
    fibers: OnceLock<Option<IncludeFolder>>,
}

impl CommonPart {
    /// The object to link with a request's unit, which must be compiled with [`KERNEL_PART`]. `None` if the unit must be
    /// compiled whole: it is not a check build, it brings headers of its own, or the object cannot be made.
    pub fn object(
        &self,
        request: &CompileRequest,
        toolchain: &Toolchain,
        include: &Path,
        flags: &[String],
    ) -> Option<PathBuf> {
        if request.build != BuildKind::Check || request.recipe.is_some() {
            return None;
        }
        let defines = |mode: &&str| request.source.contains(*mode);
        let (mode, kept) = [
            ("#define KILN_CPU_FIBERS 0\n", &self.loops),
            ("#define KILN_CPU_FIBERS 1\n", &self.fibers),
        ]
        .into_iter()
        .find(|(mode, _)| defines(mode))?;
        let folder = kept.get_or_init(|| {
            let mut unit =
                CompileRequest::new("the detector", format!("{mode}#include \"kiln_cpu.h\"\n"));
            unit.limits = request.limits;
            unit.scratch.clone_from(&request.scratch);
            folder_of(&unit, toolchain, include, flags)
        });
        Some(folder.as_ref()?.path().join(OBJECT))
    }
}

/// The folder with the object that a unit compiles to. An error is not told: the kernel's unit, compiled whole, meets it
/// again.
fn folder_of(
    unit: &CompileRequest,
    toolchain: &Toolchain,
    include: &Path,
    flags: &[String],
) -> Option<IncludeFolder> {
    let name = name_of(unit, toolchain, flags);
    let write = |folder: &Path| {
        let object = compiled(unit, toolchain, include, flags)?;
        fs::write(folder.join(OBJECT), &object)?;
        fs::write(folder.join(OBJECT_HASH), hash_of(&object).to_string())
    };
    IncludeFolder::filled(&name, is_complete, write).ok()
}

fn name_of(unit: &CompileRequest, toolchain: &Toolchain, flags: &[String]) -> String {
    let mut hasher = Hasher::new("common part");
    hasher
        .field(prelude_hash(CPU_PRELUDE).to_string().as_bytes())
        .field(unit.source.as_bytes())
        .field(toolchain.program.as_os_str().as_encoded_bytes())
        .field(toolchain.identity.to_string().as_bytes());
    for flag in flags {
        hasher.field(flag.as_bytes());
    }
    hasher.finish().to_string()
}

fn compiled(
    unit: &CompileRequest,
    toolchain: &Toolchain,
    include: &Path,
    flags: &[String],
) -> io::Result<Vec<u8>> {
    let folder = compile_process::folder(unit).map_err(io::Error::other)?;
    // Its lines are in no message.
    let for_linking = |flag: &&String| *flag != "-shared" && !flag.starts_with("-Wl,");
    let mut command = Command::new(&toolchain.program);
    command
        .args(flags.iter().filter(for_linking))
        .args(["-g0", "-DKILN_CPU_PART=2", "-I"])
        .arg(include)
        .args(["-c", "-o", OBJECT, "common.cpp"]);
    let built = Built {
        source: "common.cpp",
        image: OBJECT,
    };
    let (object, _) =
        compile_process::run(&mut command, unit, &folder, built).map_err(io::Error::other)?;
    Ok(object)
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
    fn only_check_builds_with_the_usual_headers_are_split() {
        let common = CommonPart::default();
        let toolchain = Toolchain::find().unwrap();
        let include = IncludeFolder::open(CPU_PRELUDE).unwrap();
        let object = |request: &CompileRequest| {
            common.object(request, &toolchain, include.path(), &["-O0".into()])
        };
        let source = "#define KILN_CPU_FIBERS 0\n#include \"kiln_cpu.h\"\n";
        let release = CompileRequest::new("k", source);
        assert_eq!(object(&release), None);
        assert_eq!(
            object(&release.clone().with_build(BuildKind::Sanitize)),
            None
        );
        let other = CompileRequest::new("k", "int x;\n").with_build(BuildKind::Check);
        assert_eq!(object(&other), None);
        // Without -fsanitize=thread there is nothing to split, so that the object cannot be made.
        assert_eq!(object(&release.with_build(BuildKind::Check)), None);
    }
}
