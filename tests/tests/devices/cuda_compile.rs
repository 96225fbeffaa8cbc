//! Compiles for NVIDIA GPUs on a machine without one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kiln::backend::cuda::NvrtcCompiler;
use kiln::compile_only;
use kiln::compiler::{Artifact, BuildKind, CompileError, CompileRequest, Compiler};
use kiln::image::cubin_info;
use kiln_tests::capability::{Need, have};

const SCALE: &str = "\
extern \"C\" __global__ void __launch_bounds__(256) scale(unsigned n, float factor, const float* x, float* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
";

fn compile(arch: &str, source: &str) -> Result<Artifact, CompileError> {
    let compiler = compile_only::compiler(arch)?;
    compiler.compile(&CompileRequest::new("kernel", source))
}

/// The machine number (`e_machine`) in an ELF header.
fn machine(image: &[u8]) -> u16 {
    u16::from_le_bytes([image[18], image[19]])
}

#[test]
fn a_kernel_compiles_for_every_known_nvidia_target_and_says_what_it_takes() {
    if !have("a kernel for NVIDIA targets", &[Need::Nvrtc]) {
        return;
    }
    for arch in ["sm_86", "sm_89", "sm_90"] {
        let artifact = compile(arch, SCALE).unwrap();
        assert_eq!(artifact.target, arch);
        assert_eq!(machine(&artifact.image), 190, "{arch}");
        let symbol = b".text.scale\0";
        assert!(
            artifact
                .image
                .windows(symbol.len())
                .any(|part| part == symbol)
        );
        // H100 is compiled with its own features.
        let real = if arch == "sm_90" { "sm_90a" } else { arch };
        let entry = format!("Compiling entry function 'scale' for '{real}'");
        assert!(artifact.log.contains(&entry), "{}", artifact.log);
        assert!(artifact.log.contains(" registers"), "{}", artifact.log);
    }
}

#[test]
fn all_parameters_of_a_kernel_with_many_are_counted() {
    if !have("a kernel with large parameters", &[Need::Nvrtc]) {
        return;
    }
    for bytes in [4000, 5000] {
        let source = format!(
            "struct Many {{ char bytes[{bytes}]; }};\n\
             extern \"C\" __global__ void many(Many many, char* y) {{ y[threadIdx.x] = many.bytes[threadIdx.x]; }}\n"
        );
        let artifact = compile("sm_89", &source).unwrap();
        let kernel = cubin_info::kernel(&artifact.image, "many").unwrap();
        assert_eq!(kernel.parameters, 2, "{bytes}");
        assert_eq!(kernel.limits.parameter_bytes, bytes + 8);
    }
}

#[test]
fn half_bfloat16_and_matrix_instructions_are_there() {
    if !have("CUDA headers", &[Need::Nvrtc]) {
        return;
    }
    let source = "\
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
extern \"C\" __global__ void tile(const __half* a, const __half* b, float* c, __nv_bfloat16* d) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    d[threadIdx.x] = __float2bfloat16(c[threadIdx.x]);
}
";
    compile("sm_89", source).unwrap();
}

#[test]
fn both_keywords_for_inline_assembly_are_there() {
    if !have("keywords for inline assembly", &[Need::Nvrtc]) {
        return;
    }
    let source = "\
#include \"kiln_cuda.h\"
extern \"C\" __global__ void lane(unsigned* x) {
    unsigned first, second;
    asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(first));
    __asm__ __volatile__(\"mov.u32 %0, %laneid;\" : \"=r\"(second));
    x[threadIdx.x] = first + second;
}
";
    compile("sm_89", source).unwrap();
}

#[test]
fn nvidias_headers_and_the_preludes_integers_go_into_one_unit() {
    if !have("CUDA headers with integers of their own", &[Need::Nvrtc]) {
        return;
    }
    for header in [
        "cooperative_groups.h",
        "cuda_pipeline.h",
        "cuda/atomic",
        "cuda/std/cstdint",
        "cuda/std/array",
        "cub/block/block_reduce.cuh",
    ] {
        let source = format!(
            "#include \"kiln_cuda.h\"\n#include <stdint.h>\n#include <{header}>\n\
             extern \"C\" __global__ void k(int64_t* x, uint64_t y) {{ x[threadIdx.x] = (int64_t)y; }}\n"
        );
        if let Err(error) = compile("sm_89", &source) {
            panic!("{header}: {error}");
        }
    }
}

/// A kernel after many declarations, so that parsing takes most of the compile. `number` makes its text unique.
fn long(number: usize) -> CompileRequest {
    let declarations: String = (0..8_000)
        .map(|i| format!("template <int N> struct T{i} {{ static const int value = N; }};\n"))
        .collect();
    let kernel =
        format!("extern \"C\" __global__ void late(int* x) {{ x[0] = T1<{number}>::value; }}\n");
    CompileRequest::new("late", declarations + &kernel)
}

/// The threads of a process parse one source at a time in NVRTC (`findings/nvrtc_threads_wait.sh`), and threads of a busy
/// machine wait for a processor. Neither is a fault of the kernel.
#[test]
fn a_compile_may_wait_for_others_longer_than_its_limit() {
    if !have("a limit of a compile", &[Need::Nvrtc]) {
        return;
    }
    let compiler = compile_only::compiler("sm_89").unwrap();
    let cpu = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let start = cpu();
    compiler.compile(&long(0)).unwrap();
    let (end, ns) = (cpu(), 1_000_000_000);
    let taken = (end.tv_sec - start.tv_sec) * ns + end.tv_nsec - start.tv_nsec;
    let deadline = 5 * Duration::from_nanos(taken.try_into().unwrap());
    let limited = |number, deadline, until| {
        let mut request = long(number);
        request.limits.deadline = deadline;
        request.limits.until = until;
        compiler.compile(&request)
    };
    std::thread::scope(|scope| {
        for number in 1..=16 {
            scope.spawn(move || limited(number, deadline, None).unwrap());
        }
    });
    let ended = |deadline, until| {
        let error = limited(0, deadline, until).unwrap_err();
        assert!(matches!(error, CompileError::TimedOut { .. }), "{error:?}");
    };
    ended(deadline / 1_000, None);
    // The end of a run ends a compile, however long its limit is.
    ended(deadline, Some(Instant::now()));
}

#[test]
fn an_error_names_the_authors_file_and_line() {
    if !have("an error of NVRTC", &[Need::Nvrtc]) {
        return;
    }
    let source = "#line 7 \"gemm.cu\"\nextern \"C\" __global__ void k() { undeclared = 1; }\n";
    let error = compile("sm_89", source).unwrap_err();
    let CompileError::Failed { log, options, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(log.contains("gemm.cu(7): error"), "{log}");
    assert!(
        options
            .iter()
            .any(|option| option == "--gpu-architecture=sm_89")
    );
    assert!(error.to_string().contains("undeclared"), "{error}");
}

#[test]
fn what_the_assembler_refuses_is_said_although_it_is_asked_for_information() {
    if !have("an error of ptxas", &[Need::Nvrtc]) {
        return;
    }
    let source = "\
extern \"C\" __global__ void greedy(float* y) {
    __shared__ float tile[20000];
    tile[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[1023 - threadIdx.x];
}
";
    let error = compile("sm_89", source).unwrap_err().to_string();
    assert!(error.contains("too much shared data"), "{error}");
}

#[test]
fn a_build_for_checking_is_refused_and_says_where_to_check() {
    if !have("a check build for a GPU", &[Need::Nvrtc]) {
        return;
    }
    let compiler = compile_only::compiler("sm_89").unwrap();
    for build in [BuildKind::Check, BuildKind::Sanitize] {
        let request = CompileRequest::new("scale", SCALE).with_build(build);
        let error = compiler.compile(&request).unwrap_err();
        assert!(
            matches!(error, CompileError::Unsupported { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains("cpu device"), "{error}");
    }
}

#[test]
fn many_threads_compile_at_once_and_get_what_one_gets() {
    if !have("threads of NVRTC", &[Need::Nvrtc]) {
        return;
    }
    let compiler = compile_only::compiler("sm_89").unwrap();
    let source = |n: u32| SCALE.replace("256", &(32 * n).to_string());
    let alone: Vec<_> = (1..=8).map(|n| image(&*compiler, &source(n))).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let compiler = &*compiler;
        let threads: Vec<_> = (1..=8)
            .map(|n| scope.spawn(move || image(compiler, &source(n))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(alone, together);
}

fn image(compiler: &dyn Compiler, source: &str) -> Vec<u8> {
    let artifact = compiler
        .compile(&CompileRequest::new("scale", source))
        .expect("the kernel should compile");
    artifact.image.to_vec()
}

#[test]
fn the_folder_that_the_program_is_in_is_not_searched_for_headers() {
    if !have("headers in the working folder", &[Need::Nvrtc]) {
        return;
    }
    assert!(Path::new("Cargo.toml").exists());
    let error = compile("sm_89", "#include \"Cargo.toml\"\n").unwrap_err();
    let CompileError::Failed { log, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(log.contains("cannot open source file"), "{log}");
}

#[test]
fn a_source_that_holds_a_zero_byte_and_an_unknown_option_are_errors() {
    if !have("odd requests to NVRTC", &[Need::Nvrtc]) {
        return;
    }
    let error = compile("sm_89", "int a;\0int b;").unwrap_err().to_string();
    assert!(error.contains("zero byte"), "{error}");
    let mut request = CompileRequest::new("scale", SCALE);
    request.options.push("--no-such-option".into());
    let error = compile_only::compiler("sm_89")
        .unwrap()
        .compile(&request)
        .unwrap_err();
    assert!(error.to_string().contains("no-such-option"), "{error}");
}

/// Code for Hopper is compiled for `sm_90a`, but the target and the image keep the device's name, `sm_90`.
#[test]
fn hopper_is_compiled_with_its_own_features() {
    if !have("a compile for Hopper", &[Need::Nvrtc]) {
        return;
    }
    let source = "\
#if !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error plain
#endif
extern \"C\" __global__ void k() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }
";
    let artifact = compile("sm_90", source).unwrap();
    assert_eq!(artifact.target, "sm_90");
    let error = compile("sm_89", source).unwrap_err().to_string();
    assert!(error.contains("plain"), "{error}");
}

#[test]
fn an_architecture_that_nvrtc_does_not_know_is_refused_with_those_it_knows() {
    if !have("architectures of NVRTC", &[Need::Nvrtc]) {
        return;
    }
    let error = compile_only::compiler("sm_20").unwrap_err().to_string();
    assert!(error.contains("sm_89"), "{error}");
    assert!(compile_only::compiler("sm_90a").is_ok());
}

/// One damaged or incomplete library after another in the same folder. The error must contain its name and the reason.
#[test]
fn a_library_that_is_absent_cut_off_foreign_or_incomplete_is_an_error_that_names_it() {
    if !have("damaged NVRTC libraries", &[Need::HostCompiler]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libnvrtc.so.13");
    let error_with = |bytes: &[u8]| {
        std::fs::write(&library, bytes).unwrap();
        not_found(folder.path())
    };
    let nothing = not_found(folder.path());
    assert!(nothing.contains("no libnvrtc.so"), "{nothing}");

    let whole = std::fs::read(stand_in(
        folder.path(),
        "int nvrtcVersion(int* a, int* b) { *a = 13; *b = 5; return 0; }",
    ))
    .unwrap();
    let text = error_with(&whole);
    assert!(
        text.contains("libnvrtc.so.13: it has no symbol `nvrtcCreateProgram`"),
        "{text}"
    );
    for kept in [0, 100, 2000, whole.len() / 2] {
        let text = error_with(&whole[..kept]);
        assert!(
            text.contains("libnvrtc.so.13: it is"),
            "{kept} bytes: {text}"
        );
    }
    let mut foreign = whole.clone();
    foreign[18..20].copy_from_slice(&183u16.to_le_bytes());
    let text = error_with(&foreign);
    assert!(
        text.contains("libnvrtc.so.13: it is for another processor"),
        "{text}"
    );
}

#[test]
fn built_in_functions_that_are_absent_or_cut_off_are_named() {
    if !have("NVRTC without its builtins", &[Need::Nvrtc]) {
        return;
    }
    let compiler = NvrtcCompiler::new("sm_89").unwrap();
    let real = compiler.library().unwrap().to_owned();
    let folder = tempfile::tempdir_in(kiln_tests::command::target_dir()).unwrap();
    let copy = folder.path().join("libnvrtc.so.13");
    if std::fs::hard_link(&real, &copy).is_err() {
        std::fs::copy(&real, &copy).unwrap();
    }
    let error = not_found(folder.path());
    assert!(error.contains("libnvrtc-builtins.so."), "{error}");
    let builtins = std::fs::read_dir(real.parent().unwrap()).unwrap().flatten();
    let builtins = builtins
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains("libnvrtc-builtins.so."))
        .expect("the library should have its builtins beside it");
    let mut bytes = std::fs::read(&builtins).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(folder.path().join(builtins.file_name().unwrap()), &bytes).unwrap();
    let error = not_found(folder.path());
    assert!(
        error.contains("libnvrtc-builtins.so.") && error.contains("cut off"),
        "{error}"
    );
}

fn not_found(place: &Path) -> String {
    let error = NvrtcCompiler::at(place, "sm_89").expect_err("it should not load");
    assert!(matches!(error, CompileError::NotFound { .. }), "{error:?}");
    error.to_string()
}

/// Builds a shared library with these functions, in a subfolder.
fn stand_in(folder: &Path, source: &str) -> PathBuf {
    let folder = folder.join("made");
    std::fs::create_dir_all(&folder).expect("a folder should be made");
    std::fs::write(folder.join("library.c"), source).expect("a file should be written");
    let library = folder.join("library.so");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(folder.join("library.c"));
    kiln_tests::command::expect_code(&mut command, 0);
    library
}
