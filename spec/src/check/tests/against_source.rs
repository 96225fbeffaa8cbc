//! Checks the example spec against sources that do not match it.

use super::super::check_source;
use super::{GEMM_ATTRIBUTE, GEMM_ITEM};
use crate::parse::tests::{lines, read};
use crate::source::{SourceScan, SourceText};

const SOURCE: &str = r#"
extern "C" __global__ void gemm(unsigned int m, unsigned int n, unsigned int k,
                                const float* a, const float* b, float* c) {
    float tile[BLOCK_M * BLOCK_N / THREADS]; int x = BLOCK_K * VECTOR_WIDTH;
}
extern "C" __global__ void simple(unsigned int m, unsigned int n, unsigned int k,
                                  const float* a, const float* b, float* c) {}
"#;

fn differences(attribute: &str, source: &str) -> Vec<String> {
    let kernel = read(attribute, GEMM_ITEM).map_err(|e| e.render("spec", attribute));
    let scan = SourceScan::new(&SourceText::from_expanded(source)).unwrap();
    let found = check_source(&kernel.unwrap(), &scan);
    lines(&found, [attribute, GEMM_ITEM])
}

#[test]
fn a_source_like_its_spec_has_no_differences() {
    assert_eq!(differences(GEMM_ATTRIBUTE, SOURCE), [""; 0]);
}

#[test]
fn a_parameter_that_nothing_uses_is_reported_with_the_nearest_name() {
    let source = SOURCE.replace("VECTOR_WIDTH", "VECTOR_WITH");
    assert_eq!(
        differences(GEMM_ATTRIBUTE, &source),
        [
            "VECTOR_WIDTH: the kernel's code never mentions `VECTOR_WIDTH`, nor do `grid`, `block` and `shared`; did you mean `VECTOR_WITH`? Every value would give the same launch"
        ]
    );
    let source = SOURCE.replace("VECTOR_WIDTH", "4");
    assert_eq!(
        differences(GEMM_ATTRIBUTE, &source),
        [
            "VECTOR_WIDTH: the kernel's code never mentions `VECTOR_WIDTH`, nor do `grid`, `block` and `shared`; every value would give the same launch of the same kernel: use it, or remove it"
        ]
    );
}

#[test]
fn a_parameter_of_the_grid_the_block_or_the_shared_memory_need_not_be_in_the_source() {
    // The extents of the block and the grid contain THREADS, BLOCK_M and BLOCK_N, so the source need not use them.
    let source = SOURCE.replace("BLOCK_M * BLOCK_N / THREADS", "1024");
    assert_eq!(differences(GEMM_ATTRIBUTE, &source), [""; 0]);
    let attribute = GEMM_ATTRIBUTE.replace("block(", "shared(4 * BLOCK_K), block(");
    let source = SOURCE.replace("BLOCK_K", "8");
    assert_eq!(differences(&attribute, &source), [""; 0]);
    assert_eq!(differences(GEMM_ATTRIBUTE, &source).len(), 1);
}

#[test]
fn a_constant_variable_that_nobody_gives_a_value_is_an_error() {
    let body = "float tile[BLOCK_M * BLOCK_N / THREADS];";
    let reads = SOURCE.replace(body, &format!("{body} float f = taps[0];"));
    let with = |constant: &str| differences(GEMM_ATTRIBUTE, &format!("{constant}\n{reads}"));
    let found = with("__constant__ float taps[9];");
    assert_eq!(
        found,
        [
            "\"gemm.cu\": nothing gives the `__constant__` variable `taps` a value (source:1); pass its value in an argument after the kernel's own: `#[constant] #[len(..)] taps: &[..]` (float); if its value never changes, initialise it in the source"
        ]
    );
    assert_eq!(with("__constant__ float taps[9] = {1.0f};"), [""; 0]);
    // A `__constant__` variable that this kernel does not read is not reported.
    let other = format!("__constant__ float other[9];\n{SOURCE}");
    assert_eq!(differences(GEMM_ATTRIBUTE, &other), [""; 0]);
}

#[test]
fn a_constant_variable_that_is_a_template_is_told_with_what_to_write() {
    let body = "float tile[BLOCK_M * BLOCK_N / THREADS];";
    let reads = SOURCE.replace(body, &format!("{body} float f = taps<float>[0];"));
    let with = |constant: &str| differences(GEMM_ATTRIBUTE, &format!("{constant}\n{reads}"));
    assert_eq!(
        with("template <typename T, int N = (1 < 2)> __constant__ T taps[9];"),
        [
            "\"gemm.cu\": the `__constant__` variable `taps` is a template (source:1), and an argument can fill only a plain variable; declare it without `template <..>`, as in `__constant__ T taps[9];`, where `T` is a type parameter of the spec (`types(T in [f32, f64])`) or an element type"
        ]
    );
    assert_eq!(
        with("template <typename T> __constant__ T taps[2] = {T(1), T(2)};"),
        [""; 0]
    );
}

#[test]
fn an_entry_that_the_source_lacks_is_reported_with_the_nearest_name() {
    let source = SOURCE.replace("void gemm", "void gemn");
    assert_eq!(
        differences(GEMM_ATTRIBUTE, &source),
        [
            "gemm: no `__global__` function `gemm` in the source (found: `gemn`, `simple`); did you mean `gemn`?"
        ]
    );
}

#[test]
fn another_argument_list_is_reported_at_the_argument() {
    let source = SOURCE.replacen("const float* a", "const int* a", 1);
    let found = differences(GEMM_ATTRIBUTE, &source);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(
            "&[f32]: argument `a` of `gemm` is `&[f32]` in the spec but `const int *` in the source"
        ),
        "{found:?}"
    );
    let source = SOURCE.replacen("unsigned int k,", "", 1);
    let found = differences(GEMM_ATTRIBUTE, &source);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("gemm: kernel `gemm` takes 5 arguments in the source"),
        "{found:?}"
    );
}

#[test]
fn the_entries_of_baseline_and_reference_are_checked_where_they_are_named() {
    let baseline =
        "baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256)";
    let attribute = GEMM_ATTRIBUTE.replace(
        baseline,
        "baseline(entry = \"simpel\", grid(1), block(1)), reference(entry = \"simple\")",
    );
    let source = SOURCE.replace("void simple(unsigned int m, ", "void simple(");
    let found = differences(&attribute, &source);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        found[0],
        "\"simpel\": no `__global__` function `simpel` in the source (found: `gemm`, `simple`); did you mean `simple`?"
    );
    assert!(
        found[1].starts_with("\"simple\": kernel `simple` takes 5 arguments"),
        "{found:?}"
    );
}

#[test]
fn host_code_in_the_source_is_accepted() {
    let host = "#include <vector>\nvoid host(std::vector<float> x) { gemm<<<1, 2>>>(); }";
    let source = format!("{SOURCE}\n{host}");
    assert_eq!(differences(GEMM_ATTRIBUTE, &source), [""; 0]);
}

#[test]
fn a_launch_in_a_kernel_is_an_error_with_its_line() {
    let with = |code: &str| {
        let body = format!("{{\n{code}\n");
        let name = SOURCE.find("void gemm(").unwrap();
        let open = name + SOURCE[name..].find('{').unwrap();
        let source = format!("{}{body}{}", &SOURCE[..open], &SOURCE[open + 1..]);
        differences(GEMM_ATTRIBUTE, &source)
    };
    let launch = "gemm<<<1, 2>>>();";
    let found = with(launch);
    let [one] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert!(one.contains("launches a kernel from a kernel"), "{one}");
    assert_eq!(with(&format!("#ifndef KILN\n{launch}\n#endif")), [""; 0]);
    assert_eq!(with(&format!("#ifdef MAIN\n{launch}\n#endif")), [""; 0]);
    let others =
        "// gemm<<<1, 2>>>()\nconst char* s = \"<<<\"; int x = 1 << 2; a.operator<<<int>(b);";
    assert_eq!(with(others), [""; 0]);
}

#[test]
fn a_parameter_that_the_source_defines_is_an_error_with_its_line() {
    let with = |define: &str| differences(GEMM_ATTRIBUTE, &format!("{define}\n{SOURCE}"));
    assert_eq!(
        with("#define BLOCK_K 8"),
        [
            "BLOCK_K: source:1: the source defines `BLOCK_K`, which is a tunable parameter; remove the definition, or make it a default: `#ifndef BLOCK_K` before it"
        ]
    );
    assert_eq!(with("#undef BLOCK_K").len(), 1);
    let otherwise = "#if defined(A)\n#define BLOCK_K A\n#else\n#define BLOCK_K 16\n#endif";
    assert_eq!(with(otherwise).len(), 1);
    for default in [
        "#ifndef BLOCK_K\n#define BLOCK_K 8\n#endif",
        "#if !defined(BLOCK_K) && !defined(BLOCK_M)\n#define BLOCK_K 8\n#define BLOCK_M 8\n#endif",
        "#if !defined BLOCK_K && !defined (BLOCK_M)\n#define BLOCK_K 8\n#endif",
        "#if !defined(BLOCK_M)\n#define BLOCK_M 8\n#define BLOCK_K 8\n#endif",
        "#ifdef BLOCK_M\n#else\n#define BLOCK_K 8\n#endif",
    ] {
        assert_eq!(with(default), [""; 0], "{default}");
    }
    assert_eq!(
        with("#if !defined(BLOCK_K) || A\n#define BLOCK_K 8\n#endif").len(),
        1
    );
}

#[test]
fn a_parameter_of_which_the_source_only_tests_that_it_is_defined_is_an_error() {
    for test in ["#ifdef VECTOR_WIDTH", "#if 1 && defined(VECTOR_WIDTH)"] {
        let source = SOURCE.replace("VECTOR_WIDTH", "4");
        let found = differences(GEMM_ATTRIBUTE, &format!("{test}\n#endif\n{source}"));
        assert_eq!(
            found,
            [
                "VECTOR_WIDTH: the source only tests whether `VECTOR_WIDTH` is defined, and Kiln defines it for every value; test its value: `#if VECTOR_WIDTH`"
            ]
        );
        // With a single value, it is like `-DVECTOR_WIDTH=1` on the command line of a compiler.
        let single = GEMM_ATTRIBUTE.replace("VECTOR_WIDTH in [1, 2, 4]", "VECTOR_WIDTH in [1]");
        assert_ne!(single, GEMM_ATTRIBUTE);
        let found = differences(&single, &format!("{test}\n#endif\n{source}"));
        assert_eq!(found, [""; 0]);
    }
}

#[test]
fn an_argument_fills_a_constant_variable_of_its_type_that_the_kernel_reads() {
    let body = "float tile[BLOCK_M * BLOCK_N / THREADS];";
    let source = SOURCE.replace(
        body,
        &format!("{body} float f = tables::taps[0] + window[0].x;"),
    );
    let declared = "namespace tables { __constant__ float taps[9]; } __constant__ int2 window[4];\n\
                    __constant__ float unread; namespace { __constant__ float hidden; }";
    let source = format!("{declared}\n{source}");
    let with = |arguments: &str| {
        let item = GEMM_ITEM.replace("c: &mut [f32]", &format!("c: &mut [f32], {arguments}"));
        let kernel = read(GEMM_ATTRIBUTE, &item).map_err(|e| e.render("spec", GEMM_ATTRIBUTE));
        let scan = SourceScan::new(&SourceText::from_expanded(&*source)).unwrap();
        lines(
            &check_source(&kernel.unwrap(), &scan),
            [GEMM_ATTRIBUTE, &item],
        )
    };
    let taps = "#[constant(tables::taps)] #[len(9)] t: &[f32]";
    let window = "#[constant] #[len(8)] window: &[i32]";
    assert_eq!(with(&format!("{taps}, {window}")), [""; 0]);
    assert_eq!(
        with(&format!("{taps}, {}", window.replace("i32", "u8"))),
        [""; 0]
    );
    for (changed, says) in [
        (
            taps.replace("f32", "f64"),
            "#[constant(tables::taps)]: `t` cannot fill the `__constant__` variable `tables::taps` of type `float` (source:1); declare it `&[f32]`",
        ),
        (
            format!("{taps}, {}", taps.replace("t:", "u:")),
            "#[constant(tables::taps)]: `t` and `u` both fill `tables::taps`; remove one of the two",
        ),
        (
            format!("{taps}, #[constant(tables::tap)] #[len(9)] u: &[f32]"),
            "#[constant(tables::tap)]: the source has no `__constant__` variable `tables::tap`; did you mean `#[constant(tables::taps)]`?",
        ),
        (
            format!("{taps}, #[constant] #[len(1)] unread: &[f32]"),
            "#[constant]: neither the kernel nor its baseline reads `unread`; remove the argument `unread`",
        ),
    ] {
        let found = with(&format!("{window}, {changed}"));
        assert_eq!(found, [says], "{changed}");
    }
    let found = with(taps);
    let [unfilled] = &found[..] else {
        panic!("{found:#?}");
    };
    assert!(
        unfilled.contains("`window` a value (source:1)"),
        "{unfilled}"
    );
}
