//! Kernels with a stack, spills, barriers, and static and dynamic shared memory. Their logs and images must agree.

use kiln::artifacts::{ArtifactCache, DEFAULT_MAX_BYTES};
use kiln::compile_only;
use kiln::compiler::{Artifact, CompileRequest};
use kiln_lab::candidate::inspect::{self, Resources, Spills};
use kiln_spec::codegen::Target;
use kiln_spec::targets::KnownTarget;
use kiln_tests::command::shared_artifacts;

/// The kernels in [`SOURCE`].
const ENTRIES: [&str; 5] = ["plain", "stacked", "spilling", "both", "still"];

const SOURCE: &str = r#"
extern "C" __global__ void __launch_bounds__(256) plain(const float* x, float* y)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void stacked(const int* order, float* y)
{
    float values[48];
    for (int i = 0; i < 48; ++i) {
        values[order[i]] = y[i];
    }
    for (int i = 0; i < 48; ++i) {
        y[i] = values[order[order[i]]];
    }
}

extern "C" __global__ void __launch_bounds__(1024) spilling(const float* x, float* y, int n)
{
    float values[220];
#pragma unroll
    for (int i = 0; i < 220; ++i) {
        values[i] = x[i * n + threadIdx.x];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 220; ++i) {
        y[i * n + threadIdx.x] = values[i] * values[(i * 7 + 3) % 220];
    }
}

extern "C" __global__ void __launch_bounds__(96) both(const float* x, float* y)
{
    extern __shared__ float dynamic_part[];
    __shared__ float static_part[100];
    static_part[threadIdx.x] = x[0];
    dynamic_part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = dynamic_part[31 - threadIdx.x] + static_part[3];
}

extern "C" __global__ void still(float* y)
{
    y[blockIdx.x] = 0.0f;
}
"#;

/// The artifact of [`SOURCE`] for a target.
pub fn compiled(known: &KnownTarget) -> Artifact {
    let compiler = compile_only::compiler(known.arch).expect("the compiler was found just now");
    let prelude = match Target::from(known.backend) {
        Target::Hip => "kiln_hip.h",
        _ => "kiln_cuda.h",
    };
    let source = format!("#include \"{prelude}\"\n{SOURCE}");
    let artifacts = ArtifactCache::at(shared_artifacts(), DEFAULT_MAX_BYTES);
    let request = CompileRequest::new("entries", source);
    let made = artifacts.compile(&*compiler, known.backend, &request);
    made.unwrap_or_else(|error| panic!("{}: {error}", known.arch))
}

/// The resources of a kernel according to the log and the image, which must agree.
fn resources(known: &KnownTarget, artifact: &Artifact, symbol: &str) -> Resources {
    let Artifact { image, log, .. } = artifact;
    let both = inspect::resources(known.backend, image, log, symbol);
    both.unwrap_or_else(|error| panic!("{}: {symbol}: {error}\n{log}", known.arch))
}

#[test]
fn log_and_image_say_the_same_of_every_kind_of_kernel() {
    for known in super::targets("log_and_image_say_the_same_of_every_kind_of_kernel") {
        let artifact = compiled(known);
        let [plain, stacked, spilling, both, still] =
            ENTRIES.map(|entry| resources(known, &artifact, entry));
        let arch = known.arch;
        assert_eq!(plain.limits.static_shared_bytes, 1024, "{arch}");
        assert_eq!(plain.limits.max_threads, Some(256), "{arch}");
        assert_eq!((plain.stack_bytes, weight(&plain)), (0, 0), "{arch}");
        assert!(stacked.stack_bytes >= 48 * 4, "{arch}: {stacked:?}");
        assert!(
            spilling.stack_bytes > 0 && weight(&spilling) > 0,
            "{arch}: {spilling:?}"
        );
        assert_eq!(spilling.limits.max_threads, Some(1024), "{arch}");
        assert_eq!(both.limits.static_shared_bytes, 400, "{arch}");
        assert_eq!(still.limits.static_shared_bytes, 0, "{arch}");
        assert!(
            still.registers < plain.registers,
            "{arch}: {still:?} {plain:?}"
        );
        if known.backend == kiln_spec::Backend::Cuda {
            let barriers = [plain, still].map(|resources| resources.barriers);
            assert_eq!(barriers, [Some(1), Some(0)], "{arch}");
            // The image without a log gives the same figures.
            let image = inspect::from_image(known.backend, &artifact.image, "plain");
            assert_eq!(
                image.expect("the image is whole").barriers,
                Some(1),
                "{arch}"
            );
        }
        println!("{arch}: {} entries, log and image agree", ENTRIES.len());
    }
}

fn weight(resources: &Resources) -> u64 {
    resources.spills.as_ref().map_or(0, Spills::weight)
}

#[test]
fn an_entry_that_is_not_there_is_named_with_those_that_are() {
    for known in super::targets("an_entry_that_is_not_there_is_named_with_those_that_are") {
        let artifact = compiled(known);
        let error = inspect::from_image(known.backend, &artifact.image, "absent").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("the image has no entry `absent` (it has: "),
            "{text}"
        );
        assert!(text.contains("stacked"), "{text}");
        let wrong = super::TARGETS.iter().find(|other| {
            other.backend != known.backend && other.backend != kiln_spec::Backend::Cpu
        });
        let wrong = wrong.expect("the table has targets of two vendors");
        let error = inspect::from_image(wrong.backend, &artifact.image, "plain").unwrap_err();
        assert!(error.to_string().contains("it is not a"), "{error}");
    }
}
