//! Compiles generated units with real compilers. Every supported source must compile, both entries must be exported,
//! and the receipt entry must not add an instruction to the release entry.

#![cfg(target_arch = "x86_64")]

mod units;

use kiln_spec::codegen::TranslationUnit;
use kiln_spec::source::Mode;
use kiln_spec::{ElemType, ParamValue};
use units::{Case, compile, compilers, exports, instructions};

#[test]
fn streaming_stores_go_past_the_caches_and_plain_ones_do_not() {
    for (hint, wanted) in [("streaming", true), ("plain", false)] {
        let source = format!(
            "#include \"kiln.cuh\"\nextern \"C\" __global__ void fill(float x, float* y) {{\n    \
             kiln::store_aligned<kiln::hint::{hint}>(y + 8 * threadIdx.x, kiln::splat<8>(x));\n}}\n"
        );
        let unit = Case::new("fill", &[]).unit(&[("kernel.cu", &source)]);
        for cxx in compilers() {
            let object = compile(cxx, &unit.text).unwrap_or_else(|messages| panic!("{messages}"));
            let all = instructions(&object, |_| true);
            let past = all.iter().flatten().any(|line| line.contains("movnt"));
            assert_eq!(past, wanted, "{cxx}, {hint}");
        }
    }
}

/// Compiles a unit with every compiler, and checks that both entries are exported.
fn check(unit: &TranslationUnit) {
    for cxx in compilers() {
        let object = compile(cxx, &unit.text).unwrap_or_else(|messages| panic!("{messages}"));
        let exported = exports(&object);
        for symbol in [&unit.release, &unit.receipt] {
            let name = format!("kiln_cpu_run_{symbol}");
            assert!(exported.contains(&name), "{cxx}: no {name} in {exported:?}");
        }
    }
}

fn check_one(case: &Case, source: &str) -> TranslationUnit {
    let unit = case.unit(&[("kernel.cu", source)]);
    check(&unit);
    unit
}

#[test]
fn an_unmodified_kernel_that_reads_macros_compiles() {
    let source = "extern \"C\" __global__ void __launch_bounds__(THREADS)\nscale(const float* x, float* y, int n) {\n\
                  int i = blockIdx.x * THREADS + threadIdx.x;\n  if (i < n) y[i] = FACTOR * x[i];\n}\n";
    let unit = check_one(
        &Case::new("scale", &[("THREADS", 128), ("FACTOR", -3)]),
        source,
    );
    assert_eq!(unit.mode, Mode::Loop);
}

#[test]
fn kernels_behind_macros_of_an_included_file_compile() {
    let macros = "#pragma once\n#define KERNEL extern \"C\" __global__\n#define DEVICE __device__\n\
                  #define LOCAL_ARRAY extern __shared__\n#define BOUNDS(...) __launch_bounds__(__VA_ARGS__)\n\
                  #define UNARY(name, type, op) KERNEL void name##_##type(type* x) { x[threadIdx.x] = op(x[threadIdx.x]); }\n";
    let source = "#include \"common/macros.h\"\nDEVICE float half_of(float x) { return 0.5f * x; }\n\
                  KERNEL void BOUNDS(64, 1) reversed(float* x) {\n  LOCAL_ARRAY float tile[];\n\
                  HIP_DYNAMIC_SHARED(float, same)\n  tile[63 - threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n\
                  x[threadIdx.x] = half_of(same[threadIdx.x]);\n}\nUNARY(root, float, sqrtf)\nUNARY(root, double, sqrt)\n\
                  template <int N> __global__ BOUNDS(N) void bounded(float* x) { x[threadIdx.x] = N; }\n";
    let files = [("kernel.cu", source), ("common/macros.h", macros)];
    for entry in ["reversed", "root_float", "root_double", "bounded<32>"] {
        let unit = Case::new(entry, &[]).unit(&files);
        check(&unit);
        let is_bounded = (unit.text).contains("__global__ void __launch_bounds__(N) bounded_");
        assert_eq!(is_bounded, entry.starts_with("bounded"), "{}", unit.text);
    }
}

#[test]
fn directives_instantiations_and_macros_around_a_kernel_compile() {
    let source = "#define SPACE_BEGIN namespace space {\n#define SPACE_END }\n#define NAME(x) x##_kernel\n\
                  SPACE_BEGIN\nstruct S { float x; };\nSPACE_END\nSPACE_BEGIN\n\
                  template <int D, int B = (D <= 64 ? 2 : 4)> // a comment\n#ifndef HIP\n__launch_bounds__(D, 1)\n#else\n__launch_bounds__(D, 2)\n#endif\n\
                  static __global__ void bounded(float* x) { x[threadIdx.x] = B; }\n\
                  template __global__ void bounded<16>(float*);\nSPACE_END\n\
                  #ifdef HIP\n__launch_bounds__(32)\n#endif\nstatic __global__ void looped(float* y, int n) {\n\
                  #if LOOP\n  for (int i = 0; i < n; ++i) {\n#else\n  int i = 0; (void)n;\n#endif\n    y[i] = 1;\n\
                  #if LOOP\n  }\n#endif\n}\n__global__ void NAME(add)(float* x) { x[0] += 1; }\n\
                  #ifdef __CUDACC__\n__global__\n#endif\nvoid shared_with_the_host(float* x) { x[0] = 1; }\n";
    for (entry, loops) in [
        ("space::bounded<32>", 1),
        ("looped", 0),
        ("looped", 1),
        ("add_kernel", 0),
        ("shared_with_the_host", 0),
    ] {
        check_one(&Case::new(entry, &[("LOOP", loops)]), source);
    }
}

#[test]
fn every_order_of_a_kernels_words_and_every_repeated_declaration_compiles() {
    let source = "#define NAME named\n#define ARGS float* x, int n\n\
                  void __global__ swapped(float* x);\nstatic void __launch_bounds__(64) __global__ swapped(float* x) { x[0] = 1; }\n\
                  template <class T> void __global__ made(T* x);\nextern template __global__ void made<int>(int*);\n\
                  template <class T> void __global__ made(T* x) { x[0] = 1; }\n\
                  __global__ auto arrow(float* x) -> void { x[0] = 1; }\n\
                  __global__ void NAME(ARGS) { x[0] = n; }\n\
                  class Host { friend __global__ void befriended(float* x); int a; };\n\
                  namespace inner { __global__ void befriended(float* x); }\n\
                  __global__ void befriended(float* x) { Host host; x[0] = sizeof host; }\n\
                  namespace inner { __global__ void befriended(float* x) { x[0] = 2; } }\n";
    for entry in [
        "swapped",
        "made<float>",
        "arrow",
        "named",
        "befriended",
        "inner::befriended",
    ] {
        check_one(&Case::new(entry, &[]), source);
    }
}

#[test]
fn specifiers_and_types_that_few_kernels_use_compile() {
    let source = "__managed__ int launches = 0;\n\
                  extern \"C\" __global__ void __maxnreg__(64) timed(long long* y) {\n  const clock_t start = clock();\n\
                  if (threadIdx.x == 0) launches++;\n  __int128 product = (__int128)launches * clock64();\n\
                  y[threadIdx.x] = (long long)(product >> 64) + (clock() - start);\n}\n";
    check_one(&Case::new("timed", &[]), source);
}

#[test]
fn functions_of_cuda_that_a_source_defines_for_old_gpus_compile() {
    let source = "#include <cuda_fp16.h>\n\
                  #if (__CUDACC_VER_MAJOR__ < 12 || __CUDACC_VER_MINOR__ < 5) && __CUDA_ARCH__ < 800\n\
                  __device__ __forceinline__ __half __hmax_nan(__half a, __half b) {\n  return __hisnan(a) ? a : __hmax(a, b);\n}\n\
                  #endif\n#if __CUDA_ARCH__ >= 600\n#else\n\
                  __device__ double atomicAdd(double* x, double y) { return *x += y; }\n#endif\n\
                  #if __CUDA_ARCH__ < 530\n\
                  static __device__ half hcos(half a) { return __float2half(cosf(__half2float(a))); }\n\
                  __device__ float of_the_author(float x) { return x + 1; }\n\
                  __device__ float passed(float x) { return x + 2; }\n#endif\n\
                  template <class F> __device__ float apply(F f, float x) { return f(x); }\n\
                  __global__ void k(__half* y, double* sum) {\n  y[0] = __hmax_nan(hcos(y[0]), y[1]);\n\
                  y[2] = __float2half(apply(passed, of_the_author(2)));\n  atomicAdd(sum, 1.0);\n}\n";
    check_one(&Case::new("k", &[]), source);
}

#[test]
fn the_bits_of_a_half_take_part_in_arithmetic_with_halves() {
    let source = "#include <cuda_fp8.h>\n#include <cuda_fp16.h>\n\
                  __global__ void k(half* y, __half_raw raw, unsigned char bits) {\n\
                  y[0] += __nv_cvt_fp8_to_halfraw(bits, __NV_E4M3);\n  y[1] -= raw;\n  y[2] *= raw;\n  y[3] /= raw;\n\
                  static_assert(__is_same(decltype(y[0] + raw), half), \"\");\n\
                  if (y[4] < raw || raw >= y[5] || raw == raw) y[4] = raw - y[4] * raw;\n}\n";
    check_one(&Case::new("k", &[]), source);
}

#[test]
fn enums_by_value_compile() {
    let source = "enum class Kind { Plain, Squared };\n\
                  __global__ void k(float* y, const Kind kind) { if (kind == Kind::Squared) y[0] *= y[0]; }\n";
    check_one(&Case::new("k", &[]), source);
}

#[test]
fn copies_of_a_kernel_that_are_never_compiled_do_not_matter() {
    let source = "#define VERSION 3\n#if VERSION == 1\n__global__ void k(float* x, int n) { removed(x); }\n\
                  #elif VERSION > 2\n__global__ void k(float* x) {\n#else\n__global__ void k(double* x) {\n#endif\n\
                  #if 0\n  x[n] = removed(x);\n#endif\n  x[threadIdx.x] = 1.0f;\n}\n\
                  #if 0\n__global__ void k(float* x) { __syncthreads(); }\n#endif\n\
                  #if N == 7\n__global__ void other(float* x) { x[0] = 7; }\n#endif\n\
                  #if N == 4\n__global__ void other(float* x) { x[0] = 4; }\n#endif\n";
    let unit = check_one(&Case::new("k", &[("N", 4)]), source);
    assert_eq!(unit.mode, Mode::Loop);
    check_one(&Case::new("other", &[("N", 4)]), source);
}

#[test]
fn helpers_structs_tables_and_templates_compile() {
    let source = r#"
        #pragma once
        #ifndef WIDTH
        #define WIDTH 2
        #endif
        #define SQUARE(x) ((x) * (x))
        struct Pair { float first, second; __device__ float sum() const { return first + second; } };
        enum class Kind { Plain, Squared };
        __constant__ float offsets[2] = {1.0f, 2.0f};
        static __device__ const int table[4] = {3, 1, 2, 0};
        namespace inner { template <class T> __device__ T twice(T x) { return x + x; } }
        using inner::twice;
        typedef unsigned int index;
        extern "C" { __device__ float linked(float x) { return x * 2.0f; } }
        extern "C" __device__ float single(float x) { return linked(x); }
        template <int N> __device__ __forceinline__ float power(float x) {
            float result = 1.0f;
            #pragma unroll N
            for (int i = 0; i < N; ++i) result *= x;
            return result;
        }
        __global__ void entry(const float* x, float* y, index n, Pair pair);
        static __global__ void entry(const float* x, float* y, index n, Pair pair) {
            const index i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float value = power<WIDTH>(x[i]) + pair.sum() + offsets[i % 2] + single(1.0f);
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) value += SQUARE(table[(i + j) % 4]);
            y[i] = twice(value);
        }
    "#;
    // The expansion removes `#pragma once` from a `.cu` file.
    check_one(&Case::new("entry", &[("WIDTH", 3)]), source);
}

#[test]
fn functions_and_operators_of_the_author_take_arguments_of_global_types() {
    let source = r#"
        __device__ float4 twice(float4 v) { return make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2); }
        __device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y, a.z, a.w); }
        template <class T> __device__ float first(T x) { return x.x; }
        __global__ void k(float4* y, __nv_bfloat16* b) { y[0] = twice(y[1]) + y[2]; b[0] = first(y[3]); }
    "#;
    check_one(&Case::new("k", &[]), source);
}

#[test]
fn a_header_may_be_included_again_under_a_condition() {
    let source = r#"
        #include <cuda_runtime.h>
        #if N > 1
        #include <cuda_runtime.h>
        __device__ float4 twice(float4 v) { return make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2); }
        #endif
        __global__ void k(float4* y) { y[0] = twice(y[N]); }
    "#;
    check_one(&Case::new("k", &[("N", 4)]), source);
}

#[test]
fn two_kernels_in_one_file_are_two_units() {
    let source = r#"
        #define BLOCK 64
        __device__ float helper(float x) { return x + BLOCK; }
        extern "C" __global__ void plain(float* y) { y[threadIdx.x] = helper(1.0f); }
        template <class T> __global__ void generic(T* y) { y[0] = T(); }
        extern "C" __global__ void tiled(float* y) {
            __shared__ float tile[BLOCK * N];
            tile[threadIdx.x] = helper(y[threadIdx.x]);
            __syncthreads();
            y[threadIdx.x] = tile[BLOCK - 1 - threadIdx.x];
        }
        template __global__ void generic<int>(int* y);
        #undef BLOCK
        #define BLOCK 32
    "#;
    let params = [("N", 2)];
    let plain = check_one(&Case::new("plain", &params), source);
    let tiled = check_one(&Case::new("tiled", &params), source);
    assert_eq!((plain.mode, tiled.mode), (Mode::Loop, Mode::Fiber));
    assert_ne!(plain.symbol_hash, tiled.symbol_hash);
}

#[test]
fn includes_with_and_without_guards_compile() {
    let unit = Case::new("k", &[("N", 4)]).unit(&[
        (
            "src/kernel.cu",
            "#include <cuda_runtime.h>\n#include \"cuda_fp16.h\"\n#include \"once.cuh\"\n#include \"../guard.cuh\"\n\
             #include \"once.cuh\"\nextern \"C\" __global__ void k(float* y) { y[0] = once(1.0f) + guarded(N); }\n",
        ),
        ("src/once.cuh", "#pragma once\n#include \"../guard.cuh\"\n__device__ float once(float x) { return x; }\n"),
        ("guard.cuh", "#ifndef GUARD\n#define GUARD\ninline __device__ float guarded(float x) { return x; }\n#endif\n"),
    ]);
    check(&unit);
}

#[test]
fn definitions_in_branches_choices_and_types_compile() {
    let source = r#"
        #if REDUCE == REDUCE_warp
        __global__ void k(T* y) { y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, y[threadIdx.x], 1); }
        #else
        __global__ void k(T* y) {
            extern __shared__ __align__(16) unsigned char raw[];
            T* tile = reinterpret_cast<T*>(raw);
            tile[threadIdx.x] = y[threadIdx.x];
            __syncthreads();
            y[threadIdx.x] = tile[threadIdx.x ^ 1] + (FAST ? T(1.0f) : T(0.0f));
        }
        #endif
    "#;
    let choice = |name: &str| ParamValue::Choice(name.into());
    for value in ["tree", "warp"] {
        for elem in [ElemType::F32, ElemType::F16] {
            let case = Case {
                entry: "k",
                params: vec![
                    (
                        "REDUCE",
                        choice(value),
                        vec![choice("tree"), choice("warp")],
                    ),
                    (
                        "FAST",
                        ParamValue::Bool(true),
                        vec![ParamValue::Bool(false), ParamValue::Bool(true)],
                    ),
                ],
                elem: Some(elem),
            };
            check_one(&case, source);
        }
    }
}

#[test]
fn unroll_counts_may_be_numbers_parameters_macros_and_template_parameters() {
    let source = r#"
        #define HALF (N / 2)
        template <int M> __device__ int steps() {
            int sum = 0;
            #pragma unroll M
            for (int i = 0; i < M; ++i) sum += i;
            return sum;
        }
        __global__ void k(int* y) {
            int sum = steps<3>();
            #pragma unroll
            for (int i = 0; i < 64; ++i) sum += y[i];
            #pragma unroll 4
            for (int i = 0; i < 64; ++i) sum += y[i];
            #pragma unroll N
            for (int i = 0; i < 64; ++i) sum += y[i];
            #pragma unroll HALF // a comment
            for (int i = 0; i < 64; ++i) sum += y[i];
            #pragma unroll 1
            for (int i = 0; i < 64; ++i) sum += y[i];
            y[0] = sum;
        }
    "#;
    check_one(&Case::new("k", &[("N", 8)]), source);
}

#[test]
fn an_error_in_the_source_is_reported_at_the_authors_line() {
    let source = "#include \"part.cuh\"\n\n__global__ void k(int* y) {\n  y[0] = missing;\n}\n";
    let unit = Case::new("k", &[]).unit(&[
        ("src/kernel.cu", source),
        ("src/part.cuh", "int a;\nint b;\n"),
    ]);
    for cxx in compilers() {
        let messages = compile(cxx, &unit.text).unwrap_err();
        assert!(messages.contains("src/kernel.cu:4:"), "{messages}");
    }
}

/// The text of a unit without the receipt entry and its export.
fn without_receipt(unit: &TranslationUnit) -> String {
    let name = unit
        .text
        .find(&format!("{}(", unit.receipt))
        .expect("there should be a receipt entry");
    // A line marker is before the receipt entry, and another one after it.
    let start = unit.text[..name].rfind("\n#line ");
    let start = start.expect("a marker should be before the entry");
    let end = name
        + unit.text[name..]
            .find("\n#line ")
            .expect("the entry should end");
    let export = format!("KILN_CPU_ENTRY({0}, ::{0})\n", unit.receipt);
    format!("{}{}", &unit.text[..start], &unit.text[end..]).replace(&export, "")
}

/// Compiles the unit with and without its receipt entry, and compares the code of the release kernel. The code that
/// iterates over blocks is not compared, because the number of kernels in the unit determines whether the compiler
/// inlines the scheduler into it.
fn receipt_adds_nothing(unit: &TranslationUnit) {
    for cxx in compilers() {
        let compiled =
            |text: &str| compile(cxx, text).unwrap_or_else(|messages| panic!("{messages}"));
        let kernel = |name: &str| {
            let threads = ["::thread<", "::thread(", "::threads(", "::body("];
            name.contains(unit.release.as_str())
                && !name.contains(unit.receipt.as_str())
                && threads.iter().any(|part| name.contains(part))
        };
        let both = instructions(&compiled(&unit.text), kernel);
        let alone = instructions(&compiled(&without_receipt(unit)), kernel);
        let count = |functions: &[Vec<String>]| functions.iter().map(Vec::len).sum::<usize>();
        assert!(count(&alone) > 10, "{cxx}: the kernel's code was not found");
        assert_eq!(
            count(&both),
            count(&alone),
            "{cxx}: extra instructions in the release kernel"
        );
        let pairs = both.iter().flatten().zip(alone.iter().flatten());
        let differing: Vec<_> = pairs.filter(|(with, without)| with != without).collect();
        assert!(
            differing.is_empty(),
            "{cxx}: other instructions in the release kernel: {differing:?}"
        );
    }
}

#[test]
fn the_receipt_entry_adds_no_instruction_to_a_kernel_without_barriers() {
    let source = "extern \"C\" __global__ void add(const float* a, const float* b, float* c, int n) {\n\
                  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = a[i] + b[i];\n}\n";
    receipt_adds_nothing(&Case::new("add", &[]).unit(&[("add.cu", source)]));
}

#[test]
fn the_receipt_entry_adds_no_instruction_to_a_kernel_that_calls_functions() {
    let source = "static __device__ float part(const float* a, int from, int n) {\n\
                  float sum = 0.0f;\n  for (int i = from; i < n; i += 64) sum += a[i] / (1.0f + a[i] * a[i]);\n\
                  for (int i = from; i < n; i += 32) sum *= 1.0f + a[i] / (2.0f + sum * a[i]);\n  return sum;\n}\n\
                  __global__ void sums(const float* a, float* c, int n) {\n\
                  c[blockIdx.x * blockDim.x + threadIdx.x] = part(a, threadIdx.x, n);\n}\n";
    receipt_adds_nothing(&Case::new("sums", &[]).unit(&[("sums.cu", source)]));
}

#[test]
fn the_receipt_entry_adds_no_instruction_to_a_kernel_with_barriers() {
    let source = r#"
        extern "C" __global__ void dot(const float* a, const float* b, float* c, int n) {
            __shared__ float partial[THREADS];
            float sum = 0.0f;
            #pragma unroll 4
            for (int i = threadIdx.x; i < n; i += THREADS) sum += a[i] * b[i];
            partial[threadIdx.x] = sum;
            __syncthreads();
            for (int half = THREADS / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
                __syncthreads();
            }
            if (threadIdx.x == 0) c[blockIdx.x] = partial[0];
        }
    "#;
    receipt_adds_nothing(&Case::new("dot", &[("THREADS", 64)]).unit(&[("dot.cu", source)]));
}
