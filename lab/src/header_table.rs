//! The headers that compilers can include: part of `tune devices`.

use std::collections::BTreeMap;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::{CompileError, CompileRequest, Compiler};
use kiln_spec::Backend;
use kiln_spec::codegen::Target;
use rayon::prelude::*;
use serde::Serialize;

/// Headers that kernels of other projects include, with at least one of each of CUDA's packages and one of HIP. The
/// slowest come first, so that two threads compile all of them in little time.
const HEADERS: [&str; 8] = [
    "cub/block/block_reduce.cuh",
    "cooperative_groups.h",
    "cuda/std/limits",
    "mma.h",
    "cuda_fp8.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "hip/hip_runtime.h",
];

/// The headers that a compiler can include.
#[derive(Debug, Serialize)]
pub struct Headers {
    /// For each header, why it cannot be included; `None` if it can.
    headers: BTreeMap<&'static str, Option<String>>,
    /// The command that installs all headers; `None` if none of them is missing.
    help: Option<String>,
}

impl Headers {
    /// Compiles a source for each header. The cache keeps what compiles, under a key that covers the compiler and the
    /// headers. Only headers that cannot be included are compiled again, which takes little time. Without a cache, all
    /// are.
    pub fn of(compiler: &dyn Compiler, backend: Backend, cache: Option<&ArtifactCache>) -> Headers {
        let tried = HEADERS.into_par_iter().map(|header| {
            let request = request(header, backend);
            let compiled = match cache {
                Some(cache) => cache.compile(compiler, backend, &request),
                None => compiler.compile(&request),
            };
            (header, compiled.err())
        });
        let tried: BTreeMap<_, _> = tried.collect();
        let is_missing =
            |error: &Option<_>| matches!(error, Some(CompileError::MissingHeader { .. }));
        Headers {
            help: tried
                .values()
                .any(is_missing)
                .then(|| compiler.installs_headers())
                .flatten(),
            headers: tried
                .into_iter()
                .map(|(header, error)| (header, error.map(reason)))
                .collect(),
        }
    }
}

/// Why a header cannot be included, in one line.
fn reason(error: CompileError) -> String {
    let text = match error {
        CompileError::MissingHeader { what, .. } => what,
        CompileError::Failed { log, .. } => log,
        error => error.to_string(),
    };
    let says_why = |line: &&str| line.contains("error");
    let line = text.lines().find(says_why).or(text.lines().next());
    line.unwrap_or_default().to_owned()
}

/// The request for a kernel that includes a header. Like all units, it begins with the prelude, which replaces some
/// headers.
fn request(header: &str, backend: Backend) -> CompileRequest {
    let prelude = Target::from(backend).prelude_header();
    let source = format!(
        "#include \"{prelude}\"\n#include <{header}>\nextern \"C\" __global__ void kiln_header() {{}}\n"
    );
    CompileRequest::new("kiln_header", source)
}

/// The table of `tune devices`: a row for each header, and a column for each compiler.
pub(super) fn to_text(of_compilers: &BTreeMap<String, Headers>) -> String {
    if of_compilers.is_empty() {
        return String::new();
    }
    let width = HEADERS.iter().map(|header| header.len()).max().unwrap_or(0);
    let line = |first: &str, cells: &mut dyn Iterator<Item = (&String, &str)>| {
        let cells = cells.map(|(title, cell)| format!("  {cell:<width$}", width = title.len()));
        let text = format!("  {first:<width$}{}", cells.collect::<String>());
        format!("{}\n", text.trim_end())
    };
    let titles = &mut of_compilers.keys().map(|title| (title, title.as_str()));
    let mut text = format!("headers that kernels can include\n{}", line("", titles));
    let mut rows = HEADERS;
    rows.sort_unstable();
    for header in rows {
        let cells = &mut of_compilers.iter().map(|(title, of)| {
            let why = of.headers.get(header).is_some_and(Option::is_some);
            (title, if why { "no" } else { "yes" })
        });
        text += &line(header, cells);
    }
    for (title, of) in of_compilers {
        let missing = of.headers.iter().filter_map(|(header, why)| {
            let why = why.as_ref()?;
            Some(format!("  {title}: {header}: {why}\n"))
        });
        text.extend(missing);
        if let Some(command) = &of.help {
            text += &format!("  help: {command}\n");
        }
    }
    text
}
