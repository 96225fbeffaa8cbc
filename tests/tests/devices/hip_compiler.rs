//! Compiles for AMD GPUs with clang, on a machine without such a GPU.
use std::time::Duration;

use kiln::backend::hip::HipCompiler;
use kiln::compiler::{Artifact, BuildKind, CompileError, CompileRequest, Compiler as _};
use kiln_tests::capability::{Need, have};

/// A kernel that includes no header, so it needs no prelude.
const SCALE: &str = r#"
extern "C" __attribute__((global)) void scale(float* y, const float* x, float factor, unsigned n) {
    const unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    if (i < n) y[i] = factor * x[i];
}
"#;

/// All architectures from Vega on.
const ARCHITECTURES: &str = "
    gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx942 gfx950 gfx1010 gfx1011 gfx1012 gfx1013 gfx1030
    gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153
    gfx1200 gfx1201";

fn compile(compiler: &HipCompiler, source: &str) -> Result<Artifact, CompileError> {
    compiler.compile(&CompileRequest::new("scale", source))
}

#[test]
fn every_known_architecture_gets_a_code_object_of_its_own() {
    if !have(
        "every_known_architecture_gets_a_code_object_of_its_own",
        &[Need::AmdClang],
    ) {
        return;
    }
    let mut compiled = Vec::new();
    for arch in ARCHITECTURES.split_whitespace() {
        // A clang that is too old for the architecture is not a failure. For example, clang 19 does not know gfx950.
        let Ok(compiler) = HipCompiler::new(arch) else {
            continue;
        };
        let artifact = compile(&compiler, SCALE).unwrap_or_else(|error| panic!("{arch}: {error}"));
        let described = kiln::image::describe(&artifact.image).expect("the image should be whole");
        assert_eq!(described, format!("{arch} (code object version 5)"));
        assert_eq!(artifact.target, arch);
        compiled.push(arch);
    }
    println!("{compiled:?}");
    for arch in [
        "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1151", "gfx1201",
    ] {
        assert!(compiled.contains(&arch), "{arch} is among {compiled:?}");
    }
}

#[test]
fn the_log_of_an_artifact_tells_what_each_kernel_needs() {
    if !have(
        "the_log_of_an_artifact_tells_what_each_kernel_needs",
        &[Need::AmdClang],
    ) {
        return;
    }
    let compiler = HipCompiler::new("gfx1151").expect("a compiler should be found");
    let artifact = compile(&compiler, SCALE).expect("the kernel should compile");
    for words in [
        "Function Name: scale",
        "VGPRs: ",
        "VGPRs Spill: 0",
        "LDS Size [bytes/block]: 0",
    ] {
        assert!(artifact.log.contains(words), "{words}:\n{}", artifact.log);
    }
}

#[test]
fn an_image_depends_on_nothing_but_source_and_options() {
    if !have(
        "an_image_depends_on_nothing_but_source_and_options",
        &[Need::AmdClang],
    ) {
        return;
    }
    // An identifier that is unique to a compile would be visible in the name of a static variable.
    let source = format!("static __attribute__((device)) unsigned calls;\n{SCALE}")
        .replace("if (i < n)", "calls++; if (i < n)");
    let compiler = HipCompiler::new("gfx1151").expect("a compiler should be found");
    let here = tempfile::tempdir().expect("a folder should be made");
    let mut request = CompileRequest::new("scale", source);
    let first = compiler
        .compile(&request)
        .expect("the kernel should compile");
    request.scratch = Some(here.path().into());
    let second = compiler
        .compile(&request)
        .expect("the kernel should compile");
    assert_eq!(first.hash, second.hash);
    request.options = vec!["-DUNUSED=1".into(), "-O1".into()];
    let third = compiler
        .compile(&request)
        .expect("the kernel should compile");
    assert_ne!(first.hash, third.hash);
    assert_eq!(
        std::fs::read_dir(here.path())
            .expect("the folder should be read")
            .count(),
        0
    );
}

#[test]
fn what_does_not_compile_says_why_and_keeps_the_options() {
    if !have(
        "what_does_not_compile_says_why_and_keeps_the_options",
        &[Need::AmdClang],
    ) {
        return;
    }
    let compiler = HipCompiler::new("gfx1151").expect("a compiler should be found");
    let failure = |source: &str| match compile(&compiler, source) {
        Err(CompileError::Failed { log, options, .. }) => (log, options),
        other => panic!("{other:?}"),
    };
    let (log, options) = failure(&SCALE.replace("unsigned n", "unsigned m"));
    assert!(log.contains("undeclared identifier 'n'"), "{log}");
    assert!(
        options.contains(&"--offload-arch=gfx1151".into()),
        "{options:?}"
    );
    let (log, _) = failure(
        r#"extern "C" __attribute__((global)) void k(float* y) {
            static __attribute__((shared)) float tile[20000];
            tile[__builtin_amdgcn_workitem_id_x()] = y[0];
            __builtin_amdgcn_s_barrier();
            y[1] = tile[__builtin_amdgcn_workitem_id_x() ^ 5];
        }"#,
    );
    assert!(
        log.contains("local memory (80000) exceeds limit (65536)"),
        "{log}"
    );
    // The linker reports the undefined function.
    let (log, _) = failure(
        r#"extern "C" __attribute__((device)) float elsewhere(float);
        extern "C" __attribute__((global)) void k(float* y) { y[0] = elsewhere(y[1]); }"#,
    );
    assert!(log.contains("symbol: elsewhere"), "{log}");
}

#[test]
fn a_compile_ends_at_its_limits() {
    if !have("a_compile_ends_at_its_limits", &[Need::AmdClang]) {
        return;
    }
    let compiler = HipCompiler::new("gfx1151").expect("a compiler should be found");
    // This requires 2^30 instantiations.
    let endless = "template <int depth, int path> struct tree { static constexpr int value =
            tree<depth - 1, path * 2>::value + tree<depth - 1, path * 2 + 1>::value; };
        template <int path> struct tree<0, path> { static constexpr int value = path; };
        static_assert(tree<30, 0>::value, \"\");";
    let mut request = CompileRequest::new("endless", endless);
    request.limits.deadline = Duration::from_millis(700);
    let error = compiler.compile(&request).expect_err("it should not end");
    assert!(matches!(error, CompileError::TimedOut { .. }), "{error:?}");
    request.limits = Default::default();
    request.limits.memory_bytes = 600 << 20;
    let error = compiler.compile(&request).expect_err("it should not fit");
    assert!(matches!(error, CompileError::OutOfMemory { .. }), "{error}");
}

#[test]
fn a_compiler_says_what_it_cannot_compile_for() {
    if !have(
        "a_compiler_says_what_it_cannot_compile_for",
        &[Need::AmdClang],
    ) {
        return;
    }
    let error = HipCompiler::new("gfx9999").expect_err("there is no such processor");
    let text = error.to_string();
    assert!(
        text.starts_with("a compiler for gfx9999 was not found"),
        "{text}"
    );
    assert!(text.contains("gfx1151"), "{text}");
    let compiler = HipCompiler::new("gfx1151").expect("a compiler should be found");
    assert_eq!(compiler.target_arch(), "gfx1151");
    for build in [BuildKind::Check, BuildKind::Sanitize] {
        let request = CompileRequest::new("scale", SCALE).with_build(build);
        let error = compiler
            .compile(&request)
            .expect_err("there are no such builds");
        assert!(
            error.to_string().contains("check on the cpu device"),
            "{error}"
        );
    }
}
