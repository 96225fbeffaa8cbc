//! The headers that compilers can include: part of `tune devices`.

use std::collections::BTreeMap;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::{CompileError, CompileRequest, Compiler};
use kiln_spec::Backend;
use kiln_spec::codegen::Target;
use serde::Serialize;

/// Headers that kernels of other projects include, in groups that compile together: at least one of each of CUDA's
/// packages, and one of HIP. HIP's header defines macros such as `__any`, whose names CUDA's headers use otherwise. In a
/// group, headers that take the compiler longest come last, so that a missing header is found early.
const GROUPS: [&[&str]; 2] = [
    &[
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cuda_fp8.h",
        "mma.h",
        "cuda/std/limits",
        "cooperative_groups.h",
        "cub/block/block_reduce.cuh",
    ],
    &["hip/hip_runtime.h"],
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
    /// Asks a compiler. The cache keeps what compiles, under a key that covers the compiler and the headers. Without a
    /// cache, every call compiles.
    pub fn of(compiler: &dyn Compiler, backend: Backend, cache: Option<&ArtifactCache>) -> Headers {
        let compile = |headers: &[&'static str]| {
            let request = request(headers, backend);
            match cache {
                Some(cache) => cache.compile(compiler, backend, &request).map(drop),
                None => compiler.compile(&request).map(drop),
            }
        };
        let mut errors = BTreeMap::new();
        for group in GROUPS {
            find_errors(group, &compile, &mut errors);
        }
        let is_missing = |error: &CompileError| matches!(error, CompileError::MissingHeader { .. });
        let help = errors.values().any(is_missing);
        let headers = GROUPS.concat().into_iter();
        Headers {
            help: help.then(|| compiler.installs_headers()).flatten(),
            headers: headers
                .map(|header| (header, errors.get(header).map(reason)))
                .collect(),
        }
    }
}

/// Finds the headers that do not compile. If several compile together, each of them does. Otherwise each half is tried.
/// A compile of all headers takes little longer than one of the slowest header, because they include each other, and
/// NVRTC does not parse two sources at the same time in one process.
fn find_errors(
    headers: &[&'static str],
    compile: &impl Fn(&[&'static str]) -> Result<(), CompileError>,
    errors: &mut BTreeMap<&'static str, CompileError>,
) {
    match (compile(headers), headers) {
        (Ok(()), _) | (Err(_), []) => {}
        (Err(error), [header]) => drop(errors.insert(header, error)),
        (Err(_), _) => {
            let (first, second) = headers.split_at(headers.len() / 2);
            find_errors(first, compile, errors);
            find_errors(second, compile, errors);
        }
    }
}

/// Why a header cannot be included, in one line.
fn reason(error: &CompileError) -> String {
    let text = match error {
        CompileError::MissingHeader { what, .. } => what,
        CompileError::Failed { log, .. } => log,
        error => &error.to_string(),
    };
    let says_why = |line: &&str| line.contains("error");
    let line = text.lines().find(says_why).or(text.lines().next());
    line.unwrap_or_default().to_owned()
}

/// The request for a kernel that includes headers. Like all units, it begins with the prelude, which replaces some of
/// them.
fn request(headers: &[&str], backend: Backend) -> CompileRequest {
    let prelude = Target::from(backend).prelude_header();
    let includes: String = headers
        .iter()
        .map(|header| format!("#include <{header}>\n"))
        .collect();
    let kernel = "extern \"C\" __global__ void kiln_headers() {}\n";
    let source = format!("#include \"{prelude}\"\n{includes}{kernel}");
    CompileRequest::new("kiln_headers", source)
}

/// The table of `tune devices`: a row for each header, and a column for each compiler. `of_compilers` has the names of
/// the compilers as keys.
pub(super) fn to_text(of_compilers: &BTreeMap<String, Headers>) -> String {
    if of_compilers.is_empty() {
        return String::new();
    }
    let mut rows = GROUPS.concat();
    rows.sort_unstable();
    let width = rows.iter().map(|header| header.len()).max().unwrap_or(0);
    let names: String = of_compilers
        .keys()
        .map(|name| format!("  {name}"))
        .collect();
    let mut text = format!("headers that kernels can include\n  {:width$}{names}\n", "");
    for header in rows {
        let cells = of_compilers.iter().map(|(name, of)| {
            let fails = of.headers.get(header).is_some_and(Option::is_some);
            let cell = if fails { "no" } else { "yes" };
            format!("  {cell:<width$}", width = name.len())
        });
        let line = format!("  {header:width$}{}", cells.collect::<String>());
        text += &format!("{}\n", line.trim_end());
    }
    for (name, of) in of_compilers {
        for (header, why) in &of.headers {
            if let Some(why) = why {
                text += &format!("  {name}: {header}: {why}\n");
            }
        }
        if let Some(command) = &of.help {
            text += &format!("  help: {command}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(header: &str) -> CompileError {
        CompileError::MissingHeader {
            name: "kiln_headers".into(),
            what: format!("`{header}` is not installed"),
            help: String::new(),
            log: String::new(),
        }
    }

    #[test]
    fn each_header_that_fails_is_found_whatever_others_do() {
        let all = GROUPS.concat();
        for fails in 0..1_u32 << all.len() {
            let is_bad = |header: &&str| {
                let index = all.iter().position(|one| one == header);
                index.is_some_and(|index| fails >> index & 1 == 1)
            };
            let compile = |headers: &[&'static str]| match headers.iter().find(|one| is_bad(one)) {
                Some(header) => Err(error(header)),
                None => Ok(()),
            };
            let mut errors = BTreeMap::new();
            find_errors(&all, &compile, &mut errors);
            let wanted = all.iter().filter(|header| is_bad(header));
            assert!(wanted.clone().all(|header| errors.contains_key(header)));
            assert_eq!(errors.len(), wanted.count(), "{fails:b}");
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_header_then_the_reasons_and_one_command() {
        let of = |missing: &[&str], help: Option<&str>| Headers {
            headers: GROUPS
                .concat()
                .into_iter()
                .map(|header| {
                    let why = missing.contains(&header);
                    (header, why.then(|| reason(&error(header))))
                })
                .collect(),
            help: help.map(str::to_owned),
        };
        let table = to_text(&BTreeMap::from([
            ("clang++ 19.1.7".into(), of(&[], None)),
            ("nvrtc 12.1".into(), of(&["mma.h"], Some("`install`"))),
        ]));
        let lines: Vec<&str> = table.lines().collect();
        let rows = GROUPS.concat().len();
        assert_eq!(lines.len(), 2 + rows + 2, "{table}");
        assert_eq!(
            lines[1],
            "                              clang++ 19.1.7  nvrtc 12.1"
        );
        assert_eq!(
            lines[1 + rows..],
            [
                "  mma.h                       yes             no",
                "  nvrtc 12.1: mma.h: `mma.h` is not installed",
                "  help: `install`",
            ]
        );
        assert_eq!(to_text(&BTreeMap::new()), "");
    }
}
