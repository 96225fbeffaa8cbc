//! Tests of the values of conditions and of the expansion of macros.

use super::*;
use crate::source::lexer::lex;

/// The words of a source that are not excluded.
fn rest(text: &str) -> String {
    let tokens = lex(text).unwrap();
    let rest = Excluded::of(text, &tokens).rest(&tokens);
    let words: Vec<_> = rest.iter().map(|token| token.text(text)).collect();
    words.join(" ")
}

#[test]
fn code_under_a_constant_condition_is_excluded_with_its_directives() {
    for (text, left) in [
        ("#if 0\na\n#endif\nb", "b"),
        ("#if 1\na\n#else\nb\n#endif", "a"),
        ("#if 0\na\n#elif 2 > 1\nb\n#else\nc\n#endif", "b"),
        ("#ifdef KILN\na\n#else\nb\n#endif", "a"),
        ("#ifndef KILN\na\n#if X\n#else\n#endif\n#endif", ""),
        ("#if !defined(KILN) && X\na\n#endif", ""),
        ("#if defined KILN || X\na\n#endif", "a"),
        ("#if KILN == 1 && (0x10u >> 4) - 1 == 0\na\n#endif", "a"),
        ("#if X ? 0 : 0\na\n#endif", ""),
        (
            "#if 3 * -2 + 7 % 4 == -3 && ~0 == -1 && 1 <= 1\na\n#endif",
            "a",
        ),
        ("#define M 0\n#if M\na\n#endif", "#define M 0"),
        (
            "#define M (N + 1)\n#define N 2\n#if M != 3\na\n#endif\nb",
            "#define M (N + 1) #define N 2 b",
        ),
        (
            "#define M\n#undef M\n#ifdef M\na\n#else\nb\n#endif",
            "#define M #undef M b",
        ),
        ("#ifdef __cplusplus\na\n#endif", "a"),
        (
            "#if 0\n#define M 1\n#endif\n#if M\na\n#endif",
            "#if M a #endif",
        ),
    ] {
        assert_eq!(rest(text), left, "{text}");
    }
}

/// Checks whether code is compiled under a condition, after these definitions; `None` if it is not known.
#[track_caller]
fn has_value(define: &str, condition: &str, value: Option<bool>) {
    let text = format!("{define}\n#if {condition}\nyes\n#else\nno\n#endif");
    let rest = rest(&text);
    let found = match (rest.contains("yes"), rest.contains("no")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    assert_eq!(found, value, "{text}");
}

#[test]
fn macros_in_conditions_are_expanded_token_by_token() {
    let yes = Some(true);
    has_value("#define NEG -1", "3 -NEG == 4", yes);
    has_value("#define X 1 + 1", "!X", yes);
    has_value("#define X 1 + 1", "X * 2 == 3", yes);
    has_value("#define W 0\n#define M 1\n#define TC W || M", "!TC", yes);
    has_value("#define EQ(a, b) a == b", "!EQ(1, 2)", Some(false));
    has_value("#define EQ(a, b) a == b", "!EQ(0, 1)", yes);
    has_value("#define CAT(a, b) a##b", "CAT(1, ) + CAT(, 2) == 3", yes);
    has_value(
        "#define CAT(a, b) a##b\n#define A1 5",
        "CAT(A, 1) == 5 && CAT(, ) 1",
        yes,
    );
    has_value("#define F(a, ...) (a + 0, ##__VA_ARGS__)", "F(1)", yes);
    has_value(
        "#define F(a, ...) a __VA_OPT__(+ __VA_ARGS__)",
        "F(1) == 1 && F(1, 2) == 3",
        yes,
    );
    has_value("#define M M", "M", Some(false));
    has_value("#define F(x) x\n#define G F", "G(1) && !F", yes);
    has_value("#define LT <", "1 <LT 2", None);
    has_value("#define HAS defined(KILN) && defined KILN", "HAS", yes);
}

#[test]
fn integers_in_conditions_have_the_types_of_compilers() {
    for condition in [
        "-1 > 0u",
        "(1 ? -1 : 0u) > 0",
        "0xffffffffffffffff == -1",
        "'a' == 97 && '\\n' == 10 && '\\x41' == 65 && '\\101' == 65",
        "0 && 1 / 0 || 1",
        "-7 / 2 == -3 && -7 % 2 == -1 && -8 >> 1 == -4",
        "not 0 and 1",
    ] {
        has_value("", condition, Some(true));
    }
    for condition in [
        "1 / 0",
        "9223372036854775807 + 1",
        "1 << 64",
        "1 << -1",
        "1.0",
        "'ab'",
        "3 == 4 4",
    ] {
        has_value("", condition, None);
    }
}

#[test]
fn operators_do_not_bind_to_a_part_of_a_macro_whose_definition_is_not_known() {
    let either = |one: &str| format!("#if X\n#define M {one}\n#else\n#define M 0\n#endif");
    has_value(&either("1 || 1"), "M && 0", None);
    has_value(&either("(1 || 1)"), "M && 0", Some(false));
    has_value(&either("N\n#define N 1 || 1"), "M && 0", None);
    has_value(&either("defined(Y)"), "M && 0", Some(false));
}

#[test]
fn a_macro_that_a_pragma_restores_is_not_known() {
    let text = "#define X\n#pragma push_macro(\"X\")\n#undef X\n#pragma pop_macro(\"X\")\n#ifdef X\na\n#endif";
    assert!(rest(text).ends_with("#ifdef X a #endif"));
}

#[test]
fn macros_of_other_systems_are_not_defined() {
    let text = "#if defined(_WIN32) || defined(__APPLE__)\na\n#else\nb\n#endif";
    assert_eq!(rest(text), "b");
}

#[test]
fn a_condition_with_exponentially_many_macros_is_not_evaluated() {
    let mut text = "#define A0 1\n".to_owned();
    for i in 1..32 {
        text += &format!("#define A{i} (A{0} + A{0})\n", i - 1);
    }
    assert!(rest(&format!("{text}#if A31\na\n#endif")).ends_with("#if A31 a #endif"));
}

#[test]
fn code_whose_condition_may_depend_on_the_target_or_the_config_is_kept() {
    for text in [
        "#if X a #endif",
        "#ifdef X a #else b #endif",
        "#if defined(__CUDACC__) a #endif",
        "#if __has_include(<x.h>) || X a #endif",
        "#if (X a #endif",
        "#if 1 / 0 a #endif",
        "#if 0xffffffffffffffffffff a #endif",
        // The config may define the macro before the source.
        "#ifndef M #define M 4 #endif #if M == 3 a #endif",
        "#if X #define M 1 #endif #if M a #endif",
        "#define M 1 #if X #undef M #endif #ifdef M a #endif",
        "#define M 1 #if X #define M 2 #endif #if M == 1 a #endif",
        "#define F(x) #x #if F(1) a #endif",
    ] {
        let lines = text
            .replace(" #", "\n#")
            .replace(" a", "\na")
            .replace(" b", "\nb");
        assert_eq!(rest(&lines), text, "{lines}");
    }
}

#[test]
fn branches_that_are_never_compiled_leave_a_group_that_is_not_decided() {
    let text = "#if 0\na\n#elif X\nb\n#elif 1\nc\n#else\nd\n#endif";
    assert_eq!(rest(text), "#if 0 #elif X b #elif 1 c #endif");
    let text = "#if X\na\n#elif 0\nb\n#endif";
    assert_eq!(rest(text), "#if X a #endif");
}

#[test]
fn an_include_guard_excludes_the_second_inclusion() {
    let guarded = "#ifndef G\n#define G\n#define M 1\na\n#endif\n";
    let text = format!("{guarded}{guarded}#if M\nb\n#endif");
    assert_eq!(rest(&text), "#ifndef G #define G #define M 1 a #endif b");
}

/// Checks cases of the text after `#define`, a text that uses the macro, and the expanded text.
fn expands(cases: &[(&str, &str, &str)]) {
    for (define, used, expanded) in cases {
        let text = format!("#define {define}\n{used}");
        let want = format!("#define {define}\n{expanded}");
        assert_eq!(expand(text), want);
        assert_eq!(
            expand(want.clone()),
            want,
            "a second expansion changes nothing"
        );
    }
}

#[test]
fn macros_that_hide_the_words_of_kernels_are_expanded_in_place() {
    expands(&[
        (
            "KERNEL extern \"C\" __global__",
            "KERNEL void k() {}",
            "extern \"C\" __global__ void k() {}",
        ),
        (
            "KERNEL(n) __global__ void n##_kernel",
            "KERNEL(k)(int n) { KERNEL; }",
            "__global__ void k_kernel(int n) { KERNEL; }",
        ),
        (
            "BOUNDS(...) __launch_bounds__(__VA_ARGS__)",
            "__global__ void BOUNDS(64,\n 2) k() {}\nint x;",
            "__global__ void __launch_bounds__(64, 2)\n k() {}\nint x;",
        ),
        (
            "TABLE static __constant__",
            "TABLE float t[3];",
            "static __constant__ float t[3];",
        ),
        (
            "BEGIN(n) namespace n {",
            "BEGIN(a) int x; }",
            "namespace a { int x; }",
        ),
        (
            "EMPTY()",
            "HIP_DYNAMIC_SHARED(float4, tile)",
            "extern __shared__ float4 tile[];",
        ),
        ("LOCAL __shared__", "LOCAL int x;", "__shared__ int x;"),
        ("K __global__ K", "K void k() {}", "K void k() {}"),
        ("K(n) __global__ void n() { f(#n); }", "K(k)", "K(k)"),
        ("K(n) __global__ void n()", "K(a, b)", "K(a, b)"),
    ]);
    let nested = "#define C extern \"C\"\n#define G __global__\n#define KERNEL C G\n";
    assert_eq!(
        expand(format!("{nested}KERNEL void k() {{}}")),
        format!("{nested}C __global__ void k() {{}}")
    );
}

#[test]
fn braces_names_of_kernels_and_joined_words_are_expanded_as_compilers_do() {
    expands(&[
        (
            "LOCAL __shared__",
            "extern LOCAL int x[];",
            "extern __shared__ int x[];",
        ),
        ("END }", "namespace a { END", "namespace a { }"),
        ("END(n) } }", "END(a) int x;", "} } int x;"),
        (
            "NAME(x) x##_kernel",
            "__global__ void NAME(add)(float* y) { NAME(f)(1); }",
            "__global__ void add_kernel(float* y) { NAME(f)(1); }",
        ),
        (
            "K(n, e) __global__ void n() { y = -e; z = a/e; }",
            "K(k, -v) K(l, *p)",
            "__global__ void k() { y = - -v; z = a/ -v; } __global__ void l() { y = - *p; z = a/ *p; }",
        ),
        (
            "K(a, b) __global__ void a##b()",
            "K(, k) K(k,) K(k, l)",
            "__global__ void k() __global__ void k() __global__ void kl()",
        ),
        (
            "K(n, ...) __global__ void n(int a, ##__VA_ARGS__)",
            "K(k) K(l, int b, int c)",
            "__global__ void k(int a) __global__ void l(int a,int b, int c)",
        ),
        (
            "B(args...) __launch_bounds__(args)",
            "B(256, 2)",
            "__launch_bounds__(256, 2)",
        ),
        (
            "K(n, ...) __global__ void n(int a __VA_OPT__(,) __VA_ARGS__)",
            "K(k) K(l, int b)",
            "__global__ void k(int a) __global__ void l(int a, int b)",
        ),
    ]);
}

#[test]
fn macros_in_the_signatures_of_kernels_are_expanded() {
    expands(&[
        (
            "K scale",
            "__global__ void K(int n) {} int K(int n);",
            "__global__ void scale(int n) {} int K(int n);",
        ),
        (
            "ARGS int n, float* x",
            "__global__ void k(ARGS) { f(ARGS); }",
            "__global__ void k(int n, float* x) { f(ARGS); }",
        ),
        (
            "CAT(a, b) a##b",
            "__global__ void k(CAT(unsigned, ) n, CAT(, float)* x);",
            "__global__ void k(unsigned n, float* x);",
        ),
        (
            "P(a, ...) a, ##__VA_ARGS__",
            "__global__ void k(P(int n), P(int m, int l)) {}",
            "__global__ void k(int n, int m,int l) {}",
        ),
        // The scan knows what such a macro means.
        (
            "REAL float",
            "__global__ void k(REAL x) {}",
            "__global__ void k(REAL x) {}",
        ),
        (
            "CAT(a, b) a##b",
            "void f(CAT(in, t) n) {}",
            "void f(CAT(in, t) n) {}",
        ),
    ]);
    let given = "#ifndef K\n#define K scale\n#endif\n__global__ void K(int n) {}";
    assert_eq!(expand(given.to_owned()), given);
}

#[test]
fn the_definition_of_a_macro_that_hides_words_must_be_known() {
    let source = |one: &str, other: &str| {
        format!("#if X\n#define K {one}\n#else\n#define K {other}\n#endif\nK void k() {{}}")
    };
    for (one, other, head) in [
        ("__global__", "__global__", "__global__"),
        ("__global__", "", "__global__"),
        (
            "__kernel",
            "extern \"C\" __global__",
            "extern \"C\" __global__",
        ),
        ("__global__", "static __global__", "K"),
    ] {
        let text = expand(source(one, other));
        assert!(text.ends_with(&format!("{head} void k() {{}}")), "{text}");
    }
    let changed = "#define K __global__\nK a;\n#undef K\n#define K static __global__\nK b;";
    let expanded = expand(changed.to_owned());
    assert!(expanded.contains("\n__global__ a;"), "{expanded}");
    assert!(expanded.contains("\nstatic __global__ b;"), "{expanded}");
}

proptest::proptest! {
    #[test]
    fn any_soup_of_tokens_expands_to_what_does_not_change_again(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "__global__", "K", "L", "(", ")", "{", "}", ";", ",", "x", "\n#define K ", "\n#define L(x) ", "\n#define K(x, y) ",
            "\n#undef K\n", "#", "##", "\n#if X\n", "\n#if 0\n", "\n#else\n", "\n#endif\n", "__launch_bounds__", "\n",
            "\n#define L(...) ", "__VA_ARGS__", "HIP_DYNAMIC_SHARED", "\n#ifndef K\n", "\n#elif K == 1\n",
        ]), 0..40)) {
        let text = words.join(" ");
        let lines = text.matches('\n').count();
        let once = expand(text);
        proptest::prop_assert_eq!(once.matches('\n').count(), lines);
        proptest::prop_assert_eq!(expand(once.clone()), once);
    }
}
