//! Headers of the machine, which g++ and clang find without Kiln. Kernels include them. They are installed, changed and
//! removed, and the next run follows. Nothing is stored about a config for a missing header.

use std::fs;
use std::path::Path;

use kiln::backend::cpu::{CpuCompiler, CpuOptions};
use kiln::backend::hip::HipCompiler;
use kiln::compiler::{Compiler, headers};
use kiln_spec::codegen::Target;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout, tune_alone};
use kiln_tests::plain_package::write_package;
use kiln_tests::script::{first_on_path, write_script};

/// A kernel of which every second config needs a header.
const SOURCE: &str = r#"
#if THREADS == 128
#include <shift.h>
#else
#define SHIFT 1.0f
#endif
extern "C" __global__ void shifted(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] + SHIFT;
}
"#;

const CRATE: &str = r#"//! A kernel that includes a header of the machine.
#[kiln::tuned_kernel(
    source = "shifted.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    untuned = allow,
)]
unsafe extern "C" {
    pub fn shifted(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

/// Runs `tune run` with these options and a compiler that the variable selects. Returns the exit code, what was
/// printed, and the stored trials.
fn run(root: &Path, options: &str, (variable, compiler): (&str, &Path)) -> (i32, String, String) {
    let mut command = tune_alone(root, &root.join("cache"));
    command.args(["run"]).args(options.split(' '));
    let output = command.env(variable, compiler).output();
    let output = output.expect("tune should run");
    let mut export = tune_alone(root, &root.join("cache"));
    let stored = stdout(&expect_code(export.args(["cache", "export"]), 0));
    let text = format!("{}{}", stdout(&output), stderr(&output));
    (output.status.code().unwrap_or(-1), text, stored)
}

/// The error of a header that is installed, but does not compile.
const BROKEN: &str = "this version is broken";

/// Whether no stored trial says that a config does not compile, except with the broken header.
fn blames_no_config(stored: &str) -> bool {
    let mut failed = stored
        .lines()
        .filter(|line| line.contains("compile_failed"));
    failed.all(|line| line.contains(BROKEN))
}

/// Installs, changes and removes a header of the machine. `options` are those of `tune run`.
fn follows(compilers: &[&str], variable: &str, options: &str) {
    let Some(compiler) = first_on_path(compilers) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder should be made");
    let root = folder.path();
    write_package(
        root,
        "shifting",
        &[("src/lib.rs", CRATE), ("src/shifted.cu", SOURCE)],
    );
    let headers = root.join("headers");
    fs::create_dir(&headers).expect("a folder should be made");
    let arguments = format!(
        "exec {} -isystem {} \"$@\"",
        compiler.display(),
        headers.display()
    );
    let wrapper = write_script(&root.join("compiler"), &arguments);
    let header = headers.join("shift.h");
    let install = |text: &str| fs::write(&header, text).expect("a header should be written");
    let run = || run(root, options, (variable, &wrapper));
    let is_missing = |name: &str| {
        let (code, text, stored) = run();
        assert_ne!(code, 0, "{text}");
        assert!(text.contains(&format!("`{name}` was not found")), "{text}");
        let help = format!(
            "include a header of the package as `\"{name}\"`, or install the package of the system that has it"
        );
        assert!(text.contains(&help), "{text}");
        assert!(blames_no_config(&stored), "{stored}");
    };
    is_missing("shift.h");
    install("#include \"amount.h\"\n#define SHIFT AMOUNT\n");
    is_missing("amount.h");

    fs::write(headers.join("amount.h"), "#define AMOUNT 1.0f\n").expect("it should be written");
    let (code, text, stored) = run();
    assert_eq!(code, 0, "{text}");
    assert!(blames_no_config(&stored), "{stored}");

    install(&format!("#error {BROKEN}\n"));
    let (_, text, stored) = run();
    let is_told = text.contains(BROKEN) || stored.contains(BROKEN);
    assert!(is_told, "{text}\n{stored}");

    fs::remove_file(&header).expect("it should be there");
    is_missing("shift.h");
}

#[test]
fn a_header_of_the_machine_counts_at_once_on_the_cpu() {
    let test = "a_header_of_the_machine_counts_at_once_on_the_cpu";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let options = "-d cpu --trials all --budget full --json";
    follows(&["g++"], "KILN_CXX", options);
    follows(&["clang++-22", "clang++-19"], "KILN_CXX", options);
}

#[test]
fn a_header_of_the_machine_counts_at_once_for_amd_gpus() {
    let test = "a_header_of_the_machine_counts_at_once_for_amd_gpus";
    if !have(test, &[Need::AmdClang]) {
        return;
    }
    let options = "--compile-only --target gfx1151";
    follows(&["clang++-22", "clang++-19"], "KILN_HIP_CLANG", options);
}

#[test]
fn a_kernel_that_includes_nothing_reads_no_header_of_the_machine() {
    let test = "a_kernel_that_includes_nothing_reads_no_header_of_the_machine";
    if !have(test, &[Need::HostCompiler, Need::AmdClang]) {
        return;
    }
    let cpu = CpuCompiler::find(&CpuOptions::default()).expect("a compiler should be found");
    let hip = HipCompiler::new("gfx1151").expect("clang should be found");
    let compilers: [(Target, &dyn Compiler); 2] = [(Target::Cpu, &cpu), (Target::Hip, &hip)];
    for (target, compiler) in compilers {
        let folders = compiler.header_folders();
        assert!(
            folders.iter().any(|folder| folder.ends_with("include")),
            "{folders:?}"
        );
        let source = format!("#include \"{}\"\n", target.prelude_header());
        let hash = headers::hash(&source, target.prelude(), &folders);
        assert_eq!(hash, None, "{target:?}");
        let outside = headers::hash("#include <sys/types.h>\n", target.prelude(), &folders);
        assert!(outside.is_some(), "{target:?}: {folders:?}");
    }
}
