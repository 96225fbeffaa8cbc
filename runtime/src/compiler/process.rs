//! Runs one compile with a C++ compiler as a child process with limits, in a separate folder. Errors contain the
//! options and the log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::compiler::child::run_limited;
use crate::compiler::end::NoVerdict;
use crate::compiler::log;
use crate::compiler::{CompileError, CompileLimits, CompileRequest};
use crate::supervise::Ended;

/// Environment variables that would change the include paths or options of a compiler. They are removed, because the
/// result of a compile must not depend on them.
const CLEARED: [&str; 8] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "SOURCE_DATE_EPOCH",
];

/// The names of the source file and the image file in the folder of a compile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Built {
    /// The source file, which is written before the compile.
    pub source: &'static str,
    /// The image file, which the compiler writes.
    pub image: &'static str,
}

/// Creates a temporary folder for one compile.
pub(crate) fn folder(request: &CompileRequest) -> Result<TempDir, CompileError> {
    let mut named = tempfile::Builder::new();
    named.prefix("kiln-compile-");
    let folder = match &request.scratch {
        Some(scratch) => named.tempdir_in(scratch),
        None => named.tempdir(),
    };
    folder.map_err(|error| CompileError::io("making a folder", error))
}

/// Writes the source into the folder of a compile and runs the compiler there. Returns the image and the log.
pub(crate) fn run(
    command: &mut Command,
    request: &CompileRequest,
    folder: &TempDir,
    built: Built,
) -> Result<(Vec<u8>, String), CompileError> {
    let failed = |what| move |error| CompileError::io(what, error);
    let folder = folder.path();
    fs::write(folder.join(built.source), &request.source).map_err(failed("writing the source"))?;
    command.current_dir(folder).env("TMPDIR", folder);
    clear_environment(command);
    let (ended, log) =
        run_limited(command, &request.limits).map_err(failed("running the compiler"))?;
    if !ended.succeeded() {
        return Err(rejected(request, command, &ended, log));
    }
    let image = fs::read(folder.join(built.image)).map_err(failed("reading what was compiled"))?;
    Ok((image, log))
}

/// The folders in which a compiler searches for headers, in order; empty if the compiler does not list them.
pub(crate) fn header_folders(program: &Path) -> Vec<PathBuf> {
    let mut command = Command::new(program);
    command.args(["-E", "-v", "-x", "c++", "/dev/null"]);
    clear_environment(&mut command);
    let listed = run_limited(&command, &CompileLimits::default());
    let text = listed.map_or_else(|_| String::new(), |(_, text)| text);
    let list = text
        .lines()
        .skip_while(|line| !line.starts_with("#include <...> search starts here"));
    list.skip(1)
        .take_while(|line| line.starts_with(' '))
        .map(|line| PathBuf::from(line.trim()))
        .collect()
}

fn clear_environment(command: &mut Command) {
    command.env("LC_ALL", "C");
    for name in CLEARED {
        command.env_remove(name);
    }
}

/// The error of a compile that did not succeed.
fn rejected(
    request: &CompileRequest,
    command: &Command,
    ended: &Ended,
    log: String,
) -> CompileError {
    let name = request.name.clone();
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let options = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let Ended::Exited(status) = ended else {
        let deadline = request.limits.deadline;
        return CompileError::TimedOut {
            name,
            options,
            deadline,
            log,
        };
    };
    if ran_out_of_memory(&log) {
        let memory_bytes = request.limits.memory_bytes;
        return CompileError::OutOfMemory {
            name,
            options,
            memory_bytes,
            log,
        };
    }
    match NoVerdict::of(*status, &log) {
        Some(NoVerdict { how, crashed }) => CompileError::Lost {
            name,
            options,
            how,
            crashed,
            log,
        },
        None => match log::absent_header(&log) {
            Some(missing) => CompileError::missing_header(missing, name, log),
            None => CompileError::Failed { name, options, log },
        },
    }
}

/// Whether the log states that the compiler ran out of memory. Compilers have no exit code for this, only messages.
fn ran_out_of_memory(log: &str) -> bool {
    let words = [
        "out of memory",
        "memory exhausted",
        "bad_alloc",
        "Cannot allocate memory",
    ];
    words.iter().any(|text| log.contains(text))
}
