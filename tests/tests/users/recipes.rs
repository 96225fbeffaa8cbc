//! A saved translation unit is compiled with its saved headers and flags, by every compiler.

use std::sync::Arc;
use std::time::Duration;

use kiln::backend::cpu::{CpuCompiler, CpuOptions};
use kiln::compile_only;
use kiln::compiler::{BuildKind, CompileError, CompileRequest, Compiler};
use kiln::recipe::Recipe;
use kiln_lab::worker::{ProcessCompiler, WorkerLimits};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::tune_program;

/// Compiles only if the saved header and the saved flag are used.
const UNIT: &str = "\
#include \"then/kiln_then.h\"
#if !defined KILN_HEADER_OF_THEN || !defined KILN_FLAG_OF_THEN
#error not as it was
#endif
KILN_ENTRY void then() {}
";

fn request(flags: Option<Vec<String>>, headers: bool) -> CompileRequest {
    let mut request = CompileRequest::new("then", UNIT);
    let entry = "\
#define KILN_HEADER_OF_THEN 1
#ifdef __has_include
#define KILN_HAS_INCLUDE 1
#endif
#if defined __CUDACC__ || defined __HIP__ || defined __CUDACC_RTC__
#define KILN_ENTRY extern \"C\" __attribute__((global))
#else
#define KILN_ENTRY extern \"C\" __attribute__((visibility(\"default\")))
#endif
";
    let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let texts = if headers {
        vec![named("then/kiln_then.h", entry), named("empty.h", "")]
    } else {
        Vec::new()
    };
    let recipe = Recipe::new(texts, flags).expect("the names should be inside of a folder");
    request.recipe = Some(Arc::new(recipe));
    request
}

fn check(compiler: &dyn Compiler) {
    let name = compiler.identity().to_string();
    let own = compiler.flags(BuildKind::Release);
    let with_flag: Vec<String> = own
        .into_iter()
        .chain(["-DKILN_FLAG_OF_THEN=1".into()])
        .collect();
    let compiled = compiler.compile(&request(Some(with_flag.clone()), true));
    let artifact = compiled.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!artifact.image.is_empty(), "{name}");
    for (flags, headers) in [(None, true), (Some(with_flag), false)] {
        match compiler.compile(&request(flags, headers)) {
            Err(CompileError::Failed { log, .. }) if headers => {
                assert!(log.contains("not as it was"), "{name}: {log}");
            }
            // HIPRTC and NVRTC search no folder in which such a header could be installed.
            Err(CompileError::MissingHeader { log, .. } | CompileError::Failed { log, .. })
                if !headers =>
            {
                assert!(log.contains("kiln_then.h"), "{name}: {log}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn the_cpus_compilers_take_headers_and_flags_of_then() {
    if !have(
        "the_cpus_compilers_take_headers_and_flags_of_then",
        &[Need::HostCompiler],
    ) {
        return;
    }
    for program in CpuCompiler::installed() {
        let compiler = CpuCompiler::at(&program, &CpuOptions::default());
        check(&compiler.expect("it was found just now"));
    }
}

#[test]
fn clang_for_amd_gpus_takes_headers_and_flags_of_then() {
    if !have(
        "clang_for_amd_gpus_takes_headers_and_flags_of_then",
        &[Need::AmdClang],
    ) {
        return;
    }
    check(&*compile_only::compiler("gfx1151").expect("the compiler was found just now"));
}

#[test]
fn nvrtc_takes_headers_and_flags_of_then_also_in_a_process_of_its_own() {
    let name = "nvrtc_takes_headers_and_flags_of_then_also_in_a_process_of_its_own";
    if !have(name, &[Need::Nvrtc]) {
        return;
    }
    let compiler = compile_only::compiler("sm_89").expect("NVRTC was found just now");
    check(&*compiler);
    let worker = WorkerLimits {
        command: vec![tune_program().into(), "worker".into()],
        reap: Duration::from_secs(5),
        until: None,
    };
    check(&ProcessCompiler::around(&*compiler, &worker).expect("NVRTC is a library"));
}
