//! Measures the launch overhead of a device: the time of an almost empty kernel, in the same session as the kernels
//! that are compared with it.

use super::embedded;
use super::error::{EmbeddedError, WatchError};
use super::stage::WatchSession;
use kiln_project::TunedKernel;

/// One thread writes one number, which is the least work that can be verified.
const SOURCE: &str = "\
extern \"C\" __global__ void kiln_least_launch(unsigned n, float* out) {
  if (blockIdx.x == 0 && threadIdx.x == LEAST) out[0] = (float)n;
}
";

const DECLARATION: &str = "\
#[tuned_kernel(
    source = \"least.cu\",
    params(LEAST in [0]),
    baseline(LEAST = 0),
    grid(n.div_ceil(32)),
    block(32),
    problems((n = 1)),
    verify((n = 1)),
    tolerance(relative = 0.0),
)]
unsafe extern \"C\" {
    fn kiln_least_launch(n: u32, #[len(n)] out: &mut [f32]);
}
";

/// A kernel is launch-bound if an almost empty launch takes at least this share of the kernel's time. The kernel's
/// throughput then depends more on the host than on the kernel.
pub const LARGE_SHARE: f64 = 0.25;

/// Creates the almost empty kernel.
pub(super) fn kernel() -> Result<TunedKernel, EmbeddedError> {
    embedded::kernel(DECLARATION, SOURCE)
}

/// The time of an almost empty launch in nanoseconds. `budget_ns` is the time for measuring.
///
/// # Errors
/// If the time could not be measured.
pub fn launch_ns(stage: &WatchSession<'_>, budget_ns: u64) -> Result<u64, WatchError> {
    let kernel = kernel()?;
    embedded::time_ns(stage, &kernel, &kernel.spec.problems[0], budget_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_declaration_is_one_and_fits_its_source() {
        let kernel = kernel().unwrap();
        assert_eq!(kernel.spec.entry, "kiln_least_launch");
        assert!(kernel.scan.entry(&kernel.spec.entry).is_ok());
        let plan = kernel
            .spec
            .baseline_plan(&kernel.spec.problems[0], None)
            .unwrap();
        assert_eq!((plan.grid, plan.block), ([1, 1, 1], [32, 1, 1]));
    }
}
