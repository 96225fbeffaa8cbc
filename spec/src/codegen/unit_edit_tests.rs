//! Tests of the edits that adapt a source to a target and to its spec.

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
