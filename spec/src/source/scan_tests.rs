//! Tests of the scan over small sources.

use super::*;
use crate::source::error::SourceError;
use crate::source::flatten::SourceText;

fn scan(text: &str) -> SourceScan {
    SourceScan::new(&SourceText::from_expanded(text)).expect("the source should scan")
}

fn refusal(text: &str) -> String {
    scan(text).entry("k").unwrap_err().to_string()
}

#[test]
fn a_plain_kernel_is_found_with_its_parts() {
    let text = "extern \"C\" __global__ void __launch_bounds__(64, 2)\n\
                k(const float* __restrict__ a, unsigned int n, float b[]) { b[0] = a[n]; }\n";
    let found = scan(text);
    let entry = found.entry("k").unwrap();
    let site = entry.sites[0];
    assert_eq!(&text[site.name_range.clone()], "k");
    assert_eq!(
        &text[site.params_range.clone()],
        "const float* __restrict__ a, unsigned int n, float b[]"
    );
    assert_eq!(&text[site.body_open.unwrap()..][..6], " b[0] ");
    assert_eq!(&text[site.range.clone()], text.trim_end());
    assert_eq!(
        site.launch_bounds.as_deref(),
        Some("__launch_bounds__(64, 2)")
    );
    assert!(site.extern_c && !site.in_extern_c_block);
    let params: Vec<_> = entry
        .params()
        .iter()
        .map(|p| (p.ty.as_str(), p.name.as_str()))
        .collect();
    assert_eq!(
        params,
        [
            ("const float * __restrict__", "a"),
            ("unsigned int", "n"),
            ("float *", "b")
        ]
    );
}

#[test]
fn directives_may_be_among_the_specifiers_of_a_kernel() {
    let template = "template <int D> // a comment\n#ifndef HIP\n__launch_bounds__(D, 1)\n#endif\nstatic __global__ void k(float* x) { x[0] = D; }";
    let found = scan(template);
    let entry = found.entry("k<64>").unwrap();
    assert_eq!(
        entry.sites[0].launch_bounds.as_deref(),
        Some("\n#ifndef HIP\n__launch_bounds__(D, 1)\n#endif")
    );
    for text in [
        "template <int D>\n#ifdef A\n__launch_bounds__(1)\n#else\n__launch_bounds__(2)\n#endif\n__global__ void k(float* x) {}",
        "template <int D> __global__ void\n#if A\n__launch_bounds__(1)\n#else\n__launch_bounds__(2)\n#endif\nk(float* x) {}",
        "int x;\nCALL(x)\ntemplate <int D>\nATTRIBUTE(256)\n__global__ void k(float* x) {}",
    ] {
        let found = scan(text);
        assert!(found.entry("k<4>").is_ok(), "{text}");
    }
    let plain = "int x;\n#ifndef HIP\n__launch_bounds__(64)\n#endif\nstatic __global__ void k() {}";
    let found = scan(plain);
    let site = found.entry("k").unwrap().sites[0];
    assert!(plain[site.range.clone()].starts_with("#ifndef HIP"));
    let conditional = "int x;\n#ifdef __CUDACC__\n__global__\n#endif\nvoid k(float* x) {}";
    let found = scan(conditional);
    let site = found.entry("k").unwrap().sites[0];
    assert!(conditional[site.range.clone()].starts_with("#ifdef"));
    let divided = "template <int D>\n#if A\n__global__ void k(int* x) {}\n#else\n__global__ void k(float* x) {}\n#endif";
    let found = scan(divided);
    let error = found.entry("k<4>").unwrap_err().to_string();
    assert!(error.contains("directive in its signature"), "{error}");
}

#[test]
fn an_explicit_instantiation_does_not_matter() {
    let found = scan(
        "template <class T> __global__ void k(T* x) {}\ntemplate __global__ void k<float>(float*);\n\
         template __global__ void k<int>(int* x);",
    );
    assert_eq!(found.entry("k<float>").unwrap().sites.len(), 1);
}

#[test]
fn braces_that_a_condition_opens_and_the_same_condition_closes_are_of_the_kernel() {
    let text = "namespace a {\n__global__ void k(float* y, int n) {\n#if LOOP\n  for (int i = 0; i < n; ++i) {\n#else\n  int i = 0;\n\
                #endif\n  y[i] = 1;\n#if LOOP\n  }\n#endif\n}\n__global__ void after() {}\n}";
    let found = scan(text);
    let site = found.entry("a::k").unwrap().sites[0];
    assert!(text[site.range.clone()].ends_with("#endif\n}"));
    assert!(found.entry("a::after").is_ok());
}

#[test]
fn two_signatures_with_one_body_are_refused() {
    let error = refusal(
        "#if HALF\n__global__ void k(const short* x) {\n#else\n__global__ void k(const float* x) {\n#endif\n  f(x);\n}",
    );
    assert!(error.contains("begins in a branch"), "{error}");
}

#[test]
fn a_namespace_may_be_named_by_a_macro() {
    let found = scan("#define SPACE a::b\nnamespace SPACE { __global__ void k() {} }");
    assert!(found.entry("a::b::k").is_ok());
}

#[test]
fn parameters_may_have_attributes() {
    let found = scan(
        "__global__ void k([[maybe_unused]] const int n, float* x [[maybe_unused]], __attribute__((unused)) int m) {}",
    );
    let entry = found.entry("k").unwrap();
    let params = entry.params().iter();
    let params: Vec<_> = params.map(|p| (p.ty.as_str(), p.name.as_str())).collect();
    assert_eq!(params, [("const int", "n"), ("float *", "x"), ("int", "m")]);
}

#[test]
fn operators_in_template_parameters_and_defaults_are_no_brackets() {
    for head in [
        "int D, int B = (D <= 64 ? 128 : 64)",
        "int D, int B = 1 << 4",
        "int D, bool B = (D >= 4 && D < 8)",
        "class D, class B = pair<D, pair<int, int>>",
    ] {
        let text =
            format!("template <{head}> __global__ void k(int a = 1 << 2, float* y = nullptr) {{}}");
        let found = scan(&text);
        let entry = found
            .entry("k<4, 8>")
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let params = entry.sites[0].template.as_ref().unwrap().params.as_ref();
        assert_eq!(params.map(Vec::len), Some(2), "{text}");
        assert_eq!(entry.params().len(), 2, "{text}");
    }
}

#[test]
fn a_constant_of_a_template_type_is_one_variable() {
    let found = scan("__constant__ Vec<float, 3> v, w[2];");
    let names: Vec<_> = found.constants().iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["v", "w"]);
}

#[test]
fn a_comment_after_an_include_is_not_part_of_its_name() {
    let found = scan("#include <vector> // for the host\n#include \"a.h\" /* b */\n");
    let headers: Vec<_> = found.includes().iter().map(|i| i.header.as_str()).collect();
    assert_eq!(headers, ["vector", "a.h"]);
}

#[test]
fn attributes_macros_and_launch_bounds_may_stand_anywhere_before_the_name() {
    for head in [
        "__launch_bounds__(THREADS) __global__ void",
        "static __global__ void __attribute__((used))",
        "__global__ __launch_bounds__(THREADS, 1) void",
        "__global__ void BOUNDS(THREADS)",
        "[[maybe_unused]] inline __global__ void",
        "__global__ static void",
        "MY_ATTRIBUTE __global__ void",
    ] {
        let text = format!("int before;\n{head} k(int n) {{}}\nint after;");
        let found = scan(&text);
        let entry = found
            .entry("k")
            .unwrap_or_else(|error| panic!("{head}: {error}"));
        let range = entry.sites[0].range.clone();
        assert_eq!(text[range], format!("{head} k(int n) {{}}"), "{head}");
    }
}

#[test]
fn a_macro_call_without_semicolon_on_the_line_before_is_not_part_of_the_kernel() {
    let text = "CHECK(1)\n__global__ void k() {}";
    let found = scan(text);
    assert_eq!(
        &text[found.kernels()[0].range.clone()],
        "__global__ void k() {}"
    );
}

#[test]
fn kernels_in_comments_strings_and_macros_are_none() {
    let found = scan(
        "// __global__ void a() {}\n/* __global__ void b() {} */\nconst char* s = \"__global__ void c() {}\";\n\
         #define D __global__ void d() {}\n",
    );
    assert!(found.kernels().is_empty());
}

#[test]
fn a_block_of_c_linkage_is_file_scope() {
    let found = scan("extern \"C\" {\nint x;\n__global__ void k() {}\n}\n__global__ void l() {}");
    assert!(found.entry("k").unwrap().sites[0].in_extern_c_block);
    assert!(!found.entry("l").unwrap().sites[0].in_extern_c_block);
}

#[test]
fn what_cannot_be_an_entry_is_refused_with_its_reason() {
    for (text, reason) in [
        (
            "template <int N> __global__ void k(int n) {}",
            "is a template",
        ),
        (
            "template <> __global__ void k<4>(int n) {}",
            "is specialised",
        ),
        (
            "namespace a { namespace b { __global__ void k() {} } }",
            "is declared in a namespace",
        ),
        (
            "namespace { __global__ void k() {} }",
            "is declared in a namespace",
        ),
        (
            "struct S { static __global__ void k() {} };",
            "is declared inside a class",
        ),
        // An explicit instantiation has no list of parameters after `template`.
        (
            "template extern __global__ void k(int n);",
            "is specialised",
        ),
        ("__global__ int k() {}", "does not return `void`"),
        ("int __global__ k(void) {}", "does not return `void`"),
        ("void f(); __global__ int k() {}", "does not return `void`"),
        ("__global__ auto k() -> int {}", "does not return `void`"),
        ("__global__ void k(int n, ...) {}", "takes `...`"),
        (
            "__global__ void k(int n,\n#ifdef X\nint m\n#endif\n) {}",
            "preprocessor directive in its signature",
        ),
        ("__global__ void k(int n);", "is declared but not defined"),
        (
            "__global__ void k() {}\n__global__ void k(int n) {}",
            "is defined twice, first at source:1",
        ),
        (
            "__global__ void other() {}",
            "no `__global__` function `k` in the source (found: `other`)",
        ),
        (
            "#define KERNEL(n) const char* s = #n; __global__ void n()\nKERNEL(k) {}",
            "macro `KERNEL` (source:1) produces `__global__` functions in a form that Kiln does not expand",
        ),
    ] {
        let message = refusal(text);
        assert!(message.contains(reason), "{text}\n{message}");
        assert!(message.contains("\nhelp: "), "{message}");
    }
    assert!(refusal("namespace a {\n__global__ void k() {} }").starts_with("source:2: "));
}

#[test]
fn a_template_is_named_with_its_arguments_and_a_namespace_with_its_name() {
    let found = scan(
        "namespace a { inline namespace b {\ntemplate <typename T, int N = 4> __global__ void k(T* x) {}\n} }\n\
         namespace c { __global__ void k(int* x) {} }",
    );
    let at = |name: &str| found.entry(name).map(|entry| entry.sites[0].at.to_string());
    assert_eq!(
        at("a::b::k<float>").unwrap(),
        at("a::b::k<float, 8>").unwrap()
    );
    assert_ne!(at("a::b::k<float>").unwrap(), at("c::k").unwrap());
    for (name, reason) in [
        (
            "k",
            "is declared in a namespace\nhelp: name it with its namespace: `entry = \"a::b::k\"`",
        ),
        (
            "a::b::k",
            "is a template\nhelp: name an instantiation, as in `entry = \"k<float, 256>\"`",
        ),
        (
            "a::b::k<>",
            "has a different number of template parameters\nhelp: it is `template <typename T, int N = 4>`",
        ),
        (
            "a::b::k<float, 1, 2>",
            "has a different number of template parameters",
        ),
        (
            "c::k<float>",
            "is not a template\nhelp: name it without arguments: `k`",
        ),
    ] {
        let error = at(name).unwrap_err().to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
    let function =
        scan("template <typename T, T (*F)(const T&, int), int N = 2> __global__ void k(T* x) {}");
    let entry = function.entry("k<float, twice<float>>").unwrap();
    let template = entry.sites[0].template.as_ref().unwrap();
    let declarations: Vec<_> = template.params.as_ref().unwrap().iter().collect();
    assert_eq!(declarations[1].name, "F");
    assert_eq!(
        declarations[1].declaration.as_deref(),
        Some("T (*F)(const T&, int)")
    );
    assert_eq!(declarations[2].declaration.as_deref(), Some("int N"));
    let pack = scan("template <class... T> __global__ void k() {}");
    let error = pack.entry("k<int>").unwrap_err().to_string();
    assert!(
        error.contains("is a pack, a template or without a name"),
        "{error}"
    );
}

#[test]
fn a_namespace_that_is_closed_does_not_count() {
    let found = scan(
        "namespace a { struct S { int x; }; void f() { if (1) { } } }\n__global__ void k() {}",
    );
    assert!(found.entry("k").is_ok());
}

#[test]
fn definitions_in_branches_of_one_conditional_are_one_entry() {
    let found = scan(
        "#if A\n__global__ void k(int n) { if (n) {\n#if B\n} else {\n#else\n}  {\n#endif\n} }\n\
         #elif C\n__global__ void k(int n) {}\n#else\n__global__ void k(int n) {}\n#endif\n\
         __global__ void l() {}",
    );
    assert_eq!(found.entry("k").unwrap().sites.len(), 3);
    assert!(
        found.entry("l").is_ok(),
        "braces balance again after the branches"
    );
    let twice =
        scan("#if A\n__global__ void k() {}\n#endif\n#if B\n__global__ void k() {}\n#endif\n");
    assert!(matches!(twice.entry("k"), Err(EntryError::Twice { .. })));
    let guarded = "#ifndef G\n#define G\n__global__ void k() {}\n#endif\n";
    assert!(
        scan(&guarded.repeat(2)).entry("k").is_ok(),
        "the same guard keeps one of them"
    );
}

#[test]
fn definitions_whose_conditions_exclude_each_other_are_one_entry() {
    for (first, second) in [
        ("#ifdef A", "#ifndef A"),
        ("#if KIND == 1", "#if KIND == 2 && B"),
        ("#if A", "#if B\n#elif !A"),
        ("#if B\n#else", "#if B"),
        ("#if A && B\n#else", "#if A && B"),
        ("#if 0", "#if A"),
        ("#ifndef KILN", "#if 1"),
    ] {
        let text = [first, second]
            .map(|condition| format!("{condition}\n__global__ void k(int n) {{}}\n#endif\n"));
        let found = scan(&text.concat());
        assert!(found.entry("k").is_ok(), "{first}, {second}");
    }
}

#[test]
fn two_definitions_that_may_be_compiled_together_are_reported_with_their_conditions() {
    for (text, message) in [
        (
            "#if A\n__global__ void k() {}\n#endif\n#ifdef B\n__global__ void k() {}\n#endif",
            "source:5: kernel `k` is defined twice, first at source:2: `#if A` (source:1) and `#ifdef B` (source:4) may both \
             be true\nhelp: write both definitions in one `#if .. #else .. #endif`, or give each kernel a name of its own",
        ),
        (
            "__global__ void k() {}\n#if X == 1 // why\n__global__ void k() {}\n#endif",
            "source:3: kernel `k` is defined twice, first at source:1: the condition `#if X == 1` (source:2) does not \
             exclude the other definition\nhelp: put the other definition into the `#else` of that condition, or give each \
             kernel a name of its own",
        ),
        (
            "__global__ void k() {}\n__global__ void k() {}",
            "source:2: kernel `k` is defined twice, first at source:1\nhelp: give each kernel a name of its own",
        ),
        (
            "#if 0\n__global__ void k() {}\n#endif",
            "no `__global__` function `k` in the source (found: none)\nhelp: the one at source:2 is never compiled, because \
             the condition of its `#if` is constant",
        ),
        (
            "#if A\n#define K __global__\n#else\n#define K static __global__\n#endif\nK void k() {}",
            "no `__global__` function `k` in the source (found: none)\nhelp: macro `K` produces `__global__` functions, but \
             Kiln does not know which of its definitions applies (source:2, source:4): define the macro once, or write \
             `__global__` out",
        ),
    ] {
        assert_eq!(refusal(text), message);
    }
}

#[test]
fn code_that_is_never_compiled_declares_and_uses_nothing() {
    let found = scan(
        "#if 0\n__global__ void k(float x) { __syncthreads(); }\n#endif\n\
         #define OLD 0\n#if OLD\nnamespace old {\n__constant__ float c[4];\n#endif\n\
         #ifdef KILN\n__global__ void k(int n) {\n#else\n__global__ void k(long n) { __syncthreads();\n#endif\n  DEEP; }\n\
         __global__ void l() {}",
    );
    let entry = found.entry("k").unwrap();
    assert_eq!(
        (entry.sites.len(), entry.params()[0].ty.as_str()),
        (1, "int")
    );
    assert_eq!(found.mode("k"), Mode::Loop);
    assert!(found.entry("l").is_ok() && found.constants().is_empty());
    assert!(found.mentions("DEEP") && !found.mentions("__syncthreads"));
}

#[test]
fn kernels_behind_macros_are_found() {
    let found = scan(
        "#define KERNEL extern \"C\" __global__ void __launch_bounds__(THREADS)\n#define LOCAL extern __shared__\n\
         #define NAMED(n) template <typename T> __global__ void n##_kernel(T* x)\n\
         KERNEL k(int n) { LOCAL float tile[]; }\nNAMED(fill) { x[0] = 1; }",
    );
    let site = found.entry("k").unwrap().sites[0];
    assert!(site.extern_c);
    assert_eq!(
        site.launch_bounds.as_deref(),
        Some("__launch_bounds__(THREADS)")
    );
    assert_eq!(found.dynamic_shared().len(), 1);
    assert!(found.entry("fill_kernel<float>").is_ok());
}

#[test]
fn a_prototype_and_a_definition_are_one_entry() {
    let found = scan("__global__ void k(int);\n__global__ void k(int n) {}");
    let entry = found.entry("k").unwrap();
    assert_eq!(
        (entry.sites.len(), entry.params()[0].name.as_str()),
        (2, "n")
    );
}

#[test]
fn mentions_are_uses_in_code_and_conditions() {
    let found = scan(
        "#ifndef GUARDED\n#define GUARDED 4\n#endif\n#if defined(ASKED) && TESTED > 1\n#endif\n\
         #define WRAPPED (USED_BY_MACRO + 1)\n// COMMENT\nconst char* s = \"STRING\";\n\
         #pragma unroll UNROLLED\nint x = CODE;",
    );
    for name in ["TESTED", "USED_BY_MACRO", "UNROLLED", "CODE"] {
        assert!(found.mentions(name), "{name}");
    }
    for name in ["GUARDED", "ASKED", "WRAPPED", "COMMENT", "STRING"] {
        assert!(!found.mentions(name), "{name}");
    }
}

#[test]
fn the_mode_follows_what_the_kernel_can_reach() {
    let mode = |text: &str| scan(text).mode("k");
    let helper = "__device__ float sum(float x) { __syncthreads(); return x; }\n";
    assert_eq!(
        mode(&format!("{helper}__global__ void k() {{}}")),
        Mode::Loop
    );
    assert_eq!(
        mode(&format!("{helper}__global__ void k() {{ sum(1); }}")),
        Mode::Fiber
    );
    assert_eq!(
        mode("__global__ void k() {}\n__global__ void l() { __syncthreads(); }"),
        Mode::Loop
    );
    assert_eq!(
        mode("__global__ void k() { /* __syncthreads(); */ }"),
        Mode::Loop
    );
    for reached in [
        "#define SYNC() BARRIER()\n#define BARRIER() __syncwarp()\n__global__ void k() { SYNC(); }",
        "struct S { __device__ void go() { __shfl_down_sync(0, 0, 1); } };\n__device__ S make() { return S(); }\n\
         __global__ void k() { make().go(); }",
        "namespace cg = cooperative_groups;\n__global__ void k() { cg::this_thread_block(); }",
        "using namespace cooperative_groups;\n__global__ void k() { this_thread_block(); }",
        "struct V {};\n__device__ V operator+(V a, V b) { __any_sync(0, 0); return a; }\n\
         __global__ void k() {}",
        "template <class T> __device__ T f(T x) { return __ballot_sync(0, x); }\n\
         template <class T> __device__ T g(T x) { return f<T>(x); }\n__global__ void k() { g(1); }",
        "__global__ void k() {\n#if WARP\n__shfl_sync(0, 0, 0);\n#endif\n}",
        "#include \"kiln.cuh\"\n__global__ void k() { kiln::block_sum<64>(1.0f); }",
        "__global__ void k() { kiln::tile_acc sum; }",
    ] {
        assert_eq!(mode(reached), Mode::Fiber, "{reached}");
    }
}

#[test]
fn the_barriers_that_a_kernel_can_reach_are_named() {
    let text = "#include \"kiln.cuh\"\n__device__ int wait() { __syncthreads(); return 0; }\n\
                __global__ void k() { wait(); kiln::block_sum<64>(1.0f); }\n__global__ void l() {}";
    let found = scan(text);
    assert_eq!(found.barriers("k"), ["__syncthreads", "block_sum"]);
    assert!(found.barriers("l").is_empty());
}

#[test]
fn dynamic_shared_arrays_are_found_with_type_and_name() {
    let text = "__global__ void k() {\n  extern __shared__ __align__(16) unsigned char raw[];\n\
                  alignas(16) extern __shared__ ns::T tile[];\n  extern __shared__ float a[][4];\n}\n\
                extern __shared__ float outside[];\nextern int plain;";
    let found = scan(text);
    let declared: Vec<_> = found
        .dynamic_shared()
        .iter()
        .map(|d| {
            (
                d.declares.as_ref().map(|(t, n)| (t.as_str(), n.as_str())),
                d.file_scope,
            )
        })
        .collect();
    assert_eq!(
        declared,
        [
            (Some(("unsigned char", "raw")), false),
            (Some(("ns :: T", "tile")), false),
            (None, false),
            (Some(("float", "outside")), true)
        ]
    );
    assert!(text[found.dynamic_shared()[1].range.clone()].starts_with("alignas(16) extern"));
}

#[test]
fn pragmas_and_includes_are_found() {
    let text = "#include <cuda_fp16.h>\n#if X\n#include <other.h>\n#endif\n\
                __global__ void k() {\n#pragma unroll\nfor (;;) ;\n#pragma unroll (N / 2) // half\nfor (;;) ;\n}";
    let found = scan(text);
    let conditional: Vec<_> = found.includes().iter().map(|i| i.conditional).collect();
    assert_eq!(conditional, [false, true]);
    let counts: Vec<_> = found.unrolls().iter().map(|u| u.count.as_deref()).collect();
    assert_eq!(counts, [None, Some("(N / 2)")]);
}

#[test]
fn constant_variables_are_found_with_their_types_and_whether_they_have_values() {
    let found = scan(
        "__constant__ float taps[2 * RADIUS + 1];\n\
         static __constant__ unsigned int a, table[4][N];\n\
         __constant__ const float given[2] = {1.0f, 2.0f};\n\
         namespace n { __device__ __constant__ int braced{3}; }\n\
         extern __constant__ float elsewhere[];\n\
         __device__ float tap(int i) { return taps[i]; }\n\
         __global__ void k(float* y) { y[0] = tap(0) + braced; }",
    );
    let all: Vec<_> = found
        .constants()
        .iter()
        .map(|c| {
            (
                c.name.as_str(),
                c.ty.as_str(),
                c.dimensions.join("|"),
                c.initialised,
            )
        })
        .collect();
    assert_eq!(
        all,
        [
            ("taps", "float", "2 * RADIUS + 1".to_owned(), false),
            ("a", "unsigned int", String::new(), false),
            ("table", "unsigned int", "4|N".to_owned(), false),
            ("given", "float", "2".to_owned(), true),
            ("braced", "int", String::new(), true),
        ]
    );
    let paths: Vec<String> = found.constants().iter().map(|c| c.path()).collect();
    assert_eq!(paths, ["taps", "a", "table", "given", "n::braced"]);
    let reached: Vec<_> = found
        .constants_of("k")
        .into_iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(reached, ["taps", "braced"]);
}

#[test]
fn unmatched_conditionals_are_errors() {
    for text in ["#endif", "#else", "#if X\nint a;", "#elif X"] {
        let error = SourceScan::new(&SourceText::from_expanded(text)).unwrap_err();
        assert!(
            matches!(error, SourceError::Conditional { .. }),
            "{text}: {error}"
        );
    }
}

#[test]
fn kernels_that_are_not_tuned_may_have_any_form() {
    let found = scan(
        "template <class T> __global__ void a(T* x) {}\nnamespace n { __global__ void b() {} }\n\
         __global__ void c(int n = 1) {}\n__global__ void k() {}",
    );
    assert!(found.entry("k").is_ok());
    assert!(found.kernels()[0].template.is_some());
}

proptest::proptest! {
    #[test]
    fn any_soup_of_tokens_scans_or_is_refused(words in proptest::collection::vec(
        proptest::sample::select(vec![
            "__global__", "void", "k", "(", ")", "{", "}", ";", ",", "int", "n", "extern", "\"C\"", "namespace",
            "__shared__", "[", "]", "\n#if X\n", "\n#else\n", "\n#endif\n", "template", "<", ">", "__launch_bounds__",
            "struct", "static", "=", "__constant__", "\n#define M ", "\n#pragma unroll ", "using", "typedef", "alignas", "*",
        ]), 0..60)) {
        let source = SourceText::from_expanded(words.join(" "));
        if let Ok(found) = SourceScan::new(&source) {
            let _ = found.entry("k");
            let _ = found.mode("k");
            for kernel in found.kernels() {
                let inside = kernel.range.start <= kernel.name_range.start && kernel.name_range.end <= kernel.range.end;
                proptest::prop_assert!(inside);
            }
        }
    }
}
