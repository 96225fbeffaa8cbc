//! Tests generated translation units on the cpu device. Every supported source runs and has the same results in the
//! release and the receipt entry, and the receipt identifies the launch.

use std::sync::Arc;

use crate::on_cpu::{Arg, Loaded, STREAM, buffer, compile, contents, devices, plan};
use kiln::backend::cpu::CpuDevice;
use kiln::compiler::{BuildKind, CompileRequest};
use kiln::device::{Allocation, DeviceBackend as _};
use kiln::receipt::{RECEIPT_BYTES, Receipt};
use kiln::spec::codegen::{CodegenError, Target, TranslationUnit};
use kiln::spec::source::{ReadError, SourceScan, SourceText};
use kiln::spec::{Config, KernelSpec, LaunchPlan, ParamValue, Problem};

/// A spec with only integer parameters. Only the parts that the generator reads matter.
fn spec(entry: &str, params: &[(&str, i64)]) -> KernelSpec {
    let params: Vec<_> = params
        .iter()
        .map(|(name, value)| format!(r#"{{"name":"{name}","values":[{value}]}}"#))
        .collect();
    let json = format!(
        r#"{{"name":"{entry}","source":"k.cu","entry":"{entry}","types":[],"params":[{}],"constraints":[],
            "geometry":{{"grid":[],"block":[],"shared_bytes":null}},
            "baseline":{{"entry":"{entry}","config":[],"geometry":null}},"problems":[],"verify":[],
            "work":{{"flops":null,"bytes":null}},"tolerance":{{"relative":0.0,"absolute":0.0}},
            "reference":null,"args":[]}}"#,
        params.join(",")
    );
    KernelSpec::from_json(&json).unwrap()
}

fn unit(
    source: &str,
    entry: &str,
    params: &[(&str, i64)],
) -> Result<TranslationUnit, CodegenError> {
    let source = SourceText::load("k.cu", &mut |name| match name {
        "k.cu" => Ok(source.to_owned()),
        _ => Err(ReadError::unresolved(
            name,
            &std::io::Error::other("no such file"),
        )),
    })
    .unwrap();
    let scan = SourceScan::new(&source).unwrap();
    let config = Config::new(
        params
            .iter()
            .map(|(name, value)| ((*name).into(), ParamValue::Int(*value))),
    );
    TranslationUnit::new(
        &source,
        &scan,
        &spec(entry, params),
        entry,
        &config,
        &Problem::default(),
        Target::Cpu,
    )
}

/// Launches both entries on a buffer that contains `before`. Returns the buffer's content after each launch, and the
/// receipt.
fn run(
    device: &Arc<CpuDevice>,
    unit: &TranslationUnit,
    plan: &LaunchPlan,
    before: &[f32],
) -> (Vec<f32>, Vec<f32>, Receipt) {
    let artifact =
        compile(device, &unit.text, BuildKind::Release).unwrap_or_else(|error| panic!("{error:?}"));
    let module = device.load(&artifact).unwrap();
    let entry = |symbol: &str| Loaded {
        device: device.clone(),
        function: Arc::clone(&module).function(symbol).unwrap(),
    };
    let memory = buffer(device, before);
    entry(unit.release.as_str())
        .launch(plan, &[Arg::Buffer(&*memory)])
        .unwrap();
    let release = contents::<f32>(&*memory);
    let memory = buffer(device, before);
    let record: Box<dyn Allocation> = device.alloc(RECEIPT_BYTES, 256).unwrap();
    record.write(STREAM, 0, &Receipt::blank(41)).unwrap();
    let args = [Arg::Buffer(&*memory), Arg::Buffer(&*record)];
    entry(unit.receipt.as_str()).launch(plan, &args).unwrap();
    let mut bytes = [0; RECEIPT_BYTES];
    record.read(STREAM, 0, &mut bytes).unwrap();
    (release, contents::<f32>(&*memory), Receipt::decode(&bytes))
}

/// Runs a translation unit with every compiler. Both entries must produce `after`, and the receipt must match the
/// launch.
fn check(
    source: &str,
    entry: &str,
    params: &[(&str, i64)],
    plan: &LaunchPlan,
    before: &[f32],
    after: &[f32],
) {
    let unit = unit(source, entry, params).unwrap();
    for device in devices() {
        let (release, receipt_copy, receipt) = run(&device, &unit, plan, before);
        assert_eq!(
            release,
            after,
            "release, {}",
            device.compiler().unwrap().identity()
        );
        assert_eq!(
            receipt_copy,
            after,
            "receipt, {}",
            device.compiler().unwrap().identity()
        );
        assert_eq!(
            (receipt.nonce, receipt.threads),
            (41, plan.threads_per_block() * plan.blocks())
        );
        assert_eq!(
            (receipt.symbol_hash, receipt.config_hash),
            (unit.symbol_hash, unit.config_hash)
        );
        assert_eq!((receipt.block, receipt.grid), (plan.block, plan.grid));
        assert_eq!(receipt.dynamic_shared_bytes, plan.shared_bytes);
    }
}

#[test]
fn a_template_may_take_a_function() {
    let source = r#"
        template <typename T> __device__ T half_of(const T& x) { return x * T(0.5f); }
        template <typename T, T (*F)(const T&), int N = 2> __global__ void apply(T* y) {
            const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            y[i] = F(y[i]) + N;
        }
    "#;
    let plan = plan([2, 1, 1], [2, 1, 1]);
    let before = [0.0, 1.0, 2.0, 3.0];
    check(
        source,
        "apply<float, half_of<float>>",
        &[],
        &plan,
        &before,
        &[2.0, 2.5, 3.0, 3.5],
    );
}

#[test]
fn helpers_structs_tables_macros_and_unrolled_loops_compute_what_they_say() {
    let source = r#"
        #ifndef WIDTH
        #define WIDTH 9
        #endif
        #define SQUARE(x) ((x) * (x))
        struct Pair { float first, second; __device__ float sum() const { return first + second; } };
        __constant__ float offsets[2] = {1.0f, 2.0f};
        static __device__ const int table[4] = {3, 1, 2, 0};
        namespace inner { template <class T> __device__ T twice(T x) { return x + x; } }
        extern "C" { __device__ float linked(float x) { return x * 2.0f; } }
        template <int N> __device__ __forceinline__ float power(float x) {
            float result = 1.0f;
            #pragma unroll N
            for (int i = 0; i < N; ++i) result *= x;
            return result;
        }
        static __global__ void __launch_bounds__(4) entry(float* y) {
            const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            Pair pair = {0.5f, 0.25f};
            float value = power<WIDTH>(y[i]) + pair.sum() + offsets[i % 2] + linked(1.0f);
            #pragma unroll
            for (int j = 0; j < WIDTH; ++j) value += SQUARE(table[(i + j) % 4]);
            y[i] = inner::twice(value);
        }
    "#;
    let before: Vec<f32> = (0..8u8).map(f32::from).collect();
    let table = [3.0, 1.0, 2.0, 0.0_f32];
    let expected = |i: usize| {
        let squares: f32 = (0..3).map(|j| table[(i + j) % 4].powi(2)).sum();
        2.0 * (before[i].powi(3) + 0.75 + [1.0, 2.0][i % 2] + 2.0 + squares)
    };
    let after: Vec<f32> = (0..8).map(expected).collect();
    check(
        source,
        "entry",
        &[("WIDTH", 3)],
        &plan([2, 1, 1], [4, 1, 1]),
        &before,
        &after,
    );
}

#[test]
fn each_kernel_of_a_file_runs_in_its_own_unit() {
    let source = r#"
        __device__ float helper(float x) { return x + N; }
        extern "C" __global__ void plain(float* y) { y[threadIdx.x] = helper(y[threadIdx.x]); }
        extern "C" __global__ void reversed(float* y) {
            __shared__ float tile[64];
            tile[threadIdx.x] = helper(y[threadIdx.x]);
            __syncthreads();
            y[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
        }
    "#;
    let before: Vec<f32> = (0..64u8).map(f32::from).collect();
    let added: Vec<f32> = before.iter().map(|x| x + 5.0).collect();
    let reversed: Vec<f32> = added.iter().rev().copied().collect();
    let plan = plan([1, 1, 1], [64, 1, 1]);
    check(source, "plain", &[("N", 5)], &plan, &before, &added);
    check(source, "reversed", &[("N", 5)], &plan, &before, &reversed);
}

#[test]
fn dynamic_shared_memory_is_the_launchs() {
    let source = r#"
        __global__ void rotate(float* y) {
            extern __shared__ __align__(16) float tile[];
            tile[threadIdx.x] = y[threadIdx.x];
            __syncthreads();
            y[threadIdx.x] = tile[(threadIdx.x + STEP) % blockDim.x];
        }
    "#;
    let before: Vec<f32> = (0..96u8).map(f32::from).collect();
    let after: Vec<f32> = (0..96u8).map(|i| f32::from((i + 7) % 96)).collect();
    let plan = LaunchPlan {
        shared_bytes: 96 * 4,
        ..plan([1, 1, 1], [96, 1, 1])
    };
    check(source, "rotate", &[("STEP", 7)], &plan, &before, &after);
    // Outside functions, the array belongs to all kernels and may be declared again.
    let outside = r#"
        extern __shared__ __align__(16) char bytes[];
        namespace tiles {
            extern __shared__ float tile[];
            __device__ float* second() { return reinterpret_cast<float*>(bytes) + 1; }
        }
        extern __shared__ __align__(16) char bytes[];
        __global__ void rotate(float* y) {
            tiles::tile[threadIdx.x] = y[threadIdx.x];
            __syncthreads();
            const unsigned next = (threadIdx.x + STEP - 1) % blockDim.x;
            y[threadIdx.x] = next + 1 < blockDim.x ? tiles::second()[next] : *(float*)bytes;
        }
    "#;
    check(outside, "rotate", &[("STEP", 7)], &plan, &before, &after);
}

#[test]
fn macros_that_the_source_changes_have_the_same_values_in_both_entries() {
    let source = r#"
        #ifdef SEEN
        #error "a macro of the source must not be defined before it"
        #endif
        #define SEEN 1
        #define STEP 1
        __device__ float first() { return STEP; }
        #undef STEP
        #define STEP 2
        __global__ void k(float* y) { y[0] = first() * 10 + STEP; }
        #undef STEP
        #define STEP 3
    "#;
    check(
        source,
        "k",
        &[],
        &plan([1, 1, 1], [1, 1, 1]),
        &[0.0],
        &[12.0],
    );
}

#[test]
fn what_the_cpu_lacks_is_refused_at_the_authors_line_with_the_way_out() {
    let kernel = |head: &str, body: &str| {
        format!("{head}\n__global__ void k(float* x) {{\n    {body}\n}}\n")
    };
    let cases = [
        (
            kernel("", "asm volatile(\"membar.gl;\");"),
            [
                "k.cu:3:",
                "inline PTX is for NVIDIA GPUs alone",
                "add `only(cuda)`",
            ],
        ),
        (
            kernel("", "x[0] = tex1Dfetch<float>((cudaTextureObject_t)0, 0);"),
            [
                "k.cu:3:",
                "textures are for NVIDIA GPUs alone",
                "add `only(cuda)`",
            ],
        ),
        (
            kernel("#include <cuda/barrier>", "x[0] = 1;"),
            [
                "k.cu:1:",
                "cuda/barrier",
                "help: `<cuda/barrier>` is an NVIDIA header",
            ],
        ),
        (
            kernel("#include <lost.h>", "x[0] = 1;"),
            ["k.cu:1:", "lost.h", "help: include a header of the package"],
        ),
        (
            kernel(
                "#include <cooperative_groups.h>",
                "cooperative_groups::this_grid().sync();",
            ),
            ["k.cu:3:", "no cooperative launches", "split the kernel"],
        ),
        (
            kernel(
                "",
                "float a[5000]; for (int i = 0; i < 5000; ++i) a[i] = x[i]; __syncthreads(); \
                 x[0] = a[(int)x[1]];",
            ),
            ["`k_", "12288 for them", "make local arrays smaller"],
        ),
    ];
    for (source, wanted) in cases {
        let unit = unit(&source, "k", &[]).unwrap();
        for device in devices() {
            let request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
            let told = device
                .compiler()
                .unwrap()
                .compile(&request)
                .unwrap_err()
                .to_string();
            for words in wanted {
                assert!(told.contains(words), "{words}: {told}");
            }
        }
    }
}

#[test]
fn a_function_that_is_declared_but_not_defined_is_named_when_the_kernel_is_loaded() {
    let source = "extern \"C\" __device__ float elsewhere(float x);
        __global__ void k(float* x) { x[0] = elsewhere(x[0]); }";
    let unit = unit(source, "k", &[]).unwrap();
    for device in devices() {
        let artifact = compile(&device, &unit.text, BuildKind::Release).unwrap();
        let refused = device
            .load(&artifact)
            .and_then(|module| module.function(unit.release.as_str()))
            .err();
        let told = refused.expect("it should not load").to_string();
        assert!(told.contains("undefined symbol: elsewhere"), "{told}");
    }
}

#[test]
fn a_float3_needs_only_the_alignment_of_its_floats() {
    // The second element of the array of `float3` is 12 bytes after the first.
    let source = "__global__ void k(float* x) {
            float3* points = (float3*)(x + 1);
            const float3 point = points[threadIdx.x];
            points[threadIdx.x] = make_float3(point.z, point.x, point.y);
        }";
    check(
        source,
        "k",
        &[],
        &plan([1; 3], [2, 1, 1]),
        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        &[0.0, 3.0, 1.0, 2.0, 6.0, 4.0, 5.0],
    );
}

#[test]
fn inline_ptx_under_a_condition_that_does_not_hold_is_no_mistake() {
    let source = "__global__ void k(float* x) {\n#if KILN_CUDA\n    asm(\"membar.gl;\");\n#else\n    x[0] = 2;\n#endif\n}\n";
    check(source, "k", &[], &plan([1; 3], [1; 3]), &[0.0], &[2.0]);
}

#[test]
fn philox_gives_its_published_numbers() {
    // The published answers of Random123 for philox4x32 with 10 rounds, for counter 0 and key 0; then with the offset
    // of curand.
    let source = "#include <curand_kernel.h>
__global__ void k(float* x) {
    const unsigned int words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    curandStatePhilox4_32_10_t state, later;
    curand_init(0, 0, 0, &state);
    curand_init(0, 0, 6, &later);
    unsigned int word = 0;
    for (int i = 0; i < 7; ++i) {
        word = curand(&state);
        if (i < 4) x[i] = word == words[i];
    }
    x[4] = curand(&later) == word;
    curandState other;
    curand_init(7, threadIdx.x, 0, &other);
    float mean = 0;
    for (int i = 0; i < 10000; ++i) mean += curand_uniform(&other) / 10000;
    x[5] = mean > 0.48f && mean < 0.52f;
}
";
    check(
        source,
        "k",
        &[],
        &plan([1; 3], [1; 3]),
        &[0.0; 6],
        &[1.0; 6],
    );
}
