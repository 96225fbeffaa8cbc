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
    assert_eq!(site.launch_bounds.as_deref(), Some("64, 2"));
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
        ("__global__ int k() {}", "does not return `void`"),
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
            "#define KERNEL(n) __global__ void n()\nKERNEL(k) {}",
            "macro `KERNEL` makes `__global__` functions",
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
            "has another number of template parameters\nhelp: it is `template <typename T, int N = 4>`",
        ),
        (
            "a::b::k<float, 1, 2>",
            "has another number of template parameters",
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
