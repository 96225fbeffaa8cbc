//! Measures the copy bandwidth of a device, in the same session as the memory-bound kernels that are compared with it.

use kiln::device::DeviceInfo;
use kiln_spec::Backend;

use super::embedded;
use super::error::{EmbeddedError, WatchError};
use super::stage::WatchSession;
use kiln_project::TunedKernel;

/// Each thread moves 16 bytes, and adjacent threads move adjacent data.
const SOURCE: &str = "\
struct alignas(16) Four { float x[4]; };
extern \"C\" __global__ void kiln_copied(unsigned n, const float* __restrict__ from, float* __restrict__ to) {
  size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
  if (i < n / 4) ((Four*)to)[i] = ((const Four*)from)[i];
}
";

const DECLARATION: &str = "\
#[tuned_kernel(
    source = \"copied.cu\",
    params(THREADS in [256]),
    baseline(THREADS = 256),
    grid(n.div_ceil(4 * THREADS)),
    block(THREADS),
    problems((n = 4194304)),
    verify((n = 4), (n = 65536)),
    work(bytes = 8 * n),
    tolerance(relative = 0.0),
)]
unsafe extern \"C\" {
    fn kiln_copied(n: u32, #[len(n)] #[align(4)] from: &[f32], #[len(n)] #[align(4)] to: &mut [f32]);
}
";

/// Minimum number of elements, and the maximum on the cpu device and on a GPU. The data should be larger than the
/// caches, but small enough that checking it does not take minutes.
const MIN_ELEMENTS: u64 = 1 << 22;
const MAX_ON_HOST: u64 = 1 << 23;
const MAX_ON_GPU: u64 = 1 << 25;

/// Number of elements on the fake device. It has no caches, and its script determines the time of a launch.
const ON_FAKE: u64 = 1 << 16;

/// Number of elements to copy on a device. The two buffers together are 16 times the size of its last-level cache,
/// within the limits above.
fn elements(device: &DeviceInfo) -> u64 {
    let wanted = device.limits.l2_bytes.saturating_mul(2);
    match device.key.backend {
        Backend::Fake => ON_FAKE,
        Backend::Cpu => wanted.clamp(MIN_ELEMENTS, MAX_ON_HOST) / 4 * 4,
        Backend::Cuda | Backend::Hip => wanted.clamp(MIN_ELEMENTS, MAX_ON_GPU) / 4 * 4,
    }
}

fn kernel() -> Result<TunedKernel, EmbeddedError> {
    embedded::kernel(DECLARATION, SOURCE)
}

/// The copy bandwidth in bytes per second. The bytes that are read and the bytes that are written are both counted. The
/// data exceeds the last-level cache if possible. `budget_ns` is the time for measuring.
///
/// # Errors
/// If the bandwidth could not be measured.
pub fn bytes_per_s(stage: &WatchSession<'_>, budget_ns: u64) -> Result<u64, WatchError> {
    let kernel = kernel()?;
    let elements = elements(stage.info);
    let problem = kernel.spec.parse_problem(&format!("n={elements}"))?;
    let time_ns = embedded::time_ns(stage, &kernel, &problem, budget_ns)?.max(1);
    let bytes = u128::from(elements) * 8 * 1_000_000_000 / u128::from(time_ns);
    Ok(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_declaration_is_one_and_fits_its_source() {
        let kernel = kernel().unwrap();
        assert!(kernel.scan.entry(&kernel.spec.entry).is_ok());
        let problem = kernel.spec.parse_problem("n=4194304").unwrap();
        let plan = kernel.spec.baseline_plan(&problem, None).unwrap();
        assert_eq!((plan.grid, plan.block), ([4096, 1, 1], [256, 1, 1]));
    }
}
