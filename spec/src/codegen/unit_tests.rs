//! Tests that generated units contain certain lines and do not contain others.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::config::ParamValue;
use crate::model::{ElemType, TunableParam, TypeParam};
use crate::problem::ProblemValue;
use crate::testing::bare_spec;

fn choice(name: &str) -> ParamValue {
    ParamValue::Choice(name.into())
}

fn param(name: &str, values: Vec<ParamValue>) -> TunableParam {
    TunableParam {
        name: name.into(),
        values,
    }
}

fn spec(params: Vec<TunableParam>) -> KernelSpec {
    KernelSpec {
        params,
        ..bare_spec()
    }
}

fn config(values: &[(&str, ParamValue)]) -> Config {
    Config::new(
        values
            .iter()
            .map(|(name, value)| ((*name).into(), value.clone())),
    )
}

/// The unit of `source` for the config in which the parameter `N` is 4.
pub(super) fn generate(
    source: &str,
    entry: &str,
    target: Target,
) -> Result<TranslationUnit, CodegenError> {
    let source = SourceText::from_expanded(source);
    let scan = SourceScan::new(&source).expect("the source should scan");
    let spec = spec(vec![param(
        "N",
        vec![ParamValue::Int(4), ParamValue::Int(8)],
    )]);
    let config = config(&[("N", ParamValue::Int(4))]);
    TranslationUnit::new(
        &source,
        &scan,
        &spec,
        entry,
        &config,
        &Problem::default(),
        target,
    )
}

fn unit(source: &str) -> TranslationUnit {
    generate(source, "k", Target::Cpu).expect("the unit should generate")
}

/// The author's source in a unit, with both entries.
fn source_in(unit: &TranslationUnit) -> &str {
    let before = "#define N 4\n";
    let start = unit.text.find(before).expect("the macros should be there");
    let end = unit.text.rfind("#line 1 \"kiln generated\"");
    &unit.text[start + before.len()..end.expect("the marker should be there") - 1]
}

#[test]
fn the_source_stays_as_it_is_and_the_receipt_entry_follows_the_release_entry() {
    let before = "// a kernel: k\nstatic __device__ const int table[2] = {1, 2};\n";
    let entry = "extern \"C\" __global__ void\n__launch_bounds__(N * 16) k(float* c /* k */, int n) {\n    \
                 /* body */ c[n] = N + table[0] + f();\n}";
    let after = " // the end\n__device__ int f() { return 1; }\n";
    let unit = unit(&format!("{before}{entry}{after}"));
    let release = entry.replace(") k(", &format!(") {}(", unit.release));
    let sign = format!(
        " KILN_SIGN_RECEIPT(kiln_r, 0x{:016x}ull, 0x{:016x}ull);",
        unit.symbol_hash, unit.config_hash
    );
    let receipt = entry
        .replace(") k(", &format!(") {}(", unit.receipt))
        .replace("int n)", "int n, ::kiln_receipt* kiln_r)")
        .replace(") {\n", &format!(") {{{sign}\n"));
    let expected =
        format!("{before}{release}\n#line 3 \"source\"\n{receipt}\n#line 6 \"source\"\n{after}");
    assert_eq!(source_in(&unit), expected);
    assert_eq!(unit.receipt.as_str(), format!("{}_receipt", unit.release));
    assert_eq!(
        unit.release.as_str(),
        format!("k_{:016x}", unit.symbol_hash)
    );
}

#[test]
fn a_unit_for_the_cpu_says_what_the_author_allows() {
    let source = SourceText::from_expanded("__global__ void k() {}\n");
    let scan = SourceScan::new(&source).expect("the source should scan");
    let text = |is_allowed, target| {
        let spec = KernelSpec {
            equal_stores: is_allowed,
            unwritten_reads: is_allowed,
            ..bare_spec()
        };
        let (config, problem) = (Config::default(), Problem::default());
        let unit = TranslationUnit::new(&source, &scan, &spec, "k", &config, &problem, target);
        unit.expect("the unit should generate").text
    };
    let defined = "#define KILN_CPU_EQUAL_STORES 1\n#define KILN_CPU_UNWRITTEN_READS 1\n";
    assert!(text(true, Target::Cpu).contains(defined));
    let defines =
        |text: String| text.contains("EQUAL_STORES 1") || text.contains("UNWRITTEN_READS 1");
    assert!(!defines(text(false, Target::Cpu)));
    assert!(!defines(text(true, Target::Cuda)));
}

#[test]
fn a_unit_comes_in_the_order_prelude_defines_source_exports() {
    let unit = unit("#include <cuda_fp16.h>\n#define LOCAL N\n__global__ void k() {}\n");
    let order = [
        "#define KILN_CPU_FIBERS 0\n",
        "#include \"kiln_cpu.h\"\n",
        "#include <cuda_fp16.h>\n",
        "#define N 4\n",
        "#pragma push_macro(\"LOCAL\")\n",
        "#include <cuda_fp16.h>\n#define LOCAL N\n",
        &format!("void {}(", unit.release),
        &format!(
            "void {}(::kiln_receipt* kiln_r) {{ KILN_SIGN_RECEIPT(",
            unit.receipt
        ),
        "#pragma pop_macro(\"LOCAL\")\n#undef N\n",
        &format!("KILN_CPU_ENTRY({0}, ::{0})\n", unit.release),
        &format!("KILN_CPU_ENTRY({0}, ::{0})\n", unit.receipt),
    ];
    let mut rest = unit.text.as_str();
    for piece in order {
        let at = rest
            .find(piece)
            .unwrap_or_else(|| panic!("`{piece}` is missing or too early in\n{}", unit.text));
        rest = &rest[at + piece.len()..];
    }
    assert_eq!(rest, "");
    assert!(!unit.text.contains("namespace"), "{}", unit.text);
}

#[test]
fn both_entries_have_c_linkage() {
    let linked = |source: &str| {
        let unit = unit(source);
        let text = source_in(&unit);
        let linked = text.matches("extern \"C\" ").count();
        (linked, text.contains("static"))
    };
    assert_eq!(linked("__global__ void k() {}"), (2, false));
    assert_eq!(linked("extern \"C\" __global__ void k() {}"), (2, false));
    assert_eq!(linked("static __global__ void k() {}"), (2, false));
    let block = "extern \"C\" {\n__device__ int f() { return 1; }\n__global__ void k() {}\n}";
    assert_eq!(linked(block), (1, false));
}

#[test]
fn a_default_argument_is_left_out_where_a_parameter_follows_it() {
    let unit = unit("__global__ void k(float* y, int n = (3, 4), bool b = true) {}\n");
    let text = source_in(&unit);
    let (release, receipt) = text.split_once("#line").unwrap();
    assert!(release.contains("int n = (3, 4), bool b = true"), "{text}");
    assert!(!receipt.contains('='), "{text}");
    assert!(receipt.contains("(float* y, int n"), "{text}");
}

#[test]
fn other_kernels_are_left_out_and_lines_stay_where_they_are() {
    let source = "template <class T>\n__global__ void other(T* x) {\n#ifdef X\n#pragma unroll\nx[0] = 1;\n#endif\n}\n\
                  __global__ void k(int n) {}\n";
    let unit = unit(source);
    let text = source_in(&unit);
    let expected = format!(
        "\n\n#ifdef X\n\n\n#endif\n\nextern \"C\" __global__ void {}(int n) {{}}\n#line 8 \"source\"\n",
        unit.release
    );
    assert!(text.starts_with(&expected), "{text}");
    let line = |text: &str| text.lines().position(|line| line.contains("void k"));
    assert_eq!(line(text), line(source));
}

#[test]
fn each_definition_of_a_kernel_is_followed_by_its_receipt_entry() {
    let source = "__global__ void k(int n);\n#ifdef X\n__global__ void k(int n) { f(n); }\n#else\n\
                  __global__ void k(int n) { g(n); }\n#endif\n";
    let unit = unit(source);
    let text = source_in(&unit);
    let names = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("k_")).count()
    };
    let (prototype, rest) = text.split_once("#ifdef").unwrap();
    let (first, second) = rest.split_once("#else").unwrap();
    // clang for AMD GPUs rejects a kernel whose declaration is repeated.
    assert_eq!(prototype.trim(), "", "{prototype}");
    for (part, call) in [(first, "f(n); }"), (second, "g(n); }")] {
        assert_eq!(names(part), 2, "{part}");
        assert_eq!(part.matches("::kiln_receipt* kiln_r").count(), 1, "{part}");
        assert_eq!(part.matches(call).count(), 2, "{part}");
    }
}

#[test]
fn the_cpu_gets_its_own_dynamic_shared_memory_and_unroll_pragmas() {
    let source = "#define M (N * 2)\ntemplate <int J> __device__ void f() {\n#pragma unroll J\nfor (;;) {}\n}\n\
                  __global__ void k() {\n  f<2>(); extern __shared__ __align__(16) float s[];\n#pragma unroll\nfor (;;) {}\n\
                  #pragma unroll M\nfor (;;) {}\n  #pragma unroll (N / 2)\nfor (;;) {}\n}";
    let cpu = unit(source);
    let text = source_in(&cpu);
    let (release, receipt) = text.split_once("#line").unwrap();
    let pointer = " float* s = (float*)kiln_cpu_dynamic_shared();\n";
    assert!(release.contains(pointer), "{release}");
    assert!(
        release.contains(
            "\nKILN_UNROLL_ALL\nfor (;;) {}\nKILN_UNROLL(M)\nfor (;;) {}\n  KILN_UNROLL((N / 2))\n"
        ),
        "{release}"
    );
    assert!(
        release.contains("f() {\nKILN_UNROLL_CONSTANT(J)\n"),
        "a template parameter is not a number for g++: {release}"
    );
    assert!(!receipt.contains("unroll") && !receipt.contains("UNROLL"));
    assert!(receipt.contains(pointer), "{receipt}");
    for target in [Target::Cuda, Target::Hip] {
        let gpu = generate(source, "k", target).unwrap();
        assert!(
            source_in(&gpu)
                .contains("extern __shared__ __align__(16) float s[];\n#pragma unroll\n")
        );
        assert!(!gpu.text.contains("KILN_CPU") && !gpu.text.contains("KILN_UNROLL"));
    }
}

#[test]
fn shared_variables_outside_functions_are_marked_for_the_cpu() {
    let source = "namespace n { __shared__ float a[2]; }\nvoid f() { __shared__ float b; }\n__global__ void k() { n::a[0] = 1; f(); }\n";
    let marked = " __shared__ KILN_CPU_AT_FILE_SCOPE float a[2];";
    let text = unit(source).text;
    assert!(text.contains(marked), "{text}");
    assert_eq!(text.matches("KILN_CPU_AT_FILE_SCOPE").count(), 1);
    assert!(
        !generate(source, "k", Target::Cuda)
            .unwrap()
            .text
            .contains("KILN_CPU")
    );
}

#[test]
fn macros_of_the_source_are_forgotten_after_it_also_where_none_can_be_pushed() {
    let source = "#ifndef WIDE\n#define WIDE N\n#endif\n__global__ void k() {}\n";
    let cuda = generate(source, "k", Target::Cuda).unwrap().text;
    assert!(!cuda.contains("push_macro") && !cuda.contains("pop_macro"));
    let noted = "#define N 4\n#ifdef WIDE\n#define KILN_HAD_WIDE\n#endif\n#ifndef WIDE\n";
    assert!(cuda.contains(noted), "{cuda}");
    let forgotten = "#line 1 \"kiln generated\"\n#ifndef KILN_HAD_WIDE\n#undef WIDE\n#endif\n";
    assert_eq!(cuda.matches(forgotten).count(), 1, "{cuda}");
    let hip = generate(source, "k", Target::Hip).unwrap().text;
    assert!(hip.contains("#pragma push_macro(\"WIDE\")\n"));
    assert!(!hip.contains("KILN_HAD"));
}

#[test]
fn headers_of_half_precision_types_are_included_where_they_are_mentioned() {
    let headers = |source: &str, target| {
        let text = generate(source, "k", target).unwrap().text;
        ["<cuda_fp16.h>", "<cuda_bf16.h>"].map(|header| text.contains(header))
    };
    let plain = "// half\n__global__ void k(float* x) { x[0] = N; }";
    assert_eq!(headers(plain, Target::Cuda), [false, false]);
    for source in [
        "__global__ void k(half* x) {}",
        "__global__ void k(__half2* x) {}",
        "#define LOAD(x) __half2float(x)\n__global__ void k() {}",
    ] {
        assert_eq!(headers(source, Target::Cuda), [true, false], "{source}");
        assert_eq!(headers(source, Target::Hip), [false, false], "{source}");
    }
    let brain = "__global__ void k(__nv_bfloat16* x) {}";
    assert_eq!(headers(brain, Target::Cuda), [false, true]);
    assert_eq!(headers(brain, Target::Cpu), [false, false]);
}

#[test]
fn a_source_that_asks_for_amds_platform_gets_the_names_of_hip() {
    let source =
        "#if defined(__HIP_PLATFORM_AMD__)\n#define UP __shfl_up\n#endif\n__global__ void k() {}";
    let has_header = |source: &str, target| {
        let text = generate(source, "k", target).unwrap().text;
        text.contains("#include <hip/hip_runtime.h>")
    };
    assert!(has_header(source, Target::Hip));
    assert!(!has_header(source, Target::Cuda) && !has_header(source, Target::Cpu));
    assert!(!has_header("__global__ void k() {}", Target::Hip));
}

#[test]
fn a_source_that_keeps_device_code_for_cudas_compiler_has_it_on_every_target() {
    let defines = |condition: &str, body: &str, target| {
        let source =
            format!("{condition}\n__device__ int f();\n#endif\n__global__ void k() {{ {body} }}");
        let text = generate(&source, "k", target).unwrap().text;
        text.contains("#define __CUDACC__ 1\n")
    };
    for target in [Target::Cpu, Target::Hip] {
        for condition in [
            "#ifdef __CUDACC__",
            "#if __CUDACC__",
            "#if !defined(__CUDACC__)",
        ] {
            assert!(defines(condition, "", target), "{condition}");
            assert!(!defines(condition, "asm(\"exit;\");", target));
        }
        for condition in [
            "#if defined(__CUDACC__) || defined(__HIPCC__)",
            "#if defined(__CUDACC__) && !USE_ROCM",
            "#if X",
        ] {
            assert!(!defines(condition, "", target), "{condition}");
        }
    }
    assert!(!defines("#ifdef __CUDACC__", "", Target::Cuda));
}

#[test]
fn a_source_that_asks_for_cudas_version_gets_it_on_every_target() {
    let text = |source: &str, target| generate(source, "k", target).unwrap().text;
    let source = "#if CUDART_VERSION < 9000\n#error old\n#endif\n__global__ void k() {}";
    for target in [Target::Cpu, Target::Hip] {
        assert!(text(source, target).contains("#define CUDART_VERSION 12040\n"));
        let plain = text("__global__ void k() {}", target);
        assert!(!plain.contains("CUDART_VERSION"), "{plain}");
    }
    // NVRTC defines the version of the compiler, and the prelude defines the others.
    assert!(!text(source, Target::Cuda).contains("#define CUDART_VERSION"));
}

#[test]
fn a_source_that_asks_whether_there_are_headers_for_host_code_hears_that_amd_gpus_have_none() {
    let source = "#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\n__global__ void k() {}";
    let defines = |source: &str, target| {
        let text = generate(source, "k", target).unwrap().text;
        text.contains("#define __CUDACC_RTC__ 1\n")
    };
    assert!(defines(source, Target::Hip));
    assert!(!defines(source, Target::Cpu) && !defines(source, Target::Cuda));
    assert!(!defines("__global__ void k() {}", Target::Hip));
    assert!(!defines(
        &format!("#ifdef __HIPCC__\n#endif\n{source}"),
        Target::Hip
    ));
}

#[test]
fn shuffles_are_functions_if_the_source_has_overloads_of_them() {
    let shuffles = "__global__ void k(float* x) { *x = __shfl_sync(~0u, *x, 0); }";
    let overload = "__device__ double2 __shfl_xor_sync(unsigned m, double2 v, int lane);\n";
    let asked = "#define KILN_CPU_SHUFFLE_FUNCTIONS 1\n#include \"kiln_cpu.h\"";
    assert!(!unit(shuffles).text.contains(asked));
    assert!(unit(&format!("{overload}{shuffles}")).text.contains(asked));
    let elsewhere = generate(&format!("{overload}{shuffles}"), "k", Target::Hip);
    assert!(!elsewhere.unwrap().text.contains("SHUFFLE_FUNCTIONS"));
}

#[test]
fn dynamic_shared_memory_of_several_dimensions_is_refused_on_the_cpu() {
    let source = "extern __shared__ float s[][4];\n__global__ void k() { s[0][0] = 1; }";
    let error = generate(source, "k", Target::Cpu).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("source:1: this `extern __shared__` declaration is not supported")
    );
    assert!(generate(source, "k", Target::Cuda).is_ok());
}

#[test]
fn a_source_may_give_a_tunable_parameter_a_default_but_no_value() {
    for default in [
        "#ifndef N\n#define N 16\n#endif",
        "#if !defined(N)\n#define N 16\n#endif",
        "#if !defined(M) && !defined(N)\n#define N 16\n#endif",
        "#ifdef N\n#else\n#define N 16\n#endif",
    ] {
        let source = format!("{default}\n__global__ void k() {{}}");
        assert!(generate(&source, "k", Target::Cpu).is_ok(), "{default}");
    }
    for source in [
        "#define N 16\n__global__ void k() {}",
        "#ifndef M\n#define N 16\n#endif\n__global__ void k() {}",
        "#if !defined(M) || !defined(N)\n#define N 16\n#endif\n__global__ void k() {}",
        "#undef N\n__global__ void k() {}",
    ] {
        let error = generate(source, "k", Target::Cpu).unwrap_err();
        assert!(
            matches!(&error, CodegenError::ParamDefined { param, .. } if param == "N"),
            "{error}"
        );
    }
}

#[test]
fn values_become_macros() {
    let spec = KernelSpec {
        types: vec![TypeParam {
            name: "T".into(),
            choices: vec![ElemType::F32, ElemType::F16],
        }],
        ..spec(vec![
            param("N", vec![ParamValue::Int(-4), ParamValue::Int(i64::MIN)]),
            param(
                "FAST",
                vec![ParamValue::Bool(false), ParamValue::Bool(true)],
            ),
            param("REDUCE", vec![choice("tree"), choice("warp")]),
        ])
    };
    let config = config(&[
        ("N", ParamValue::Int(-4)),
        ("FAST", ParamValue::Bool(true)),
        ("REDUCE", choice("warp")),
    ]);
    let problem = Problem::new([("T".into(), ProblemValue::Type(ElemType::F16))]);
    let defines = Defines::new(&spec, &config, &problem, false).unwrap();
    assert_eq!(
        defines.to_string(),
        "#define N (-4)\n#define FAST 1\n#define REDUCE_tree 0\n#define REDUCE_warp 1\n\
         #define REDUCE REDUCE_warp\n#define T kiln_type_T\n"
    );
    assert_eq!(defines.typedefs(), "typedef __half kiln_type_T;\n");
    let missing = Defines::new(&spec, &config, &Problem::default(), false).unwrap_err();
    assert!(missing.to_string().contains("type parameter `T` no type"));
}

#[test]
fn configs_that_do_not_fit_the_spec_are_refused() {
    let spec = spec(vec![param("N", vec![ParamValue::Int(4)])]);
    let check = |values: &[(&str, ParamValue)], partial| {
        Defines::new(&spec, &config(values), &Problem::default(), partial).map(|d| d.to_string())
    };
    assert!(
        check(&[], false)
            .unwrap_err()
            .to_string()
            .contains("gives `N` no value")
    );
    assert_eq!(check(&[], true).unwrap(), "#define N 4\n");
    assert!(
        check(&[("N", ParamValue::Int(5))], false)
            .unwrap_err()
            .to_string()
            .contains("`N=5` is not in the spec")
    );
    assert!(
        check(&[("M", ParamValue::Int(4))], true)
            .unwrap_err()
            .to_string()
            .contains("`M=4` is not in the spec")
    );
}

#[test]
fn macro_names_that_would_break_the_source_are_refused() {
    let message = |params: Vec<TunableParam>| {
        let values: Vec<_> = params
            .iter()
            .map(|p| (p.name.clone(), p.values[0].clone()))
            .collect();
        let refused = Defines::new(
            &spec(params),
            &Config::new(values),
            &Problem::default(),
            false,
        );
        refused.unwrap_err().to_string()
    };
    for name in ["int", "__x", "kiln_n", "KILN_N", "KILN", "threadIdx"] {
        let text = message(vec![param(name, vec![ParamValue::Int(1)])]);
        assert!(
            text.contains(&format!("`{name}` cannot be a tunable parameter")),
            "{text}"
        );
    }
    let clash = message(vec![
        param("A", vec![choice("B")]),
        param("A_B", vec![ParamValue::Int(1)]),
    ]);
    assert!(
        clash.starts_with("macro `A_B` would be defined twice"),
        "{clash}"
    );
}

#[test]
fn the_symbol_needs_no_text() {
    let source = SourceText::from_expanded("__global__ void k() {}");
    let spec = spec(vec![param("N", vec![ParamValue::Int(4)])]);
    let config = config(&[("N", ParamValue::Int(4))]);
    let cheap = symbol_hash(
        source.hash(),
        &spec,
        "k",
        &config,
        &Problem::default(),
        Target::Cpu,
    )
    .unwrap();
    let scan = SourceScan::new(&source).unwrap();
    let unit = TranslationUnit::new(
        &source,
        &scan,
        &spec,
        "k",
        &config,
        &Problem::default(),
        Target::Cpu,
    )
    .unwrap();
    assert_eq!(cheap, unit.symbol_hash);
}

/// A receipt identifies the entry only by its hash, so the hash must differ between the tuned entry and a baseline with
/// the same config.
#[test]
fn entries_of_one_source_with_the_same_config_have_numbers_of_their_own() {
    let source = "__global__ void k() {}\n__global__ void other() {}";
    let numbers = ["k", "other"].map(|entry| {
        let unit = generate(source, entry, Target::Cpu).expect("the unit should generate");
        unit.symbol_hash
    });
    assert_ne!(numbers[0], numbers[1]);
}

proptest! {
    #[test]
    fn no_two_configs_entries_types_sources_or_targets_share_a_symbol(
        cases in prop::collection::vec((0..3u8, 0..2u8, 0..4i64, any::<bool>(), 0..2usize, 0..3u8), 1..40)
    ) {
        let targets = [Target::Cpu, Target::Cuda, Target::Hip];
        let mut seen: BTreeMap<String, (u8, u8, i64, bool, usize, u8)> = BTreeMap::new();
        for case in cases {
            let (source, entry, n, fast, ty, target) = case;
            let source = SourceText::from_expanded(format!("const int which = {source};\n__global__ void k0() {{}}\n__global__ void k1() {{}}"));
            let spec = KernelSpec {
                entry: format!("k{entry}"),
                types: vec![TypeParam { name: "T".into(), choices: vec![ElemType::F32, ElemType::F16] }],
                ..spec(vec![
                    param("N", (0..4).map(ParamValue::Int).collect()),
                    param("FAST", vec![ParamValue::Bool(false), ParamValue::Bool(true)]),
                ])
            };
            let config = config(&[("N", ParamValue::Int(n)), ("FAST", ParamValue::Bool(fast))]);
            let elem = [ElemType::F32, ElemType::F16][ty];
            let problem = Problem::new([("T".into(), ProblemValue::Type(elem))]);
            let scan = SourceScan::new(&source).unwrap();
            let target = targets[usize::from(target)];
            let unit = TranslationUnit::new(&source, &scan, &spec, &spec.entry, &config, &problem, target).unwrap();
            let other = seen.insert(unit.release.to_string(), case);
            prop_assert!(other.is_none_or(|other| other == case), "{:?} and {:?} share {}", other, case, unit.release);
        }
    }
}

proptest! {
    #[test]
    fn any_source_that_scans_generates_or_is_refused(words in prop::collection::vec(
        prop::sample::select(vec![
            "__global__ void k(int n) {", "__global__", "void", "k", "l", "(", ")", "{", "}", ";", ",", "int", "n",
            "extern \"C\"", "extern __shared__ float s[];", "\n#if X\n", "\n#else\n", "\n#endif\n", "static", "é",
            "\n#define M N\n", "\n#pragma unroll N\n", "\n#include <x.h>\n", "template <int J>", "/* k */", "\\\n",
        ]), 0..40)) {
        let text = words.join(" ");
        if SourceScan::new(&SourceText::from_expanded(text.as_str())).is_ok() {
            for target in [Target::Cpu, Target::Cuda] {
                if let Ok(unit) = generate(&text, "k", target) {
                    prop_assert!(unit.text.contains(unit.release.as_str()));
                }
            }
        }
    }
}

#[test]
fn hoisted_includes_keep_the_lines_of_their_files() {
    let source = "#pragma unroll\n#line 7 \"src/k.cu\"\n#include <lost.h>\n__global__ void k(int* x) { *x = N; }";
    let text = unit(source).text;
    assert!(
        text.contains("#line 7 \"src/k.cu\"\n#include <lost.h>\n#line 1 \"kiln generated\"\n"),
        "{text}"
    );
}

#[test]
fn inline_ptx_is_an_error_of_its_own_where_no_compiler_knows_it() {
    let source = "__global__ void k(int* x) { asm(\"mov.u32 %0, 1;\" : \"=r\"(*x)); int n = N; }";
    for (target, refused) in [
        (Target::Cpu, true),
        (Target::Hip, true),
        (Target::Cuda, false),
    ] {
        let text = generate(source, "k", target).unwrap().text;
        assert_eq!(text.contains("#define asm KILN_NO_INLINE_PTX\n"), refused);
        assert_eq!(text.contains("#undef asm\n"), refused);
    }
    assert!(
        !unit("__global__ void k(int* x) { *x = N; }")
            .text
            .contains("define asm")
    );
}

#[test]
fn a_template_becomes_a_device_function_that_an_entry_calls() {
    let source = "namespace rows {\n\
                  template <typename T, int WIDTH = 2>\n\
                  __global__ void __launch_bounds__(WIDTH * 32) k(const T* __restrict__ x, T* y, int) {\n\
                  if constexpr (WIDTH > 2) y[0] = x[0];\n}\n\
                  __global__ void k2() {}\n}\n\
                  __global__ void k() {}\n";
    for target in [Target::Cpu, Target::Cuda, Target::Hip] {
        let unit = generate(source, "rows::k<float, N>", target).unwrap();
        let release = unit.release.as_str();
        assert!(release.starts_with("k_"), "{release}");
        let wrapper = format!(
            "namespace kiln_instance {{ using T = float; [[maybe_unused]] constexpr int WIDTH = 4; \
             extern \"C\" __global__ void __launch_bounds__(WIDTH * 32) {release}(const T * __restrict__ kiln_0, \
             T * kiln_1, int kiln_2) {{ k<float, 4>(kiln_0, kiln_1, kiln_2); }} \
             extern \"C\" __global__ void __launch_bounds__(WIDTH * 32) {release}_receipt(const T * __restrict__ kiln_0, \
             T * kiln_1, int kiln_2, ::kiln_receipt* kiln_r) {{ KILN_SIGN_RECEIPT("
        );
        assert!(unit.text.contains(&wrapper), "{}", unit.text);
        // The text and the line numbers of the template are kept, except for the qualifiers that make it a kernel.
        let template =
            "template <typename T, int WIDTH = 2>\n__device__ __forceinline__ void  k(const T*";
        assert_eq!(unit.text.matches(template).count(), 1, "{}", unit.text);
        assert!(!unit.text.contains("#define N "), "{}", unit.text);
        let export = format!("KILN_CPU_ENTRY({release}, ::rows::kiln_instance::{release})");
        assert_eq!(unit.text.contains(&export), target == Target::Cpu);
    }
    // Another value gives another symbol, although the source does not receive the value as a macro.
    let other = generate(source, "rows::k<float, (N)>", Target::Cpu).unwrap();
    assert_ne!(
        other.symbol_hash,
        generate(source, "rows::k<float, N>", Target::Cpu)
            .unwrap()
            .symbol_hash
    );
}

#[test]
fn a_kernel_in_a_namespace_is_exported_from_there() {
    let source = "namespace a {\n__global__ void k(int* x) {}\n}\n__global__ void k(float* x) {}";
    let unit = generate(source, "a::k", Target::Cpu).unwrap();
    let release = unit.release.as_str();
    let export = format!("KILN_CPU_ENTRY({release}, ::a::{release})");
    assert!(unit.text.contains(&export), "{}", unit.text);
    assert!(!unit.text.contains("float* x"), "{}", unit.text);
}

#[cfg(feature = "parse")]
#[test]
fn sizes_of_the_launch_are_not_among_the_parameters_whose_layout_is_compared() {
    let attribute = "source = \"k.cu\", sizes(batch: u32), grid(batch), block(64), problems((batch = 2, n = 8))";
    let item = "unsafe extern \"C\" { fn k(n: u32, #[value(Pair { a: 1u32, b: n as u32 })] pair: Pair, \
                #[len(n)] y: &mut [f32]); }";
    let tokens = |text: &str| text.parse().unwrap();
    let spec = crate::parse::kernel(tokens(attribute), tokens(item))
        .unwrap()
        .spec;
    let source = SourceText::from_expanded(
        "struct Pair { unsigned a, b; };\n__global__ void k(unsigned n, Pair pair, float* y) { y[0] = pair.a; }",
    );
    let scan = SourceScan::new(&source).unwrap();
    assert_eq!(scan.compare_signature(&spec, &scan.entry("k").unwrap()), []);
    let (config, problem) = (&spec.baseline.config, &spec.problems[0]);
    let unit = TranslationUnit::new(&source, &scan, &spec, "k", config, problem, Target::Cpu);
    let text = unit.unwrap().text;
    assert_eq!(
        text.matches("static_assert(sizeof(pair) == 8,").count(),
        2,
        "{text}"
    );
}
