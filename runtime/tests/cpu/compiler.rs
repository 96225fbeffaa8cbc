//! Tests of the cpu device's compiler: limits, errors, targets, and the code generated for a loop.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::on_cpu::{
    self, Arg, Loaded, buffer, compile_anew, contents, devices, options, plan, unit,
};
use kiln::backend::cpu::{CpuCompiler, CpuDevice, CpuOptions, CpuTarget};
use kiln::compiler::{BuildKind, CompileError, CompileLimits, CompileRequest};
use kiln::device::{DeviceBackend as _, DeviceError};
use kiln::spec::prelude::CPU_PRELUDE;

#[test]
fn a_good_source_compiles_without_a_word_and_always_to_the_same_object() {
    let source = "__global__ void k(float* x) { __shared__ float s[32]; s[threadIdx.x] = *x; __syncthreads(); *x = s[0]; }";
    for device in devices() {
        for build in [BuildKind::Release, BuildKind::Check] {
            let [first, second] =
                [0, 1].map(|_| compile_anew(&device, &unit(true, source, "k"), build).unwrap());
            assert_eq!(first.log, "");
            assert_eq!(first.hash, second.hash);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn features_that_native_names_on_a_virtual_machine_are_not_worth_a_word() {
    for device in devices() {
        let clang = device.compiler().unwrap().identity().name.contains("clang");
        let source = "__global__ void k(float* x) { *x = 1; }";
        let mut request = CompileRequest::new("entry", unit(false, source, "k"));
        // The features that `-march=native` of clang 19 selects on a Xeon whose AMX the hypervisor hides in part.
        request.options = match clang {
            true => vec!["-mavx512f".into(), "-mavx10.1-256".into()],
            false => vec!["-mavx512f".into()],
        };
        let compiled = device.compiler().unwrap().compile(&request);
        match compiled {
            Ok(artifact) => assert_eq!(artifact.log, ""),
            // Versions before clang 18 and after clang 20 do not have this feature.
            Err(CompileError::Failed { log, .. }) => assert!(log.contains("avx10"), "{log}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_rejected_source_gives_line_options_and_whole_log() {
    let source = "__global__ void k(float* x) {\n    *x = unknown_name;\n}";
    for device in devices() {
        let error =
            compile_anew(&device, &unit(false, source, "k"), BuildKind::Release).unwrap_err();
        assert!(error.to_string().contains("kernel.cu:2"), "{error}");
        let CompileError::Failed { options, log, .. } = error else {
            panic!("{error}")
        };
        assert!(options.contains(&"-O3".to_string()));
        assert!(log.contains("unknown_name"));
    }
}

#[test]
fn a_compile_without_end_is_stopped_at_its_deadline_and_one_without_bound_at_its_memory() {
    let endless = "
        constexpr int spin() { int n = 0; for (long i = 0; i < 100000000000; i++) n += i & 1; return n; }
        static_assert(spin() > 0);
        __global__ void k() {}";
    let hungry = "
        template <class T> struct length;
        template <uint32_t... I> struct length<kiln_cpu_indices<I...>> { static constexpr unsigned long value = sizeof...(I); };
        static_assert(length<kiln_cpu_count_to<200000000>>::value > 0);
        __global__ void k() {}";
    for device in devices() {
        let request = |source: &str, deadline: Duration, memory_bytes: u64| {
            let mut request = CompileRequest::new("entry", unit(false, source, "k"));
            // Raises the compilers' own limits on constant evaluation.
            request.options = match device.compiler().unwrap().identity().name.as_str() {
                "g++" => vec![
                    "-fconstexpr-ops-limit=1000000000000".into(),
                    "-fconstexpr-loop-limit=2000000000".into(),
                ],
                _ => vec!["-fconstexpr-steps=2000000000".into()],
            };
            request.limits = CompileLimits {
                deadline,
                memory_bytes,
                ..CompileLimits::default()
            };
            device.compiler().unwrap().compile(&request).unwrap_err()
        };
        let error = request(endless, Duration::from_millis(700), 8 << 30);
        assert!(matches!(error, CompileError::TimedOut { .. }), "{error}");
        let error = request(hungry, Duration::from_secs(600), 400 << 20);
        assert!(
            matches!(error, CompileError::OutOfMemory { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn a_compiler_that_is_not_there_is_told_with_what_to_do() {
    let error = CpuCompiler::at(Path::new("/nowhere/clang++"), &options()).unwrap_err();
    assert!(matches!(error, CompileError::NotFound { .. }));
    assert!(error.to_string().contains("help: set KILN_CXX"), "{error}");
    let error = CpuCompiler::at(Path::new("/bin/echo"), &options()).unwrap_err();
    assert!(
        error.to_string().contains("neither clang++ nor g++"),
        "{error}"
    );
}

#[test]
fn an_image_for_a_named_instruction_set_loads_and_one_for_another_machine_does_not() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let options = CpuOptions {
        target: CpuTarget::Named("x86-64-v2".into()),
        ..options()
    };
    for device in on_cpu::devices_with(&options) {
        let source = "__global__ void k(float* x, const half* h) { x[threadIdx.x] += __half2float(h[threadIdx.x]); }";
        let mut artifact =
            compile_anew(&device, &unit(false, source, "k"), BuildKind::Release).unwrap();
        assert_eq!(artifact.target, "x86-64-v2");
        // Any device can load the artifact, with or without a compiler.
        let plain = CpuDevice::with_options(on_cpu::options()).unwrap();
        let kernel = Loaded::of(&plain, &artifact);
        let (x, h) = (
            buffer(&plain, &[1_f32; 40]),
            buffer(&plain, &[0x4200_u16; 40]),
        );
        kernel
            .launch(
                &plan([1; 3], [40, 1, 1]),
                &[Arg::Buffer(&*x), Arg::Buffer(&*h)],
            )
            .unwrap();
        assert_eq!(contents::<f32>(&*x), [4.0; 40]);
        artifact.target = "native-0123456789abcdef".into();
        let error = plain.load(&artifact).unwrap_err();
        assert!(matches!(error, DeviceError::Load { .. }), "{error}");
    }
}

#[test]
fn a_loop_over_threads_becomes_contiguous_vector_code() {
    if !cfg!(target_arch = "x86_64") {
        return eprintln!("skipped: looks at x86-64 code");
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in CPU_PRELUDE {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let source = "__global__ void add(float* c, const float* a, const float* b, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
    }";
    std::fs::write(folder.path().join("add.cpp"), unit(false, source, "add")).unwrap();
    for device in devices() {
        let compiler = device.compiler().unwrap();
        let program = compiler.identity().name.clone();
        let path = CpuCompiler::installed()
            .into_iter()
            .find(|path| {
                path.file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(&program))
            })
            .unwrap();
        // This instruction set has gathers and scatters, so the compiler could use them.
        let flags = compiler.flags(BuildKind::Release).into_iter().map(|flag| {
            if flag.starts_with("-march") {
                "-march=x86-64-v4".to_string()
            } else {
                flag
            }
        });
        let output = Command::new(path)
            .args(flags)
            .args(["-S", "-I", ".", "-o", "-", "add.cpp"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let code = String::from_utf8_lossy(&output.stdout);
        assert!(
            code.contains("vaddps"),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        for unwanted in ["gather", "scatter"] {
            assert!(!code.contains(unwanted), "{program} uses {unwanted}");
        }
    }
}

/// The environment variable that marks the process that `files_that_are_deleted_while_a_program_runs_are_written_again`
/// starts.
const CHILD: &str = "KILN_TEST_DELETES_ITS_CACHE";

#[test]
fn files_that_are_deleted_while_a_program_runs_are_written_again() {
    // A process of its own, because other tests use the cache of this process.
    if std::env::var_os(CHILD).is_none() {
        let cache = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "compiler::files_that_are_deleted_while_a_program_runs_are_written_again",
            ])
            .env(CHILD, "1")
            .env("KILN_CACHE", cache.path())
            .status();
        assert!(status.unwrap().success());
        return;
    }
    let cache = std::env::var_os("KILN_CACHE").unwrap();
    for device in devices() {
        for value in [1, 2] {
            let source = format!("__global__ void k(float* x) {{ *x = {value}; }}");
            let compiled = compile_anew(&device, &unit(true, &source, "k"), BuildKind::Release);
            compiled.unwrap();
            // The folder itself stays, as when a service deletes old files.
            for entry in std::fs::read_dir(&cache).unwrap().flatten() {
                std::fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }
}
