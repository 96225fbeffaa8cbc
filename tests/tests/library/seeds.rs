//! Runs the baseline of a kernel with the data of many seeds. It must pass with every seed. If some seeds exceeded a
//! tolerance, `tune` and the smoke test would reject every config with these seeds, including the baseline.

use std::sync::Arc;
use std::time::Instant;

use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::Problem;
use kiln::spec::verification::verification_problems;
use kiln::{Choice, Kernel, Stream, prepare};
use kiln_tests::capability::in_full;
use kiln_tests::test_device;

use crate::verify::of_each_type;

/// Total size of the data of all seeds of a problem in bytes, except in full measurements. Small problems get the most
/// seeds, because if an output has few elements, only their own magnitude bounds the error.
const LITTLE: u64 = 128 << 10;

/// Tests every verification problem of every element type with many seeds, and reports each seed that fails.
pub fn sweep(test: &str, kernel: &'static Kernel) {
    let Some(stream) = test_device::stream(test) else {
        return;
    };
    let start = Instant::now();
    let (mut launches, mut worst, mut refused) = (0, 0.0_f64, Vec::new());
    for like in of_each_type(kernel) {
        let config = kernel.config(Choice::Baseline);
        let limits = stream.device().info().limits;
        let configs = [config.clone()];
        for problem in verification_problems(kernel.spec(), &configs, like, Some(&limits)) {
            for seed in 0..seeds_of(kernel, &problem) {
                match launch(kernel, &stream, &problem, seed) {
                    Ok(error) => worst = worst.max(error),
                    Err(error) => refused.push(format!("{problem}, seed {seed}: {error}")),
                }
                launches += 1;
            }
        }
    }
    println!(
        "{}: {launches} launches, {} refused, the worst other {worst:.2} of its bound, {:.1?}",
        kernel.name(),
        refused.len(),
        start.elapsed()
    );
    assert!(
        refused.is_empty(),
        "{}: the baseline is refused {} times:\n{}",
        kernel.name(),
        refused.len(),
        refused[..refused.len().min(20)].join("\n")
    );
}

/// The number of seeds for a problem.
fn seeds_of(kernel: &Kernel, problem: &Problem) -> u64 {
    if in_full() {
        return 1000;
    }
    let bytes = kernel.spec().footprint_bytes(problem).unwrap_or(LITTLE);
    (LITTLE / bytes.max(1)).clamp(1, 60)
}

/// Launches the baseline once. Returns the largest error as a fraction of the bound, or why the outputs are rejected.
fn launch(
    kernel: &'static Kernel,
    stream: &Stream,
    problem: &Problem,
    seed: u64,
) -> Result<f64, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let device = stream.device();
    let spec = Arc::new(kernel.spec().clone());
    let reference = kernel
        .reference()
        .expect("every kernel of the library has a reference");
    let prepared =
        prepare::get(kernel, device, Choice::Baseline, problem).map_err(|error| text(&error))?;
    let plan = spec.baseline_plan(problem, Some(&device.info().limits));
    let plan = plan.map_err(|error| text(&error))?;
    let expected =
        Expected::by_reference(reference, &spec, problem, seed).map_err(|error| text(&error))?;
    let rig =
        Rig::new(stream, &spec, problem, seed, Layout::Zones).map_err(|error| text(&error))?;
    rig.launch(&prepared.release, &plan)
        .and_then(|()| rig.check(&expected))
        .map_err(|error| text(&error))
}
