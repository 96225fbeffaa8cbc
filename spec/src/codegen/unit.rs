//! Generates the translation unit of one entry, config and target.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::constants::{self, Constant};
use super::defines::Defines;
use super::rewrite::{Rewriter, Signing};
use super::standard_headers;
use super::target::TargetRow;
use super::{CodegenError, Symbol, Target};
use crate::config::Config;
use crate::hash::{Hasher, SourceHash};
use crate::model::{ArgSpec, KernelSpec, Plain, PlainArg, PlainLayout, ScalarArg};
use crate::problem::Problem;
use crate::source::{EntryPath, Mode, SourceScan, SourceText, line_marker};

/// Macros for `#pragma unroll` on host compilers. clang accepts the pragma. g++ spells it differently and accepts only
/// numbers. With g++, loops are unrolled at most 16 times: two nested loops that are each unrolled 16 times already
/// take g++ 4 seconds.
const UNROLL: &str = "\
#define KILN_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define KILN_UNROLL(n) KILN_PRAGMA(unroll n)
#define KILN_UNROLL_CONSTANT(n) KILN_PRAGMA(unroll n)
#define KILN_UNROLL_ALL KILN_PRAGMA(unroll)
#else
#define KILN_UNROLL(n) KILN_PRAGMA(GCC unroll ((n) < 16 ? (n) : 16))
#define KILN_UNROLL_CONSTANT(n) KILN_PRAGMA(GCC unroll 16)
#define KILN_UNROLL_ALL KILN_PRAGMA(GCC unroll 16)
#endif
";

/// The translation unit of one entry, config and target. This is the input of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationUnit {
    /// The text of the unit. It includes the prelude of the target by name.
    pub text: String,
    /// The symbol of the release entry.
    pub release: Symbol,
    /// The symbol of the receipt entry.
    pub receipt: Symbol,
    /// The hash in both symbols. A receipt contains it.
    pub symbol_hash: u64,
    /// The hash of the config. A receipt contains it.
    pub config_hash: u64,
    /// How the `cpu` device runs the threads of the kernel.
    pub mode: Mode,
}

/// The hash in the symbols of an entry. It covers the expanded source, the target with its prelude, the entry, and the
/// config. It also covers what the config and the element types of `problem` determine: the macros, the layouts of
/// structs and arrays, and the size of the data for `__constant__` variables.
///
/// # Errors
/// If the config or the problem does not match the spec.
pub fn symbol_hash(
    source: SourceHash,
    spec: &KernelSpec,
    entry: &str,
    config: &Config,
    problem: &Problem,
    target: Target,
) -> Result<u64, CodegenError> {
    let defines = Defines::new(spec, config, problem, entry != spec.entry)?;
    let constants = Constant::all(spec, config, problem)?;
    let parts = (&defines, constants.as_slice());
    Ok(hash(source, spec, entry, config, parts, target))
}

fn hash(
    source: SourceHash,
    spec: &KernelSpec,
    entry: &str,
    config: &Config,
    (defines, constants): (&Defines, &[Constant]),
    target: Target,
) -> u64 {
    let mut hasher = Hasher::new("kiln symbol 1");
    hasher
        .field(source.to_string().as_bytes())
        .field(target.row().name.as_bytes())
        .field(target.prelude_hash().to_string().as_bytes())
        .field(entry.as_bytes())
        .field(config.to_string().as_bytes())
        .field(defines.to_string().as_bytes())
        .field(defines.typedefs().as_bytes());
    for (place, plain) in plain_args(spec) {
        hasher.field(format!("{place} {:?}", layouts(&plain.value)).as_bytes());
    }
    for constant in constants {
        hasher.field(format!("{constant:?}").as_bytes());
    }
    hasher.finish().short()
}

/// The arguments that are structs or arrays, each with the index of its parameter in the kernel.
fn plain_args(spec: &KernelSpec) -> Vec<(usize, &PlainArg)> {
    // Sizes that only expressions use are not parameters of the kernel, so they do not count.
    let args = spec.passed().map(|(_, arg)| arg).enumerate();
    args.filter_map(|(place, arg)| match arg {
        ArgSpec::Plain(plain) => Some((place, plain)),
        ArgSpec::Scalar(_) | ArgSpec::Slice(_) | ArgSpec::Typed(_) => None,
    })
    .collect()
}

/// The arguments that are numbers by value, each with the index of its parameter in the kernel.
fn scalar_args(spec: &KernelSpec) -> Vec<(usize, &ScalarArg)> {
    let args = spec.passed().map(|(_, arg)| arg).enumerate();
    args.filter_map(|(place, arg)| match arg {
        ArgSpec::Scalar(scalar) => Some((place, scalar)),
        ArgSpec::Plain(_) | ArgSpec::Slice(_) | ArgSpec::Typed(_) => None,
    })
    .collect()
}

/// The layouts that the compiler checks for a value: that of the whole value and that of each field.
fn layouts(value: &Plain) -> Vec<PlainLayout> {
    let fields = match value {
        Plain::Struct { fields, .. } => fields.as_slice(),
        Plain::Number(..) | Plain::Array(_) => &[],
    };
    let inner = fields.iter().map(|field| field.value.layout());
    std::iter::once(value.layout()).chain(inner).collect()
}

impl TranslationUnit {
    /// Generates the unit of `entry` for a config. `entry` is the entry of the spec or of its baseline. `problem`
    /// determines the types of type parameters.
    ///
    /// The unit contains, in this order: the prelude, the unconditional `#include <..>` of the source, the macros of
    /// the config, the source with both entries, and the exports. The includes come first so that the macros do not
    /// change the headers. The source is at file scope, as the author wrote it: its functions overload those of CUDA, and
    /// headers find its operators. Macros that the source defines are undefined before the exports.
    ///
    /// # Errors
    /// If the entry cannot be tuned, if the config or the problem does not match the spec, or if the source defines a
    /// tunable parameter without an `#ifndef` around the definition.
    pub fn new(
        source: &SourceText,
        scan: &SourceScan,
        spec: &KernelSpec,
        entry: &str,
        config: &Config,
        problem: &Problem,
        target: Target,
    ) -> Result<TranslationUnit, CodegenError> {
        let found = scan.entry(entry)?;
        let defines = Defines::new(spec, config, problem, entry != spec.entry)?;
        let constants = Constant::all(spec, config, problem)?;
        let parts = (&defines, constants.as_slice());
        let symbol_hash = hash(source.hash(), spec, entry, config, parts, target);
        let release = Symbol::release(entry, symbol_hash);
        let receipt = release.receipt();
        let config_hash = config.hash().0.short();
        let arguments = found.arguments.as_ref();
        let instance: Option<Vec<String>> =
            arguments.map(|all| all.iter().map(|one| defines.substitute(one)).collect());
        let path = EntryPath::parse(entry);
        let passed = path.iter().flat_map(EntryPath::argument_names).collect();
        let defines = defines.without(&passed);
        check_source_defines(scan, &defines)?;
        let rewriter = Rewriter {
            source,
            scan,
            entry: &found,
            row: target.row(),
            params: defines.names().collect(),
            plain: plain_args(spec),
            scalars: scalar_args(spec),
            constants: &constants,
            instance: instance.as_deref(),
        };
        let signing = Signing {
            symbol: &receipt,
            symbol_hash,
            config_hash,
        };
        let mode = match target.row().host {
            true => Mode::of(&barriers_with(&defines, source, scan, entry)),
            false => scan.mode(entry),
        };
        let mut title = format!("// entry {entry}, config {config}, {release}\n");
        let allowed = [
            (spec.equal_stores, "EQUAL_STORES"),
            (spec.unwritten_reads, "UNWRITTEN_READS"),
        ];
        for (_, what) in allowed.iter().filter(|(is, _)| *is && target.row().host) {
            let _ = writeln!(title, "#define KILN_CPU_{what} 1");
        }
        let parts = Parts::new(&rewriter, &signing, &release, mode, title, &defines)?;
        Ok(TranslationUnit {
            text: parts.join(&release, &receipt),
            release,
            receipt,
            symbol_hash,
            config_hash,
            mode,
        })
    }
}

/// The names of the barriers and warp operations that an entry can reach on the `cpu` device with a config. If there are
/// none, the device runs the threads in a loop.
///
/// # Errors
/// If the config or the problem does not match the spec.
pub fn barriers_of_config(
    (source, scan): (&SourceText, &SourceScan),
    spec: &KernelSpec,
    entry: &str,
    config: &Config,
    problem: &Problem,
) -> Result<Vec<String>, CodegenError> {
    let defines = Defines::new(spec, config, problem, entry != spec.entry)?;
    Ok(barriers_with(&defines, source, scan, entry))
}

/// The names of the barriers and warp operations that an entry can reach with these macros. An `#if` may leave some out.
fn barriers_with(
    defines: &Defines,
    source: &SourceText,
    scan: &SourceScan,
    entry: &str,
) -> Vec<String> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let barriers = scan.barriers(entry);
    let names: BTreeSet<&str> = defines.names().collect();
    if barriers.is_empty() || !scan.tests_any(|name| names.contains(name)) {
        return owned(barriers);
    }
    let text = format!("{defines}{}", source.text());
    match SourceScan::new(&SourceText::from_expanded(text)) {
        Ok(of_config) => owned(of_config.barriers(entry)),
        Err(_) => owned(barriers),
    }
}

/// Checks that the source defines the macros of the config only where they are not defined, as in an `#ifndef`.
fn check_source_defines(scan: &SourceScan, defines: &Defines) -> Result<(), CodegenError> {
    let names: BTreeSet<&str> = defines.names().collect();
    match scan.redefinitions(|name| names.contains(name)).next() {
        None => Ok(()),
        Some(clash) => Err(CodegenError::ParamDefined {
            param: clash.name.clone(),
            at: clash.at.clone(),
        }),
    }
}

/// The includes that come before the macros of the config. Each keeps its file and line, so that the compiler reports a
/// missing header at the author's line.
fn hoisted_includes(source: &SourceText, scan: &SourceScan) -> String {
    let unconditional = scan
        .includes()
        .iter()
        .filter(|include| !include.conditional);
    let lines: String = unconditional
        .map(|include| {
            let (marker, text) = (&include.at, &source.text()[include.range.clone()]);
            format!("{}{text}\n", line_marker(marker.line, &marker.file))
        })
        .collect();
    if lines.is_empty() {
        lines
    } else {
        lines + MARKER
    }
}

/// The headers that this unit needs but the target's prelude does not include, because they take long to compile.
fn needed_headers(rewriter: &Rewriter<'_>, defines: &Defines) -> String {
    let (row, scan) = (rewriter.row, rewriter.scan);
    let mentions = |is_needed: fn(&str) -> bool| {
        let mut words = scan.identifiers().iter().map(String::as_str);
        let mut instance = rewriter.instance.iter().copied().flatten();
        let mut defined = defines.values();
        words.any(is_needed) || defined.any(is_needed) || instance.any(|one| is_needed(one))
    };
    let half: fn(&str) -> bool =
        |word| matches!(word, "half" | "half2") || word.starts_with("__") && word.contains("half");
    let bfloat16: fn(&str) -> bool = |word| word.contains("bfloat16");
    let simd: fn(&str) -> bool = |word| word.starts_with("__v");
    let is_for_amd = scan.is_tested("__HIP_PLATFORM_AMD__");
    let needed = [
        row.hip_header.filter(|_| is_for_amd),
        row.simd_header.filter(|_| mentions(simd)),
        row.half_header.filter(|_| mentions(half)),
        row.bfloat16_header.filter(|_| mentions(bfloat16)),
    ];
    let lines = needed
        .into_iter()
        .flatten()
        .chain(standard_headers::of(scan));
    lines
        .map(|header| format!("#include <{header}>\n"))
        .collect()
}

/// The macros with CUDA's version, for targets without NVIDIA's compiler. Kiln's headers have the features of CUDA 12.
const CUDA_VERSION: &str = "#define __CUDACC_VER_MAJOR__ 12\n#define __CUDACC_VER_MINOR__ 4\n\
    #define CUDA_VERSION 12040\n#define CUDART_VERSION 12040\n";

/// Defines `__CUDACC__` and CUDA's version for compilers other than NVRTC, if the source uses these macros. Sources
/// often have their device code under `__CUDACC__`. If the source knows AMD's platform, none of the macros is defined,
/// as with hipcc. If the source contains inline PTX, `__CUDACC__` is not defined, because PTX is often under this
/// macro, with other code for compilers that do not define it.
fn compiler_macros(row: &TargetRow, scan: &SourceScan) -> String {
    let asks = |name: &str| scan.is_tested(name) || scan.mentions(name);
    let asks_version = [
        "CUDA_VERSION",
        "CUDART_VERSION",
        "__CUDACC_VER_MAJOR__",
        "__CUDACC_VER_MINOR__",
    ];
    let asks_version = asks_version.into_iter().any(asks);
    let knows_amd = scan.tests_any(|name| {
        ["__HIP", "__AMDGCN", "__HCC__", "USE_ROCM"]
            .iter()
            .any(|start| name.starts_with(start))
    });
    let mut macros = String::new();
    if !row.refuses_ptx || knows_amd {
        return macros;
    }
    if asks("__CUDACC__") && !scan.mentions("asm") {
        macros += "#define __CUDACC__ 1\n";
    }
    if asks_version {
        macros += CUDA_VERSION;
    }
    // AMD GPUs have no headers for host code either, which are often under `#ifndef __CUDACC_RTC__`.
    if asks("__CUDACC_RTC__") && !row.host {
        macros += "#define __CUDACC_RTC__ 1\n";
    }
    macros
}

/// Defines the macro that makes the `cpu` device's shuffles functions instead of macros, if the source declares
/// overloads of them.
fn shuffle_functions(scan: &SourceScan) -> &'static str {
    let names = ["", "_up", "_down", "_xor"].map(|kind| format!("__shfl{kind}_sync"));
    if names.iter().any(|name| scan.declares(name)) {
        "#define KILN_CPU_SHUFFLE_FUNCTIONS 1\n"
    } else {
        ""
    }
}

/// The pieces of which the text of a unit is composed.
struct Parts<'a> {
    row: &'a TargetRow,
    mode: Mode,
    title: String,
    includes: String,
    macros: BTreeSet<&'a str>,
    defines: &'a Defines,
    source: String,
    /// Whether the source contains inline assembly.
    inline_ptx: bool,
    /// The definitions of `__CUDACC__` and of CUDA's version, if the source uses these macros.
    compiler_macros: String,
    /// The definition of `KILN_CPU_SHUFFLE_FUNCTIONS`, or nothing.
    shuffle_functions: &'static str,
    /// The namespaces that enclose the entry: empty, or each namespace followed by `::`.
    inside: String,
    /// The arguments that fill `__constant__` variables.
    constants: &'a [Constant],
}

impl<'a> Parts<'a> {
    fn new(
        rewriter: &Rewriter<'a>,
        signing: &Signing<'_>,
        release: &Symbol,
        mode: Mode,
        title: String,
        defines: &'a Defines,
    ) -> Result<Parts<'a>, CodegenError> {
        let macros = rewriter.scan.macros().iter();
        Ok(Parts {
            row: rewriter.row,
            mode,
            title,
            includes: needed_headers(rewriter, defines)
                + &hoisted_includes(rewriter.source, rewriter.scan),
            macros: macros.map(|m| m.name.as_str()).collect(),
            defines,
            source: rewriter.with_entries(release, signing)?,
            inline_ptx: rewriter.scan.mentions("asm"),
            compiler_macros: compiler_macros(rewriter.row, rewriter.scan),
            shuffle_functions: shuffle_functions(rewriter.scan),
            inside: rewriter.inside(),
            constants: rewriter.constants,
        })
    }

    fn join(&self, release: &Symbol, receipt: &Symbol) -> String {
        let prelude = self.row.prelude;
        let fibers = u8::from(self.mode == Mode::Fiber);
        // Inline PTX uses the keyword `asm`, so the unit makes this word an error. Inline assembly for the host and for
        // AMD uses `__asm__` and stays allowed.
        let ptx = if self.row.refuses_ptx && self.inline_ptx {
            ("#define asm KILN_NO_INLINE_PTX\n", "#undef asm\n")
        } else {
            ("", "")
        };
        let (mode, unroll) = if self.row.host {
            let shuffles = self.shuffle_functions;
            let mode = format!("#define KILN_CPU_FIBERS {fibers}\n{shuffles}");
            (mode, UNROLL)
        } else {
            (String::new(), "")
        };
        let (push, pop) = self.saving_macros();
        let undefines: String = self
            .defines
            .names()
            .map(|name| format!("#undef {name}\n"))
            .collect();
        let mut text = format!(
            "{}{mode}#include \"{prelude}\"\n{}#define KILN 1\n{}{unroll}",
            self.title, self.includes, self.compiler_macros
        );
        let [before, after] = self.row.around_source;
        text += &format!("{}{}{}{push}", self.defines.typedefs(), ptx.0, self.defines);
        text += &format!(
            "{before}{}\n{MARKER}{after}{pop}{undefines}{}",
            self.source, ptx.1
        );
        text += &self.export(release);
        text += &self.export(receipt);
        text
    }

    /// The code that makes an entry available to the host.
    fn export(&self, entry: &Symbol) -> String {
        let inside = &self.inside;
        match (self.row.entry_macro, self.constants) {
            (None, []) => String::new(),
            (None, filled) => constants::device_table(filled, entry),
            (Some(export), []) => format!("{export}({entry}, ::{inside}{entry})\n"),
            (Some(export), filled) => {
                let fill = constants::host_fill(filled, entry);
                format!("{fill}{export}_FILLED({entry}, kiln_fill_{entry}, ::{inside}{entry})\n")
            }
        }
    }

    /// Returns two texts: the code before the source that saves the macros that the source defines, and the code after
    /// the source that restores them.
    fn saving_macros(&self) -> (String, String) {
        let of_each =
            |line: fn(&str) -> String| self.macros.iter().map(|name| line(name)).collect();
        if self.row.pushes_macros {
            let push = of_each(|name| format!("#pragma push_macro(\"{name}\")\n"));
            return (
                push,
                of_each(|name| format!("#pragma pop_macro(\"{name}\")\n")),
            );
        }
        // Without `push_macro`, a macro that existed before the source keeps the value that the source gives it. All
        // other macros of the source are undefined.
        let note = |name: &str| format!("#ifdef {name}\n#define KILN_HAD_{name}\n#endif\n");
        let forget = |name: &str| format!("#ifndef KILN_HAD_{name}\n#undef {name}\n#endif\n");
        (of_each(note), of_each(forget))
    }
}

/// Marks the end of the author's lines, so that compiler messages about generated lines do not name the author's file.
const MARKER: &str = "#line 1 \"kiln generated\"\n";

#[cfg(test)]
#[path = "unit_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "unit_edit_tests.rs"]
mod edit_tests;
