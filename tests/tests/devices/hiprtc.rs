//! AMD's run-time compiler, simulated with clang (`tests/fixtures/hiprtc/hiprtc.c`). The tests cover how it is found,
//! when it is rejected, and how programs and `tune` compile with it.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiln::backend::hip::{HipCompiler, HiprtcCompiler, compiler};
use kiln::compiler::{BuildKind, CompileError, CompileRequest, Compiler};
use kiln::recipe::Recipe;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{child_test, expect_code, stderr, stdout, tune, workspace};
use kiln_tests::hiprtc_stand_in::build;
use kiln_tests::stand_in::without;

/// The path of the clang that the simulated hiprtc calls.
fn clang() -> PathBuf {
    let clang = HipCompiler::new("gfx1151").expect("clang was found just now");
    clang.program().to_owned()
}

/// Runs an ignored test in a separate process, with the stand-in in this role. Returns the output, or `None` if
/// skipped.
fn in_child(child: &str, role: &str, variables: &[(&str, &str)]) -> Option<String> {
    if !have(child, &[Need::HostCompiler, Need::AmdClang]) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    let library = build(folder.path(), "libhiprtc.so.6");
    let mut command = child_test(module_path!(), child);
    command
        .env("KILN_HIPRTC", library)
        .env("KILN_HIPRTC_CLANG", clang())
        .env("KILN_HIPRTC_PLAYS", role)
        .env_remove("KILN_HIP_CLANG")
        .envs(variables.iter().copied());
    let output = command.output().expect("the child should start");
    let (said, wrong) = (stdout(&output), stderr(&output));
    assert!(output.status.success(), "{child}, {role}: {said}{wrong}");
    assert!(said.contains("1 passed"), "{said}");
    Some(said)
}

/// A kernel that needs the prelude, and headers that CUDA sources include.
const SCALE: &str = "#include \"kiln_hip.h\"\n#include <cuda_fp16.h>\n\
    extern \"C\" __global__ void __launch_bounds__(256) scale(float* y, const __half* x, unsigned n) {\n\
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n\
        if (i < n) y[i] = FACTOR * tanhf(__half2float(x[i]));\n\
    }\n";

fn scale() -> CompileRequest {
    let mut request = CompileRequest::new("scale", SCALE);
    request.options = vec!["-DFACTOR=2.0f".into()];
    request
}

#[test]
fn what_it_compiles_is_what_clang_compiles() {
    in_child("child_compiles", "", &[]);
}

#[test]
#[ignore = "the child of another test"]
fn child_compiles() {
    for arch in ["gfx1151", "gfx90a"] {
        let hiprtc = compiler(arch).expect("the stand-in should be found");
        assert_eq!(hiprtc.identity().name, "hiprtc");
        assert_eq!(hiprtc.identity().version, "6.4.43484");
        assert_eq!(hiprtc.target_arch(), arch);
        assert!(hiprtc.library().is_some_and(Path::is_file));
    }
    let hiprtc = HiprtcCompiler::new("gfx1151").unwrap();
    let ours = hiprtc.compile(&scale()).unwrap();
    let described = kiln::image::describe(&ours.image).unwrap();
    assert_eq!(described, "gfx1151 (code object version 5)");
    assert!(ours.log.contains("Function Name: scale"), "{}", ours.log);
    let clang = HipCompiler::at(
        Path::new(&std::env::var_os("KILN_HIPRTC_CLANG").unwrap()),
        "gfx1151",
    );
    let theirs = clang.unwrap().compile(&scale()).unwrap();
    assert_eq!(ours.hash, theirs.hash);
    // The same source gives the same image twice. A different source gives a different image.
    assert_eq!(hiprtc.compile(&scale()).unwrap().hash, ours.hash);

    // A saved unit gets only the saved headers.
    let text = "#define ENTRY extern \"C\" __attribute__((global))\n";
    let headers = vec![
        ("kiln_then.h".into(), text.into()),
        ("empty.h".into(), String::new()),
    ];
    let source = "#include \"kiln_then.h\"\n#include \"empty.h\"\nENTRY void k() {}\n";
    let mut then = CompileRequest::new("k", source);
    assert!(hiprtc.compile(&then).is_err());
    then.recipe = Some(Arc::new(Recipe::new(headers, None).unwrap()));
    assert!(hiprtc.compile(&then).is_ok());
    then.source = SCALE.into();
    assert!(hiprtc.compile(&then).is_err());

    let failure = |source: &str| match hiprtc.compile(&CompileRequest::new("k", source)) {
        Err(CompileError::Failed { log, options, .. }) => (log, options),
        other => panic!("{other:?}"),
    };
    let (log, options) = failure("extern \"C\" __attribute__((global)) void k() { nowhere(); }\n");
    assert!(
        log.contains("kernel.hip:1:") && log.contains("nowhere"),
        "{log}"
    );
    assert!(options.contains(&"--offload-arch=gfx1151".to_owned()));
    let (log, _) = failure("a zero \0 byte");
    assert!(log.contains("zero byte"), "{log}");
    let check = scale().with_build(BuildKind::Check);
    let error = hiprtc.compile(&check).unwrap_err();
    assert!(matches!(error, CompileError::Unsupported { .. }), "{error}");
    let error = compiler("gfx9999").unwrap_err().to_string();
    assert!(
        error.starts_with("a hiprtc for gfx9999 was not found"),
        "{error}"
    );
}

#[test]
fn a_library_of_another_version_is_refused_with_what_it_is() {
    let options = ("HIPRTC_COMPILE_OPTIONS_APPEND", "-O0");
    for (role, variables, says) in [
        ("old", &[][..], "'--hiprtc-no-builtin-header'"),
        (
            "clang17",
            &[],
            "it belongs to HIP 6.4.43484, with clang 17, but clang 19 is needed",
        ),
        (
            "",
            &[options],
            "it would take options from HIPRTC_COMPILE_OPTIONS_APPEND",
        ),
    ] {
        let Some(said) = in_child("child_is_refused", role, variables) else {
            return;
        };
        assert!(said.contains(says), "{role}: {said}");
        assert!(said.contains("refused: hiprtc was not found"), "{said}");
        assert!(said.contains("help: install ROCm 6.4 or newer"), "{said}");
    }
}

#[test]
#[ignore = "the child of another test"]
fn child_is_refused() {
    println!("refused: {}", compiler("gfx1151").unwrap_err());
}

#[test]
fn a_compile_that_fails_without_a_word_is_an_error_with_its_number() {
    let Some(said) = in_child("child_fails", "mute", &[]) else {
        return;
    };
    assert!(said.contains("HIPRTC_ERROR_COMPILATION (6)"), "{said}");
    let said = in_child("child_fails", "full", &[]).unwrap_or_default();
    assert!(said.contains("OutOfMemory"), "{said}");
    let said = in_child("child_fails", "other", &[]).unwrap_or_default();
    assert!(said.contains("made no code object for gfx1151"), "{said}");
}

#[test]
#[ignore = "the child of another test"]
fn child_fails() {
    let hiprtc = HiprtcCompiler::new("gfx1151").unwrap();
    println!("{:?}", hiprtc.compile(&scale()).unwrap_err());
}

/// The output of `tune inspect` with this library as hiprtc, in this role.
fn inspect_with(folder: &Path, library: &Path, role: &str, code: i32) -> String {
    let mut command = tune(folder, &folder.join("cache"));
    command.args([
        "inspect",
        "tensor_add",
        "--target",
        "gfx1151",
        "--manifest-path",
    ]);
    command.arg(workspace().join("kernels/Cargo.toml"));
    command
        .env("KILN_HIPRTC", library)
        .env("KILN_HIPRTC_CLANG", clang())
        .env("KILN_HIPRTC_PLAYS", role)
        .env_remove("KILN_HIP_CLANG");
    let output = expect_code(&mut command, code);
    let said = stdout(&output) + &stderr(&output);
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn tune_compiles_with_it_in_processes_of_its_own() {
    let test = "tune_compiles_with_it_in_processes_of_its_own";
    if !have(test, &[Need::HostCompiler, Need::AmdClang]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path(), "libhiprtc.so.7");
    let said = inspect_with(folder.path(), &library, "", 0);
    assert!(said.contains("hiprtc 6.4.43484"), "{said}");
    // If the library crashes on a kernel, only its own process ends.
    let empty = tempfile::tempdir().unwrap();
    let library = build(empty.path(), "libhiprtc.so.6");
    let said = inspect_with(empty.path(), &library, "dies-at-kernel", 1);
    assert!(
        said.contains("compiler lost: its process ended by signal 6"),
        "{said}"
    );
}

#[test]
fn a_library_that_is_damaged_foreign_or_incomplete_is_told_and_never_loaded() {
    let test = "a_library_that_is_damaged_foreign_or_incomplete_is_told_and_never_loaded";
    if !have(test, &[Need::HostCompiler, Need::AmdClang]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path(), "libhiprtc.so.6");
    let whole = std::fs::read(&library).unwrap();
    let told = |bytes: &[u8], says: &str| {
        std::fs::write(&library, bytes).unwrap();
        let said = inspect_with(folder.path(), &library, "", 1);
        assert!(said.contains(says), "{says}: {said}");
        assert!(said.contains("hiprtc was not found"), "{said}");
    };
    told(&[], "it is empty");
    told(b"INPUT(libhiprtc.so.6)", "it is not a shared library");
    for parts in [1, 4, 8] {
        told(&whole[..whole.len() * parts / 16], "it is cut off");
    }
    let mut foreign = whole.clone();
    foreign[18..20].copy_from_slice(&183_u16.to_le_bytes());
    told(&foreign, "for another processor");
    for name in [
        "hiprtcCreateProgram",
        "hiprtcGetCode",
        "hiprtcGetErrorString",
    ] {
        told(
            &without(&whole, name),
            &format!("it has no symbol `{name}`"),
        );
    }
    std::fs::remove_file(&library).unwrap();
    let said = inspect_with(folder.path(), folder.path(), "", 1);
    assert!(said.contains("no libhiprtc.so"), "{said}");
    let five = build(folder.path(), "libhiprtc.so.5");
    let said = inspect_with(folder.path(), &five, "", 1);
    assert!(
        said.contains("it is libhiprtc.so.5, which belongs to ROCm 5"),
        "{said}"
    );
}

#[test]
fn where_neither_clang_nor_the_library_is_there_both_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tune(folder.path(), &folder.path().join("cache"));
    command.args([
        "inspect",
        "tensor_add",
        "--target",
        "gfx1151",
        "--manifest-path",
    ]);
    command.arg(workspace().join("kernels/Cargo.toml"));
    // The test calls cargo by its path, because `PATH` does not contain it.
    command.env("CARGO", env!("CARGO"));
    command
        .env("PATH", folder.path())
        .env("ROCM_PATH", folder.path());
    command
        .env_remove("KILN_HIP_CLANG")
        .env_remove("KILN_HIPRTC");
    let output = command.output().unwrap();
    let said = stderr(&output);
    if Path::new("/opt/rocm").exists() || output.status.success() {
        eprintln!("not run: this machine has ROCm");
        return;
    }
    for words in [
        "clang++ 19 or newer on PATH",
        "hiprtc was not found",
        "install clang-22",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
