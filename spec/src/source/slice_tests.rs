use super::*;

/// The text that is left for these entries.
fn reduced(text: &str, entries: &[&str]) -> String {
    // A source without host code is not reduced.
    let source = SourceText::from_expanded(format!("{text}int main() {{ }}"));
    let (reduced, _) = reduce(source, &entries.iter().copied().collect()).unwrap();
    reduced.text().to_owned()
}

/// Checks which lines are left out for the kernel `k`. Each line of the source is one declaration, and those that are
/// expected to be left out begin with `-`.
#[track_caller]
fn assert_left_out(source: &str) {
    let text: String = { source.lines() }
        .map(|line| format!("{}\n", line.trim().trim_start_matches("- ")))
        .collect();
    let expected: String = { source.lines() }
        .map(|line| match line.trim() {
            line if line.starts_with("- ") => "\n".into(),
            line => format!("{line}\n"),
        })
        .collect();
    assert_eq!(reduced(&text, &["k"]), expected);
}

#[test]
fn host_code_is_left_out() {
    assert_left_out(
        "- #include <vector>
        - static std::vector<float> table;
        - using std::vector;
        - using namespace at::native;
        - template <class T> T* upload(const std::vector<T>& x) { T* p; cudaMalloc(&p, 4); return p; }
        __device__ float twice(float x) { return std::max(x, 2 * x); }
        __global__ void k(float* y) { y[0] = twice(y[0]); }
        - void launch(float* y) { k<<<1, 1>>>(y); }
        - TORCH_LIBRARY(ops, m) { m.def(\"k\", &launch); }
        - int main() { launch(upload(table)); }",
    );
}

#[test]
fn a_class_with_an_attribute_macro_is_left_out_like_any_other() {
    assert_left_out(
        "#define LOCKS(x) __attribute__((capability(x)))
        - class LOCKS(\"a\") Unused { std::shared_timed_mutex mutex; };
        class LOCKS(\"b\") Used { float x; };
        __global__ void k(float* y) { y[0] = sizeof(Used); }",
    );
}

#[test]
fn everything_that_the_kernel_names_directly_or_through_others_is_kept() {
    assert_left_out(
        "struct Pair { float a, b; };
        - struct Unused { Pair p; };
        template <class T> struct Traits;
        template <> struct Traits<float> { using Wide = double; };
        enum { WIDTH = 4, HEIGHT };
        typedef struct { float x; } Point;
        - typedef struct { float x; } Corner;
        __constant__ Point origin = {1}, other = {2};
        typedef float (*Function)(Pair);
        __device__ float first(Pair p);
        __device__ float first(Pair p) { return p.a; }
        - __device__ float second(Pair p) { return p.b; }
        __constant__ float scale[HEIGHT];
        #define APPLY(f, x) f(x) * scale[0]
        __global__ void k(float* y) { Function f = first; y[0] = APPLY(f, Pair{}) + sizeof(Traits<float>) + other.x; }",
    );
}

#[test]
fn names_in_the_arguments_of_the_entry_are_kept() {
    let text =
        "struct Add { };\nstruct Mul { };\ntemplate <class Op> __global__ void k(float* y) { }\n";
    assert_eq!(
        reduced(text, &["k<Add>"]),
        text.replace("struct Mul { };", "")
    );
}

#[test]
fn kernels_are_left_out_unless_they_are_entries() {
    let text = "__device__ float f() { return 0; }\n__global__ void a() { }\n__global__ void b() { f(); }\n\
                __global__ void c() { }\n";
    assert_eq!(
        reduced(text, &["a", "c"]),
        "\n__global__ void a() { }\n\n__global__ void c() { }\n"
    );
}

#[test]
fn the_hash_of_the_reduced_source_depends_only_on_what_is_left() {
    let hash = |host: &str| {
        let text = format!("#include <vector>\n{host}\n__global__ void k(float* y) {{ }}\n");
        let source = SourceText::from_expanded(text);
        reduce(source, &BTreeSet::from(["k"])).unwrap().0.hash()
    };
    assert_eq!(
        hash("int main() { return 0; }"),
        hash("int main() { return 1; }")
    );
    assert_ne!(hash("#define A 1"), hash("#define A 2"));
}

#[test]
fn a_source_without_the_entry_or_without_host_code_is_returned_as_it_is() {
    for text in [
        "__global__ void b() { }\nint main() { }\n",
        "__global__ void a() { }\n__global__ void b() { }\n__device__ void f() { }\nstruct S { };\n",
        "unsigned rand(unsigned* state) { return *state; }\nfloat f(const float* vector) { return *vector; }\n\
         __global__ void a() { }\n__device__ float g(unsigned* state) { return rand(state); }\n",
    ] {
        let (same, _) = reduce(SourceText::from_expanded(text), &BTreeSet::from(["a"])).unwrap();
        assert_eq!(same.text(), text);
    }
}

#[test]
fn operators_are_kept_with_their_types() {
    assert_left_out(
        "typedef unsigned int uint;
        struct Pair { float x; };
        - struct Unused { float x; };
        __device__ Pair operator+(Pair a, Pair b) { return {a.x + b.x}; }
        inline __host__ __device__ uint3 operator+(uint3 a, uint b) { return a; }
        - std::ostream& operator<<(std::ostream& out, const Pair& x) { return out << x.x; }
        __global__ void k(uint3* y) { y[0] = y[0] + 1; }",
    );
}

#[test]
fn parentheses_and_template_parameters_do_not_end_a_declaration() {
    assert_left_out(
        "struct Opt { int n; };
        struct P { float x; };
        __device__ float helper(float x) { return x; }
        __device__ float f(float x, Opt o = {}) { return helper(x); }
        - void run(float* x, Opt o = {}, cudaStream_t s = {}) { f(x); }
        - static Reg reg(\"x\", [](float* p) { cudaFree(p); });
        - REGISTER_OP(\"X\").SetShapeFn([](C* c) { c->n = 1; return OK(); });
        - template <class T, class = std::enable_if_t<sizeof(T) <= 4>> __device__ int small(T) { return 1; }
        template <class T> struct Traits { static constexpr int v = 1; };
        template <> struct Traits<float> final { static constexpr int v = 2; };
        typedef struct ALIGN(16) { float x; } Aligned;
        __global__ void k(Aligned* y) { y[0].x = f(Traits<float>::v); P p; }",
    );
}

#[test]
fn what_macros_produce_from_their_arguments_is_kept() {
    assert_left_out(
        "#define TYPES(X) X(int, 5) X(float, 6)
        #define TRAIT(T, x) template <> struct Lim<T> { static constexpr int v = x; };
        template <class T> struct Lim { static constexpr int v = 1; };
        TYPES(TRAIT);
        #define SPECS template <> struct Lim<char> { static constexpr int v = 2; }
        SPECS;
        #define DEFINE_LAUNCH(T) void launch_##T(T* p) { k<<<1, 1>>>(p); }
        - DEFINE_LAUNCH(float);
        #define CAT(a, b) a##b
        #define ACT_RELU(x) relu_impl(x)
        __device__ float relu_impl(float x) { return x; }
        __global__ void k(float* y) { y[0] = Lim<float>::v + CAT(ACT_, RELU)(y[0]); }",
    );
}

#[test]
fn host_variables_are_left_out_even_if_the_kernel_has_names_like_theirs() {
    assert_left_out(
        "- std::vector<float> a, out;
        - cudaEvent_t start, stop;
        - static const std::map<int, int> y = {};
        - typedef std::vector<float> vec;
        - void init(float* p) { *p = rand(); }
        __host__ constexpr int size(int n) { return n; }
        __global__ void k(float* out, int a) { int start = a, y = 0, vec = 0, init = 0; float s[size(4)]; }",
    );
}

#[test]
fn a_parameter_of_the_kernel_does_not_keep_a_declaration_of_its_name() {
    assert_left_out(
        "- const float cutoff = 1.9f;
        - const float cutoff_square = cutoff * cutoff;
        static const float scale = 2;
        namespace limits { static const float low = 1; }
        struct Pair { float x; };
        #define width (height * 2)
        static const int height = 3;
        static const float offset = 2;
        __device__ float shifted(float x) { return x + offset; }
        __global__ void k(float* y, float cutoff_square, float low, Pair Pair, int width, float offset) { y[0] = cutoff_square * scale + limits::low + shifted(offset); }",
    );
}

#[test]
fn functions_for_hosts_are_left_out_even_if_they_overload_what_the_kernel_calls() {
    assert_left_out(
        "#define HD __host__ __device__
        HD float f(float x) { return x; }
        HD double f(double x) { return x; }
        - std::vector<float> f(std::vector<float> x) { return x; }
        - __host__ inline float f(int x) { return x; }
        int f(char x) { return x; }
        float helper(float x) { return x; }
        - float* y(int n) { float* p; cudaMalloc(&p, n); return p; }
        __global__ void k(float* y) { y[0] = f(helper(y[0])); }
        - void helper_of_host(float* y) { k<<<1, 1>>>(y); }",
    );
}

#[test]
fn declarations_that_macros_produce_are_kept() {
    assert_left_out(
        "#define DEFINE(name, op) __device__ float name(float x) { return x op x; }
        #define JOINED(name) __device__ float name##_joined(float x) { return x; }
        DEFINE(square, *);
        #define FLOOR(y, n) ((y) / (n) * (n))
        - int rounded = FLOOR(7, 2);
        JOINED(f);
        __global__ void k(float* y) { y[0] = f_joined(square(y[0])); }",
    );
}

#[test]
fn declarations_whose_names_are_macros_or_have_no_name_are_kept() {
    assert_left_out(
        "#define NAME square
        __device__ float NAME(float x) { return x * x; }
        static union { int bits; float value; };
        __global__ void k(float* y) { y[0] = square(y[0]); }",
    );
}

#[test]
fn functions_whose_names_a_macro_joins_are_kept() {
    assert_left_out(
        "#define JOIN2(a, b) a##b
        #define JOIN(a, b) JOIN2(a, b)
        __device__ float tile_8(float x) { return x; }
        __device__ float tile_16(float x) { return half_of(x); }
        __device__ float half_of(float x) { return x / 2; }
        - __device__ float other_16(float x) { return x; }
        __global__ void k(float* y) { y[0] = JOIN(tile_, TILE)(y[0]); }",
    );
}

#[test]
fn assertions_are_kept_with_what_they_assert() {
    assert_left_out(
        "struct Used { float x; };
        - struct Unused { std::string x; };
        static_assert(sizeof(Used) == 4, \"\");
        - static_assert(sizeof(Unused) == 32, \"\");
        __global__ void k(float* y) { Used u; }",
    );
}

#[test]
fn using_directives_are_kept_if_their_namespaces_exist() {
    assert_left_out(
        "namespace mine { }
        using namespace mine;
        namespace cg = cooperative_groups;
        using namespace cg;
        using namespace nvcuda::wmma;
        - using namespace torch::indexing;
        - using namespace std::chrono;
        - namespace py = pybind11;
        __global__ void k(float* y) { }",
    );
}

#[test]
fn headers_of_vector_instructions_and_of_opencl_are_for_hosts() {
    let text = "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n#ifdef CL\n#include <CL/cl.h>\n#endif\n\
                __global__ void k(float* y) { }\n";
    assert!(!reduced(text, &["k"]).contains("#include"));
}

#[test]
fn headers_for_hosts_are_left_out_under_conditions_too_unless_the_source_knows_kiln() {
    let text = "#ifdef __linux__\n#include <string>\n#endif\n__global__ void k(float* y) { }\n";
    assert!(!reduced(text, &["k"]).contains("<string>"));
    let text = text.replace("#ifdef __linux__", "#if KILN_CPU");
    assert!(reduced(&text, &["k"]).contains("<string>"));
}

#[test]
fn a_source_with_pragma_once_does_not_know_kiln() {
    let root = "#include \"h.cuh\"\n__global__ void k(float* y) { }\nint main() { }\n";
    let header =
        "#pragma once\n#ifdef USE_HIP\n#include <a.h>\n#else\n#include <cublas_v2.h>\n#endif\n";
    let mut read = |name: &str| Ok(if name == "a.cu" { root } else { header }.to_owned());
    let source = SourceText::load("a.cu", &mut read).unwrap();
    assert!(source.text().contains(ONCE_GUARD), "{}", source.text());
    let (reduced, _) = reduce(source, &BTreeSet::from(["k"])).unwrap();
    assert!(
        !reduced.text().contains("cublas_v2.h"),
        "{}",
        reduced.text()
    );
}

proptest::proptest! {
    #[test]
    fn a_reduced_source_has_the_same_lines_and_entries(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "__global__ void k(float* y) { f(); } ", "__global__ void other() { } ", "__device__ ", "__host__ ", "void ",
            "f() { g(); } ", "g() { } ", "struct S ", "{ int x; } ", "; ", "S ", "= ", "typedef ", "using ", "enum ", "E ",
            "template <class T> ", "<S> ", "namespace n { ", "} ", "(S x) ", ", ", ": ", ":: ", "operator+ ", "static_assert(1) ",
            "\n#define M f\n", "\n#define J(a, b) a##b\n", "\n#if X\n", "\n#else\n", "\n#endif\n", "M ", "J(x, y) ",
            "\n#include <vector>\n", "\n#pragma unroll\n", "\n#pragma pack(push, 1)\n", "k<<<1, 1>>>() ",
        ]), 0..50)) {
        let entries = BTreeSet::from(["k"]);
        let source = SourceText::from_expanded(words.concat());
        if let Ok(scan) = SourceScan::new(&source) {
            let was_tunable = scan.entry("k").is_ok();
            let lines = source.text().lines().count();
            let (reduced, scan) = reduce(source, &entries).expect("the reduced source should scan");
            proptest::prop_assert_eq!(reduced.text().lines().count(), lines);
            proptest::prop_assert_eq!(scan.entry("k").is_ok(), was_tunable, "{}", reduced.text());
        }
    }
}
