//! Tests of the flattener over files in memory.

use std::io;

use super::*;

fn load(files: &[(&str, &str)]) -> Result<SourceText, SourceError> {
    let files: Vec<(String, String)> = files
        .iter()
        .map(|(n, t)| ((*n).into(), (*t).into()))
        .collect();
    SourceText::load(&files[0].0, &mut |name| {
        let file = files.iter().find(|(file, _)| file == name);
        file.map(|(_, text)| text.clone())
            .ok_or_else(|| ReadError::unresolved(name, &io::Error::other("no such file")))
    })
}

#[test]
fn a_source_without_includes_keeps_its_text() {
    let source = load(&[("a.cu", "int x;\n")]).unwrap();
    assert_eq!(source.text(), "#line 1 \"a.cu\"\nint x;\n");
    assert_eq!(source.files().len(), 1);
}

#[test]
fn a_file_outside_the_package_is_included_under_no_condition() {
    for include in ["</opt/factor.h>", "\"/opt/factor.h\"", "\"../../factor.h\""] {
        let path = &include[1..include.len() - 1];
        let plain = load(&[("a.cu", &format!("#include {include}\n"))]).unwrap_err();
        assert!(plain.to_string().contains("leaves the package"), "{plain}");
        let text = format!("#if FAST\n#include {include}\n#endif\nint x;\n");
        let source = load(&[("a.cu", &text)]).unwrap();
        let refusal = format!("#error `{path}` is outside the package");
        assert!(source.text().contains(&refusal), "{}", source.text());
        assert!(!source.text().contains("#include"), "{}", source.text());
    }
}

#[test]
fn includes_that_are_never_compiled_are_not_read() {
    let source = load(&[(
        "a.cu",
        "#ifndef KILN\n#include HOST_HEADER\n#include \"host.h\"\n#endif\n#if 0\n#include \"big.hpp\"\n#endif\n\
         #ifdef X\n#include CONFIG\n#endif\n",
    ), ("host.h", "int host;"), ("big.hpp", "int big;")])
    .unwrap();
    assert_eq!(source.files().len(), 1);
    assert!(source.text().contains("#include \"host.h\""));
}

#[test]
fn guarded_headers_that_include_each_other_are_inlined_once() {
    let names: Vec<String> = (0..14).map(|i| format!("h{i}.h")).collect();
    let header = |i: usize, guard: bool| {
        let lower: String = names[..i]
            .iter()
            .map(|name| format!("#include \"{name}\"\n"))
            .collect();
        match guard {
            true => format!("#ifndef H{i}\n#define H{i}\n{lower}int x{i};\n#endif\n"),
            false => {
                format!("#pragma once\n#ifndef H{i}\n#define H{i}\n{lower}int x{i};\n#endif\n")
            }
        }
    };
    for guard in [true, false] {
        let texts: Vec<String> = (0..14).map(|i| header(i, guard)).collect();
        let root = "#if X\n#include \"h13.h\"\n#else\n#include \"h13.h\"\n#endif\n";
        let mut files = vec![("a.cu", root)];
        files.extend(
            names
                .iter()
                .map(String::as_str)
                .zip(texts.iter().map(String::as_str)),
        );
        let source = load(&files).unwrap();
        // Once in each branch.
        assert_eq!(source.text().matches("int x0;").count(), 2);
    }
}

#[test]
fn a_line_continues_after_a_backslash_and_white_space() {
    let source = load(&[("a.cu", "#define K \\ \t\n  __global__\nK void k() {}\n")]).unwrap();
    assert!(
        source.text().ends_with("\n__global__ void k() {}\n"),
        "{}",
        source.text()
    );
}

#[test]
fn includes_are_relative_to_the_includer_and_leave_line_markers() {
    let source = load(&[
        (
            "src/a.cu",
            "int a;\n#include \"sub/b.cuh\" // why\nint c;\n",
        ),
        ("src/sub/b.cuh", "#include \"../d.cuh\"\nint b;"),
        ("src/d.cuh", "int d;\n"),
    ])
    .unwrap();
    let expected = "#line 1 \"src/a.cu\"\nint a;\n\n#line 1 \"src/sub/b.cuh\"\n\n#line 1 \"src/d.cuh\"\nint d;\n\
                    #line 1 \"src/sub/b.cuh\"\n\nint b;\n#line 2 \"src/a.cu\"\n\nint c;\n";
    assert_eq!(source.text(), expected);
    let names: Vec<_> = source.files().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["src/a.cu", "src/sub/b.cuh", "src/d.cuh"]);
    for (needle, at) in [
        ("int d", "src/d.cuh:1"),
        ("int b", "src/sub/b.cuh:2"),
        ("int c", "src/a.cu:3"),
    ] {
        let offset = source.text().find(needle).unwrap();
        assert_eq!(source.locate(offset).to_string(), at);
    }
}

#[test]
fn lines_after_a_group_with_an_include_have_their_numbers_whether_or_not_it_is_compiled() {
    let source = load(&[
        (
            "a.cu",
            "#if FAST\n#include \"b.cuh\"\n#else\nint c;\n#endif\nint d;\n#if FAST\nint e;\n#endif\n",
        ),
        ("b.cuh", "int b1;\nint b2;\n"),
    ])
    .unwrap();
    // What a compiler sees without FAST: the markers in the first branch are skipped.
    let text = source.text();
    let seen = text.split_once("#else").unwrap().1;
    let expected = "\n#line 3 \"a.cu\"\n\nint c;\n#endif\n#line 5 \"a.cu\"\n\nint d;\n#if FAST\nint e;\n#endif\n";
    assert_eq!(seen, expected);
    for (needle, at) in [
        ("int c", "a.cu:4"),
        ("int d", "a.cu:6"),
        ("int e", "a.cu:8"),
    ] {
        let offset = text.find(needle).unwrap();
        assert_eq!(source.locate(offset).to_string(), at);
    }
}

#[test]
fn a_source_that_asks_for_a_header_of_the_package_finds_it() {
    let source = load(&[
        (
            "src/a.cu",
            "#if __has_include(\"b.cuh\") && !__has_include( \"no.cuh\" )\n#include \"b.cuh\"\n#elif \
             __has_include(<library/c.cuh>)\nint c;\n#endif\n#if defined(__has_include) && __has_include(<cuda_fp8.h>)\n\
             int d;\n#endif\n",
        ),
        ("src/b.cuh", "int b;\n"),
        ("src/library/c.cuh", ""),
    ])
    .unwrap();
    let text = source.text();
    for part in [
        "#if 1 && !__has_include( \"no.cuh\" )\n",
        "int b;",
        "#elif 1\n",
        "#if defined(__has_include) && __has_include(<cuda_fp8.h>)\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(source.locate(text.find("int c").unwrap()).line, 4);
}

#[test]
fn a_header_of_the_package_may_be_included_in_angle_brackets() {
    let source = load(&[
        (
            "src/library/a.cu",
            "#include <library/b.cuh>\n#include <c.cuh>\n#include <math.h>\n#include <cub/cub.cuh>\n",
        ),
        ("src/library/b.cuh", "int b;\n"),
        ("src/library/c.cuh", "int c;\n"),
        ("src/library/math.h", "int standard;\n"),
        ("src/cub/cub.cuh", "int provided;\n"),
    ])
    .unwrap();
    let text = source.text();
    assert!(text.contains("int b;") && text.contains("int c;"), "{text}");
    // Kiln and the compilers have these headers.
    for header in ["#include <math.h>", "#include <cub/cub.cuh>"] {
        assert!(text.contains(header), "{text}");
    }
}

#[test]
fn an_include_of_a_header_that_is_read_once_is_under_no_condition() {
    let source = load(&[
        (
            "a.cu",
            "#include \"b.cuh\"\n#if X\n#include \"c.cuh\"\n#endif\n",
        ),
        ("b.cuh", "#pragma once\n#include <cuda_fp16.h>\n"),
        ("c.cuh", "#pragma once\n#include <cuda_bf16.h>\n"),
    ])
    .unwrap();
    let scan = crate::source::SourceScan::new(&source).unwrap();
    let conditional: Vec<_> = scan.includes().iter().map(|i| i.conditional).collect();
    assert_eq!(conditional, [false, true]);
}

#[test]
fn headers_of_a_library_name_each_other_from_its_root() {
    let source = load(&[
        ("src/a.cu", "#include \"vendor/flash/norm.cuh\"\n"),
        (
            "src/vendor/flash/norm.cuh",
            "#include \"flash/vec.cuh\"\n#include \"math.cuh\"\nint norm;\n",
        ),
        ("src/vendor/flash/vec.cuh", "int vec;\n"),
        ("src/vendor/flash/math.cuh", "int near;\n"),
        ("src/math.cuh", "int far;\n"),
    ])
    .unwrap();
    assert!(source.text().contains("int vec;") && source.text().contains("int near;"));
    assert!(!source.text().contains("int far;"));
    let missing = load(&[("src/x/a.cu", "\n#include \"b.cuh\"\n")])
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("src/x/a.cu:2: cannot read included file `src/x/b.cuh`"),
        "{missing}"
    );
}

#[test]
fn pragma_once_is_honoured_and_diamonds_expand_once() {
    let source = load(&[
        ("a.cu", "#include \"b.cuh\"\n#include \"c.cuh\"\n"),
        ("b.cuh", "#pragma once\n#include \"d.cuh\"\n"),
        ("c.cuh", "#pragma once\n#include \"d.cuh\"\n"),
        ("d.cuh", "#pragma once\nint d;\n"),
    ])
    .unwrap();
    assert_eq!(source.text().matches("int d;").count(), 1);
    assert!(!source.text().contains("#pragma"));
}

#[test]
fn pragma_once_holds_under_conditionals() {
    // The file is inlined in both branches under the same guard, so that it is present in whichever branch is compiled.
    // The last include inlines it too, because the flattener does not evaluate conditions.
    let source = load(&[
        (
            "a.cu",
            "#if X\n#include \"d.cuh\"\n#else\n#include \"d.cuh\"\n#endif\n#include \"d.cuh\"\n",
        ),
        ("d.cuh", "#pragma once\nint d;\n"),
    ])
    .unwrap();
    assert_eq!(source.text().matches("int d;").count(), 3);
    assert_eq!(source.text().matches("#ifndef KILN_ONCE_").count(), 3);
}

#[test]
fn a_header_that_includes_itself_under_a_condition_is_an_error_only_if_the_condition_holds() {
    let again = "#ifdef Y\n#include \"b.cuh\"\n#endif\nint b;\n";
    let source = load(&[("a.cu", "#include \"b.cuh\"\n"), ("b.cuh", again)]).unwrap();
    let error = "#ifdef Y\n\n#error `b.cuh` includes itself (a.cu -> b.cuh -> b.cuh): add `#pragma once` to it\n";
    assert!(source.text().contains(error), "{}", source.text());
    assert_eq!(source.text().matches("int b;").count(), 1);
    // Here, the condition holds whenever the header is included.
    let always = [
        ("a.cu", "#ifdef Y\n#include \"b.cuh\"\n#endif\n"),
        ("b.cuh", "#include \"b.cuh\"\n"),
    ];
    assert!(matches!(load(&always), Err(SourceError::Cycle { .. })));
}

#[test]
fn a_guarded_cycle_ends_and_an_unguarded_one_is_an_error() {
    let guarded = load(&[
        ("a.cu", "#include \"b.cuh\"\n"),
        (
            "b.cuh",
            "#ifndef B\n#define B\n#include \"c.cuh\"\nint b;\n#endif\n",
        ),
        ("c.cuh", "#include \"b.cuh\"\nint c;\n"),
    ]);
    assert!(guarded.unwrap().text().contains("int c;"));
    let error = load(&[
        ("a.cu", "\n#include \"b.cuh\"\n"),
        ("b.cuh", "#include \"a.cu\"\n"),
    ])
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "b.cuh:1: `a.cu` includes itself: a.cu -> b.cuh -> a.cu\nhelp: add `#pragma once` to `a.cu`"
    );
}

#[test]
fn includes_in_comments_strings_and_angle_brackets_are_left_alone() {
    let text = "// #include \"x\"\n/*\n#include \"x\"\n*/\n#include <cuda_fp16.h>\n#include \"kiln.cuh\"\n\
                const char* s = R\"(\n#include \"x\"\n)\";\n";
    let source = load(&[("a.cu", text)]).unwrap();
    assert_eq!(source.text(), format!("#line 1 \"a.cu\"\n{text}"));
}

#[test]
fn a_device_header_may_be_written_in_quotes() {
    let text = "#include \"cuda_fp16.h\"\n";
    assert!(load(&[("a.cu", text)]).unwrap().text().contains(text));
    let own = load(&[("a.cu", text), ("cuda_fp16.h", "int own;\n")]).unwrap();
    assert!(own.text().contains("int own;") && !own.text().contains("#include"));
}

#[test]
fn what_cannot_be_included_is_named_with_its_place() {
    let message = |text: &str| load(&[("src/a.cu", text)]).unwrap_err().to_string();
    assert!(
        message("\n#include \"b.cuh\"\n")
            .starts_with("src/a.cu:2: cannot read included file `src/b.cuh`: no such file")
    );
    assert!(
        message("#include \"../../b.cuh\"\n")
            .starts_with("src/a.cu:1: `#include \"../../b.cuh\"` leaves the package")
    );
    assert!(message("#include \"/b.cuh\"\n").contains("leaves the package"));
    assert!(message("#include HEADER\n").contains("`#include` of a macro"));
    assert!(message("#if 1\n#embed \"table.bin\"\n#endif\n").starts_with("src/a.cu:2: `#embed`"));
    let asks = "int a;\n#if defined(__has_feature) && __has_feature(thread_sanitizer)\n#endif\n";
    assert!(message(asks).starts_with("src/a.cu:2: the condition asks for the thread sanitizer"));
    assert!(load(&[("src/a.cu", &format!("#if 0\n{asks}#embed \"x\"\n#endif\n"))]).is_ok());
    assert!(message("int a;\n/*").contains("src/a.cu:2: unterminated block comment"));
    assert!(message("a\n\0").contains("src/a.cu:2: the source contains a NUL byte"));
    let missing = SourceText::load("../a.cu", &mut |_| Ok(String::new())).unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("cannot read kernel source `../a.cu`")
    );
}

#[test]
fn a_source_over_the_limits_is_refused() {
    let error = load(&[("a.cu", &"x".repeat(MAX_SOURCE_BYTES))]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the expanded source of `a.cu` is larger than 1048576 bytes\n\
         help: include files that are not the kernel's own with `#include <..>`"
    );
    let deep = SourceText::load("0.cu", &mut |name| {
        let number: u32 = name.split('.').next().unwrap().parse().unwrap();
        Ok(format!("#include \"{}.cu\"\n", number + 1))
    });
    assert!(matches!(deep, Err(SourceError::TooDeep { limit: 64, .. })));
    // Each file includes the next one twice, which would give 2^n copies. The size limit must stop the expansion before
    // memory runs out.
    let wide = SourceText::load("0.cu", &mut |name| {
        let number: u32 = name.split('.').next().unwrap().parse().unwrap();
        let next = format!("#include \"{}.cu\"\n", number + 1);
        Ok(if number < 40 {
            next.repeat(2)
        } else {
            "int x;\n".into()
        })
    });
    assert!(matches!(wide, Err(SourceError::TooLarge { .. })));
}

#[test]
fn line_endings_and_byte_order_marks_do_not_change_the_hash() {
    let unix = load(&[("a.cu", "int x;\nint y;\n")]).unwrap();
    let dos = load(&[("a.cu", "\u{feff}int x;\r\nint y;\r\n")]).unwrap();
    assert_eq!(unix.hash(), dos.hash());
    let other = load(&[("a.cu", "int x;\nint z;\n")]).unwrap();
    assert_ne!(unix.hash(), other.hash());
}

#[test]
fn an_included_file_changes_the_hash() {
    let hash = |text: &str| {
        load(&[("a.cu", "#include \"b.cuh\"\n"), ("b.cuh", text)])
            .unwrap()
            .hash()
    };
    assert_ne!(hash("int x;"), hash("int y;"));
}
