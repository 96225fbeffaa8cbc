//! Tests that a rig detects faults of kernels that show only in another order of threads or with another memory
//! content.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
#![allow(deprecated, reason = "no kernel is baked: that is the warning")]

use std::sync::Arc;

use kiln::compiler::BuildKind;
use kiln::device::Function;
use kiln::prepare::{compile, generate, load};
use kiln::rig::{Expected, Layout, Rig, RigError};
use kiln::spec::{Backend, LaunchPlan};
use kiln::{Kernel, Stream, tuned_kernel};

// Both kernels are wrong. They are declared only for CUDA, because otherwise their own smoke tests would (rightly)
// fail here.
#[tuned_kernel(
    source = "kernels/first.cu",
    only(cuda),
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 64)),
    tolerance(relative = 0),
    reference = the_first_thread,
)]
unsafe extern "C" {
    fn first(
        n: u32,
        #[len(1)]
        #[inout]
        #[fill(constant(0))]
        taken: &mut [u32],
        #[len(1)] winner: &mut [u32],
    );
}

fn the_first_thread(n: u32, taken: &mut [u32], winner: &mut [u32]) {
    (taken[0], winner[0]) = (n, 0);
}

#[tuned_kernel(
    source = "kernels/gap.cu",
    only(cuda),
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    tolerance(relative = 0),
    reference = ones,
)]
unsafe extern "C" {
    fn gap(n: u32, #[len(n)] y: &mut [f32]);
}

#[tuned_kernel(
    source = "kernels/accumulate.cu",
    entry = "accumulate_simply",
    only(cuda),
    params(THREADS in [32]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
)]
unsafe extern "C" {
    fn sums(n: u32, #[len(n)] x: &[i32], #[len(n)] total: &mut [i32]);
}

fn ones(_n: u32, y: &mut [f64]) {
    y.fill(1.0);
}

/// What is needed to launch a kernel for its first problem in a check build, and the expected outputs.
fn set_up(kernel: &'static Kernel) -> (Rig, Function, LaunchPlan, Expected) {
    let (rig, release, plan) = loaded(kernel);
    let (spec, reference) = (kernel.spec(), kernel.reference().unwrap());
    let expected = Expected::by_reference(reference, spec, &spec.problems[0], 1).unwrap();
    (rig, release, plan, expected)
}

/// What is needed to launch a kernel for its first problem in a check build.
fn loaded(kernel: &'static Kernel) -> (Rig, Function, LaunchPlan) {
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let device = &**stream.device();
    let spec = Arc::new(kernel.spec().clone());
    let problem = &spec.problems[0];
    let config = &spec.baseline.config;
    let unit = generate(kernel, &spec.entry, config, problem, Backend::Cpu).unwrap();
    let artifact = compile(device, &unit, BuildKind::Check).unwrap();
    let release = load(device, &unit, &artifact).unwrap().release;
    let plan = spec.baseline_plan(problem, None).unwrap();
    let rig = Rig::new(&stream, &spec, problem, 1, Layout::Zones).unwrap();
    (rig, release, plan)
}

#[test]
fn an_output_to_which_a_kernel_adds_depends_on_what_it_contained() {
    let (rig, release, plan) = loaded(&sums::KERNEL);
    rig.launch(&release, &plan).unwrap();
    // All launches on the same contents agree.
    let outputs = rig.outputs().unwrap();
    let error = rig
        .check_independent(&release, &plan, &outputs)
        .unwrap_err();
    assert!(
        matches!(&error, RigError::ReadsOutput { output, .. } if output == "total"),
        "{error}"
    );
    assert!(error.to_string().contains("declare `total` as `#[inout]`"));
    let (rig, release, plan, expected) = set_up(&first::KERNEL);
    rig.launch(&release, &plan).unwrap();
    rig.check_independent(&release, &plan, &expected).unwrap();
}

#[test]
fn what_depends_on_the_order_of_threads_is_called_a_race() {
    let (rig, release, plan, expected) = set_up(&first::KERNEL);
    rig.launch(&release, &plan).unwrap();
    rig.check(&expected).unwrap();
    let error = rig.check_in_all_orders(&release, &plan, 1, &expected);
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("race: the outputs are right when the threads run in"),
        "{text}"
    );
}

#[test]
fn elements_that_are_never_written_are_told_with_the_first_and_how_many() {
    let (rig, release, plan, expected) = set_up(&gap::KERNEL);
    rig.launch(&release, &plan).unwrap();
    assert!(rig.check(&expected).is_err());
    let error = rig.check_written(&release, &plan).unwrap_err();
    let unwritten = RigError::Unwritten {
        output: "y".into(),
        index: 15,
        count: 6,
        len: 100,
    };
    assert_eq!(error, unwritten);
}
