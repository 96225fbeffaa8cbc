//! Extracts the part of a compiler's log that matters to the kernel's author.

use std::borrow::Cow;

use kiln_spec::source::is_for_hosts;

/// Prefixes of the names of headers that only NVIDIA's own compilers provide.
const NVIDIA_ALONE: &[&str] = &[
    "cuda/",
    "cub/",
    "cuda_",
    "nv/",
    "cooperative_groups/",
    "curand",
    "cuComplex",
];

/// Advice about a name of the standard library that the compiler does not know.
const HOST_HEADERS: &str = "Kiln leaves out the source's headers for host code, such as `<string>` and `<vector>`; \
    docs/device-prelude.md lists the headers that kernels can use";

/// Advice about a texture reference.
const TEXTURE_REFERENCES: &str = "CUDA 12 has no texture references (`texture<..>`): read from a slice, or take a texture \
    object (`cudaTextureObject_t`)";

/// Advice about a compound literal, which NVRTC rejects.
const COMPOUND_LITERALS: &str = "NVRTC has no compound literals: write `T{..}` instead of `(T){..}`, or \
    `make_float2(..)` and its like for vectors";

/// Advice about a struct whose fields differ from those of the spec.
const FIELDS: &str = "the struct in the spec has another number of fields than the struct in the source: write the same \
    fields in `#[value(..)]`";

/// How the error begins that a macro of Kiln contains (`prelude/shim/nvidia_alone.h`).
const NO_INLINE_PTX: &str = "inline PTX is for NVIDIA GPUs alone";

/// The first error of a log, with advice if its cause is known: a missing header, a name that only a left out header
/// declares, or a feature that the compiler does not have.
pub(crate) fn summary(log: &str) -> String {
    let first = first_error(log);
    let advice = match missing_header(&first) {
        Some(header) => about(header),
        None if misses_name_of_std(&first) => HOST_HEADERS.into(),
        None if names_texture_reference(&first) => TEXTURE_REFERENCES.into(),
        None if is_compound_literal(log, &first) => COMPOUND_LITERALS.into(),
        None if compares_fields(log, &first) => FIELDS.into(),
        None => return first.into_owned(),
    };
    format!("{first}\nhelp: {advice}")
}

/// Whether an error message of g++, clang or NVRTC is about `texture<float, 1, cudaReadModeElementType>`.
fn names_texture_reference(line: &str) -> bool {
    let forms = [
        "cudaReadMode",
        "no template named 'texture'",
        "'texture' does not name",
        "'texture' was not declared",
        "texture is not a template",
        "\"texture\" is undefined",
    ];
    forms.iter().any(|form| line.contains(form))
}

/// The lines that follow the line of the first error: the line of the source, and a mark below it.
fn shown<'l>(log: &'l str, first: &str) -> (&'l str, &'l str) {
    let mut lines = log.lines().skip_while(|line| *line != first).skip(1);
    let mut next = || lines.next().unwrap_or_default();
    (next(), next())
}

/// Whether the first error is that of NVRTC about `(T){..}`: it expects an expression at a `{` after a `)`.
fn is_compound_literal(log: &str, first: &str) -> bool {
    let (source, mark) = shown(log, first);
    let place = mark.find('^').filter(|_| mark.trim() == "^");
    let split = place.and_then(|at| Some((source.get(..at)?, source.get(at..)?)));
    first.ends_with("expected an expression")
        && split.is_some_and(|(before, after)| {
            before.trim_end().ends_with(')') && after.starts_with('{')
        })
}

/// Whether the first error is about the declaration with which generated code counts the fields of a struct.
fn compares_fields(log: &str, first: &str) -> bool {
    let forms = [
        "structured binding",
        "decomposes into",
        "identifiers",
        "binding names",
    ];
    log.contains("kiln_field_") && forms.iter().any(|form| first.contains(form))
}

/// Whether an error message of g++, clang or NVRTC says that the namespace `std` does not have a name.
fn misses_name_of_std(line: &str) -> bool {
    let forms = [
        "in namespace 'std'",
        "is not a member of 'std'",
        "namespace \"std\" has no",
    ];
    forms.iter().any(|form| line.contains(form))
}

/// The first line of a log that contains `error`, or else the first line of the log. An error in a macro of Kiln is
/// reported where the source uses the macro.
pub(crate) fn first_error(log: &str) -> Cow<'_, str> {
    let line = log
        .lines()
        .find(|line| line.contains("error"))
        .or_else(|| log.lines().next())
        .unwrap_or("the compiler said nothing");
    let reworded = too_large_a_frame(line).or_else(|| at_the_use_of_a_macro(log, line));
    reworded.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// An error in a macro of Kiln, with the place where the source uses the macro. g++ 16 reports an error that a macro
/// contains (`_Pragma("GCC error ..")`) where the macro is defined. It names the place of the use in the last of the notes
/// that follow; earlier versions report the error there. `None` for other errors.
fn at_the_use_of_a_macro(log: &str, line: &str) -> Option<String> {
    let (_, message) = line.split_once(" error: ")?;
    if !message.starts_with(NO_INLINE_PTX) {
        return None;
    }
    let after = log.lines().skip_while(|other| *other != line).skip(1);
    let notes = after
        .take_while(|other| !other.contains(" error: ") && !other.contains(" warning: "))
        .filter_map(|other| other.split_once(" note: in expansion of macro "));
    let (place, _) = notes.last()?;
    Some(format!("{place} error: {message}"))
}

/// Rewords the message with which clang and g++ report that a stack frame is larger than the stack of a thread on the
/// cpu device. The compiler's message names a generated function, and the reworded message names the kernel. `None` for
/// other messages.
fn too_large_a_frame(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("frame size")?;
    let mut numbers = rest
        .split(|char: char| !char.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u64>().ok());
    let (size, limit) = (numbers.next()?, numbers.next()?);
    Some(format!(
        "the local variables of a thread take {size} bytes, but the cpu device has {limit} for them in a kernel with \
         barriers; make local arrays smaller, or keep them in shared memory"
    ))
}

/// A header that a compiler could not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unopened {
    /// The name in the `#include`.
    pub header: String,
    /// The path of the file that includes it.
    pub included_by: String,
}

/// The header that could not be opened, if that is the first error in the log of NVRTC.
pub(crate) fn unopened(log: &str) -> Option<Unopened> {
    let line = first_error(log);
    let (included_by, _) = line.split_once('(')?;
    Some(Unopened {
        header: missing_header(&line)?.to_owned(),
        included_by: included_by.to_owned(),
    })
}

/// The name of the missing header in an error message of g++, clang or NVRTC; `None` for other messages.
fn missing_header(line: &str) -> Option<&str> {
    let gcc = || {
        line.strip_suffix(": No such file or directory")?
            .rsplit(' ')
            .next()
    };
    let clang = || line.strip_suffix("' file not found")?.rsplit('\'').next();
    let nvrtc = || {
        line.split_once("cannot open source file \"")?
            .1
            .split('"')
            .next()
    };
    gcc().or_else(clang).or_else(nvrtc)
}

/// A header that is missing for a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingHeader {
    /// What is missing, such as "`crt/mma.h` is not installed".
    pub what: String,
    /// The command that installs it, or what else to do.
    pub help: String,
}

/// The header that was not found, if that is the first error in the log of g++ or clang. `None` for headers that these
/// compilers cannot use even if they are installed: those for host code, which Kiln leaves out, and those of NVIDIA.
pub(crate) fn absent_header(log: &str) -> Option<MissingHeader> {
    let first = first_error(log);
    let header = missing_header(&first)?;
    let is_useless = is_for_hosts(header) || is_of_nvidia(header);
    (!is_useless).then(|| MissingHeader {
        what: format!("`{header}` was not found"),
        help: format!(
            "include a header of the package as `\"{header}\"`, or install the package of the system that has it"
        ),
    })
}

fn is_of_nvidia(header: &str) -> bool {
    NVIDIA_ALONE.iter().any(|start| header.starts_with(start))
}

fn about(header: &str) -> String {
    if is_for_hosts(header) {
        return format!(
            "`<{header}>` is a header for host code, and Kiln could not leave it out: put it and the host code that \
             needs it under `#ifndef KILN`"
        );
    }
    if is_of_nvidia(header) {
        return format!(
            "`<{header}>` is an NVIDIA header, and Kiln has no replacement for it on this target: add `only(cuda)` \
             to the kernel's spec, or include it under `#if KILN_CUDA` (docs/device-prelude.md lists the headers \
             that Kiln has)"
        );
    }
    format!(
        "include a header of the package as `\"{header}\"`; other headers must exist for every target \
         (docs/device-prelude.md lists them)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_too_large_is_told_in_words_of_the_kernel() {
        let said = "the local variables of a thread take 399944 bytes, but the cpu device has 12288 for them in a kernel \
                    with barriers; make local arrays smaller, or keep them in shared memory";
        let clang = "cache/include/51/cpu/entry.h:96:17: error: stack frame size (399944) exceeds limit (12288) in \
                     'kiln_cpu_entry<k>' [-Werror,-Wframe-larger-than]";
        let gcc = "kernel.cpp: In function 'void k()':\nkernel.cpp:9:1: error: the frame size of 399944 bytes is larger \
                   than 12288 bytes [-Werror=frame-larger-than=]";
        assert_eq!(
            (first_error(clang), first_error(gcc)),
            (said.into(), said.into())
        );
        let other = "src/k.cu:7:5: error: use of undeclared identifier 'z'";
        assert_eq!(first_error(other), other);
    }

    #[test]
    fn an_error_in_a_macro_of_kiln_is_told_where_the_source_uses_the_macro() {
        let told = "inline PTX is for NVIDIA GPUs alone: add `only(cuda)`";
        let of_gcc_16 = format!(
            "k.cu: In function 'void k(float*)':\n/c/include/51/shim/nvidia_alone.h:26:5: error: {told}\n   26 |     _Pragma\n\
             kernel.cpp:9:13: note: in expansion of macro 'KILN_NO_INLINE_PTX'\n    9 | #define asm\n\
             k.cu:3:5: note: in expansion of macro 'asm'\n    3 |     asm\nk.cu:9:1: error: another\n\
             k.cu:9:5: note: in expansion of macro 'asm'\n"
        );
        let of_others = format!("k.cu:3:5: error: {told}\n    3 |     asm\n");
        for log in [&of_gcc_16, &of_others] {
            assert_eq!(first_error(log), format!("k.cu:3:5: error: {told}"));
        }
    }

    #[test]
    fn a_missing_header_is_told_with_the_way_out_in_the_words_of_every_compiler() {
        for log in [
            "src/k.cu:3:10: fatal error: cuda/barrier: No such file or directory\n    3 | #include\n",
            "src/k.cu:3:10: fatal error: 'cuda/barrier' file not found\n",
            "src/k.cu(3): catastrophic error: cannot open source file \"cuda/barrier\"\n",
        ] {
            let told = summary(log);
            assert!(told.starts_with("src/k.cu"), "{told}");
            assert!(
                told.contains("\nhelp: `<cuda/barrier>` is an NVIDIA header"),
                "{told}"
            );
            assert!(told.contains("`only(cuda)`"), "{told}");
        }
        assert_eq!(summary("k.cu:1: error: no\n"), "k.cu:1: error: no");
        assert_eq!(
            absent_header("k.cu:1:9: fatal error: cuda/barrier: No such file or directory\n"),
            None
        );
        let absent = absent_header("k.cu:1:10: fatal error: 'half.hpp' file not found\n").unwrap();
        assert_eq!(absent.what, "`half.hpp` was not found");
        let told = summary("k.cu:2:10: fatal error: 'vector' file not found\n");
        assert!(told.contains("under `#ifndef KILN`"), "{told}");
    }

    #[test]
    fn features_that_compilers_do_not_have_are_told_with_what_replaced_them() {
        for line in [
            "k.cu:1:19: error: use of undeclared identifier 'cudaReadModeElementType'",
            "k.cu:1:1: error: 'texture' does not name a type",
            "k.cu:1:1: error: no template named 'texture'; did you mean 'tex'?",
            "k.cu(1): error: texture is not a template",
        ] {
            let told = summary(&format!("{line}\n"));
            assert!(told.contains("\nhelp: CUDA 12 has no texture"), "{told}");
        }
        let nvrtc = |source: &str, mark: &str| {
            summary(&format!(
                "k.cu(2): error: expected an expression\n{source}\n{mark}\n"
            ))
        };
        let told = nvrtc("  T2 t = (T2){x[0], x[1]};", "             ^");
        assert!(told.contains("\nhelp: NVRTC has no compound"), "{told}");
        let told = nvrtc("  T2 t = 2 + {x[0], x[1]};", "             ^");
        assert!(!told.contains("help"), "{told}");
        let bound = "  auto& [kiln_field_0] = p;\n";
        for line in [
            "k.cu:2:21: error: only 1 name provided for structured binding",
            "k.cu:2:21: error: type 'P' decomposes into 2 elements, but only 1 name was provided",
            "k.cu(2): error: too many identifiers",
            "k.cu(2): error: there are more elements than there are binding names",
        ] {
            let told = summary(&format!("{line}\n{bound}"));
            assert!(told.contains("\nhelp: the struct in the spec"), "{told}");
            assert_eq!(summary(line), line);
        }
    }

    #[test]
    fn a_name_of_a_header_for_host_code_is_told_with_the_reason() {
        for log in [
            "k.cu:3:10: error: 'vector' is not a member of 'std'\n",
            "k.cu:3:10: error: 'vector' in namespace 'std' does not name a template type\n",
            "k.cu:3:10: error: no template named 'vector' in namespace 'std'\n",
            "k.cu(3): error: namespace \"std\" has no member \"vector\"\n",
        ] {
            let told = summary(log);
            assert!(told.contains("\nhelp: Kiln leaves out"), "{told}");
        }
    }
}
