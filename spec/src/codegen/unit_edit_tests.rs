//! Tests of the edits that adapt a source to a target and to its spec, and of what follows from a config.

use super::tests::generate;
use super::*;

#[test]
fn functions_for_old_gpus_become_templates_on_targets_without_cudas_version_of_the_gpu() {
    let lines = [
        "#if __CUDA_ARCH__ < 530",
        "+ __device__ half hcos(half a) { return a; }",
        "__device__ half declared(half a);",
        "__device__ half declared(half a) { return a; }",
        "__device__ half passed(half a) { return a; }",
        "template <class T> __device__ T own(T a) { return a; }",
        "extern \"C\" __device__ half linked(half a) { return a; }",
        "namespace mine { __device__ half hsin(half a) { return a; } }",
        "#elif defined(OTHER)",
        "+ static __device__ half hexp(half a) { return a; }",
        "#endif",
        "__device__ half always(half a) { return a; }",
        "#define FUNCTION passed",
    ];
    let source: String = { lines.iter() }
        .map(|line| format!("{}\n", line.trim_start_matches("+ ")))
        .collect();
    let source = source + "__global__ void k(half* y) { y[0] = hcos(always(hexp(y[0]))); }\n";
    let unit = |target| {
        generate(&source, "k", target)
            .expect("the unit should generate")
            .text
    };
    for target in [Target::Cpu, Target::Hip] {
        let text = unit(target);
        for line in lines {
            let expected = line.replace("+ ", "template <class = void> ");
            assert!(
                text.contains(&format!("\n{expected}\n")),
                "{expected}\n{text}"
            );
        }
    }
    assert!(!unit(Target::Cuda).contains("template <class = void>"));
}

#[test]
fn nvidias_cub_gets_the_function_objects_that_it_lacks_unless_the_source_has_them() {
    let own = "#include \"cuda/cub_operators.h\"";
    let kernel = "__global__ void k(float* y) { y[0] = cub::Max()(y[0], y[1]); }\n";
    let cub = format!("#ifndef HIP\n#include <cub/block/block_reduce.cuh>\n#endif\n{kernel}");
    let text = |source: &str, target| {
        generate(source, "k", target)
            .expect("it should generate")
            .text
    };
    let unit = text(&cub, Target::Cuda);
    let lines =
        format!("#include <cub/block/block_reduce.cuh>\n{own}\n#line 2 \"source\"\n\n#endif\n");
    assert!(unit.contains(&lines), "{unit}");
    assert!(!text(&cub, Target::Cpu).contains(own));
    assert!(!text(kernel, Target::Cuda).contains(own));
    let defines = format!("namespace cub {{ struct Max {{}}; }}\n{cub}");
    assert!(!text(&defines, Target::Cuda).contains(own));
}

#[test]
fn the_size_of_an_enum_is_compared_with_the_integer_that_is_passed_for_it() {
    let attribute = "source = \"k.cu\", grid(1), block(64), problems((n = 8))";
    let item =
        "unsafe extern \"C\" { fn k(n: u32, #[value(1)] kind: i32, #[len(n)] y: &mut [f32]); }";
    let tokens = |text: &str| text.parse().unwrap();
    let spec = crate::parse::kernel(tokens(attribute), tokens(item))
        .unwrap()
        .spec;
    let source = SourceText::from_expanded(
        "typedef enum { A, B } Kind;\n__global__ void k(unsigned n, const Kind kind, float* y) { y[0] = kind; }",
    );
    let scan = SourceScan::new(&source).unwrap();
    assert_eq!(scan.compare_signature(&spec, &scan.entry("k").unwrap()), []);
    let (config, problem) = (&spec.baseline.config, &spec.problems[0]);
    let unit = TranslationUnit::new(&source, &scan, &spec, "k", config, problem, Target::Cpu);
    let text = unit.unwrap().text;
    let check = |name: &str| {
        text.matches(&format!("static_assert(sizeof({name}) == 4,"))
            .count()
    };
    assert_eq!((check("kind"), check("n")), (2, 0), "{text}");
}

#[test]
fn a_barrier_that_the_config_leaves_out_needs_no_fibres() {
    let mode = |before: &str, condition: &str| {
        let source = format!(
            "{before}__global__ void k() {{\n#if {condition}\n__syncthreads();\n#endif\n}}"
        );
        let unit = generate(&source, "k", Target::Cpu).expect("the unit should generate");
        let fibers = unit.text.contains("#define KILN_CPU_FIBERS 1\n");
        assert_eq!(fibers, unit.mode == Mode::Fiber);
        unit.mode
    };
    for before in ["", "#ifndef N\n#define N 8\n#endif\n"] {
        for out in ["N > 4", "!defined(N)", "N == 8 && OTHER"] {
            assert_eq!(mode(before, out), Mode::Loop, "{out}");
        }
        // `OTHER` may be a macro of the compiler.
        for within in ["N == 4", "defined(N)", "N == 8 || OTHER", "OTHER"] {
            assert_eq!(mode(before, within), Mode::Fiber, "{within}");
        }
    }
}
