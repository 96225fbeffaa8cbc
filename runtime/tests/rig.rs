//! Tests that a rig detects faults of kernels that show only in another order of threads or with another memory
//! content.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
#![allow(deprecated, reason = "no kernel is baked: that is the warning")]

use std::sync::Arc;

use kiln::compiler::BuildKind;
use kiln::device::Function;
use kiln::prepare::{compile, generate, load};
use kiln::reference::make_data;
use kiln::rig::{Content, Expected, Layout, Rig, RigError};
use kiln::spec::{ArgSpec, Backend, Comparison, KernelSpec, LaunchPlan};
use kiln::{Kernel, Stream, tuned_kernel};

// All kernels here are wrong. They are declared only for CUDA, because otherwise their own smoke tests would (rightly)
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

#[tuned_kernel(
    source = "kernels/reads.cu",
    only(cuda),
    params(THREADS in [32]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    reference = maximum,
)]
unsafe extern "C" {
    fn largest(n: u32, #[len(n)] x: &[i32], #[len(n)] y: &mut [i32]);
}

#[tuned_kernel(
    source = "kernels/reads.cu",
    only(cuda),
    params(THREADS in [32]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    reference = minimum,
)]
unsafe extern "C" {
    fn smallest(n: u32, #[len(n)] x: &[u32], #[len(n)] y: &mut [u32]);
}

#[tuned_kernel(
    source = "kernels/reads.cu",
    only(cuda),
    params(THREADS in [32]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    reference = doubled,
)]
unsafe extern "C" {
    fn skips(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}

fn maximum(_n: u32, x: &[i32], y: &mut [i32]) {
    y.copy_from_slice(x);
}

fn minimum(_n: u32, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

fn doubled(_n: u32, x: &[f32], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = 2.0 * f64::from(*x);
    }
}

#[tuned_kernel(
    source = "kernels/reads.cu",
    only(cuda),
    params(THREADS in [32]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    reference = scaled_reference,
)]
unsafe extern "C" {
    fn scaled(
        n: u32,
        #[value(2)] alpha: f32,
        #[value(0)] beta: f32,
        #[value(3)] mode: i32,
        #[len(n)] x: &[f32],
        #[len(n)] y: &mut [f32],
    );
}

fn scaled_reference(_n: u32, alpha: f32, beta: f32, mode: i32, x: &[f32], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f64::from(alpha) * f64::from(*x) + f64::from(beta) + f64::from(mode);
    }
}

#[test]
fn odd_seeds_vary_floating_point_scalars_so_a_kernel_that_ignores_one_is_found() {
    let spec = scaled::KERNEL.spec();
    let scalars = |seed| {
        let data = make_data(spec, &spec.problems[0], seed).unwrap();
        let float = |place: usize| f32::from_ne_bytes(data[place].bytes().try_into().unwrap());
        let mode = i32::from_ne_bytes(data[3].bytes().try_into().unwrap());
        (float(1), float(2), mode)
    };
    assert_eq!(scalars(2), (2.0, 0.0, 3));
    assert_eq!(scalars(3), (1.75, 0.0, 3));
    // The kernel takes 2 for `alpha`, whatever it is.
    let (_, release, plan, _) = set_up_build(&scaled::KERNEL, BuildKind::Release);
    for (seed, is_right) in [(2, true), (3, false)] {
        let stream = Stream::default_of(kiln::open("cpu").unwrap());
        let (spec, problem) = (Arc::new(spec.clone()), &spec.problems[0]);
        let mut rig = Rig::new(&stream, &spec, problem, 0, Layout::Zones).unwrap();
        rig.reseed(&spec.baseline.config, problem, seed).unwrap();
        rig.launch(&release, &plan).unwrap();
        let reference = scaled::KERNEL.reference().unwrap();
        let expected = Expected::by_reference(reference, &spec, problem, seed).unwrap();
        assert_eq!(rig.check(&expected).is_ok(), is_right, "{seed}");
    }
}

#[tuned_kernel(
    source = "kernels/half_warps.cu",
    only(cuda),
    params(THREADS in [64], WHOLE in [0, 1]),
    baseline(THREADS = 64, WHOLE = 1),
    grid((32 * rows).div_ceil(THREADS)),
    block(THREADS),
    problems((rows = 9)),
    reference = row_sums,
)]
unsafe extern "C" {
    fn half_warps(rows: u32, #[len(16 * rows)] x: &[f32], #[len(rows)] y: &mut [f32]);
}

fn row_sums(_rows: u32, x: &[f32], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x.chunks_exact(16)) {
        *y = x.iter().map(|&x| f64::from(x)).sum();
    }
}

fn ones(_n: u32, y: &mut [f64]) {
    y.fill(1.0);
}

/// What is needed to launch a kernel for its first problem in a check build, and the expected outputs.
fn set_up(kernel: &'static Kernel) -> (Rig, Function, LaunchPlan, Expected) {
    set_up_build(kernel, BuildKind::Check)
}

fn set_up_build(
    kernel: &'static Kernel,
    build: BuildKind,
) -> (Rig, Function, LaunchPlan, Expected) {
    let (rig, release, plan) = loaded(kernel, build);
    let (spec, reference) = (kernel.spec(), kernel.reference().unwrap());
    let expected = Expected::by_reference(reference, spec, &spec.problems[0], 1).unwrap();
    (rig, release, plan, expected)
}

/// What is needed to launch a kernel for its first problem.
fn loaded(kernel: &'static Kernel, build: BuildKind) -> (Rig, Function, LaunchPlan) {
    loaded_as(kernel, kernel.spec().clone(), build)
}

/// The same, with another spec of the kernel.
fn loaded_as(
    kernel: &'static Kernel,
    spec: KernelSpec,
    build: BuildKind,
) -> (Rig, Function, LaunchPlan) {
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let device = &**stream.device();
    let spec = Arc::new(spec);
    let problem = &spec.problems[0];
    let config = &spec.baseline.config;
    let unit = generate(kernel, &spec.entry, config, problem, Backend::Cpu).unwrap();
    let artifact = compile(device, &unit, build).unwrap();
    let release = load(device, &unit, &artifact).unwrap().release;
    let plan = spec.baseline_plan(problem, None).unwrap();
    let rig = Rig::new(&stream, &spec, problem, 1, Layout::Zones).unwrap();
    (rig, release, plan)
}

#[test]
fn an_output_to_which_a_kernel_adds_depends_on_what_it_contained() {
    let (rig, release, plan) = loaded(&sums::KERNEL, BuildKind::Release);
    rig.launch(&release, &plan).unwrap();
    // All launches on the same contents agree.
    let outputs = rig.outputs().unwrap();
    let error = rig
        .check_independent(Content::High, &release, &plan, &outputs)
        .unwrap_err();
    assert!(
        matches!(&error, RigError::ReadsOutput { output, .. } if output == "total"),
        "{error}"
    );
    assert!(error.to_string().contains("declare `total` as `#[inout]`"));
    let (rig, release, plan, expected) = set_up(&first::KERNEL);
    rig.launch(&release, &plan).unwrap();
    rig.check_independent(Content::High, &release, &plan, &expected)
        .unwrap();
}

#[test]
fn the_hash_of_outputs_is_that_of_all_that_is_compared() {
    let mut spec = sums::KERNEL.spec().clone();
    let hashes = |spec: &KernelSpec| {
        let (mut rig, release, plan) = loaded_as(&sums::KERNEL, spec.clone(), BuildKind::Release);
        [1, 2, 1].map(|seed| {
            rig.reseed(&spec.baseline.config, &spec.problems[0], seed)
                .unwrap();
            rig.launch(&release, &plan).unwrap();
            rig.outputs_hash().unwrap()
        })
    };
    let [first, other, again] = hashes(&spec);
    assert!(first != other && first == again, "{first} {other} {again}");
    for arg in &mut spec.args {
        if let ArgSpec::Slice(slice) = arg
            && slice.name == "total"
        {
            slice.compare = Some(Comparison::None);
        }
    }
    let [first, other, _] = hashes(&spec);
    assert_eq!(first, other);
}

#[test]
fn a_kernel_that_reads_an_output_is_found_on_some_content_even_if_it_is_right_on_the_poison() {
    for (kernel, misleading) in [
        (&largest::KERNEL, vec![Content::Low, Content::Zeros]),
        (&smallest::KERNEL, vec![Content::High, Content::Low]),
        (&skips::KERNEL, vec![]),
    ] {
        let (rig, release, plan, expected) = set_up_build(kernel, BuildKind::Release);
        rig.launch(&release, &plan).unwrap();
        rig.check(&expected).unwrap();
        for content in Content::FINITE {
            let checked = rig.check_on(content, &release, &plan, &expected);
            if misleading.contains(&content) {
                checked.unwrap();
                continue;
            }
            let error = checked.unwrap_err();
            assert!(
                matches!(&error, RigError::ReadsOutput { output, .. } if output == "y"),
                "{} on {content:?}: {error}",
                kernel.name()
            );
        }
        // The check build reports the read itself, with its line.
        let (rig, release, plan) = loaded(kernel, BuildKind::Check);
        let error = rig.launch(&release, &plan).unwrap_err().to_string();
        for part in ["it reads `y`", "reads.cu:", "#[inout]"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn a_kernel_that_is_wrong_on_every_content_is_not_said_to_read_its_output() {
    let (rig, release, plan, expected) = set_up_build(&gap::KERNEL, BuildKind::Release);
    for content in Content::FINITE {
        let error = rig.check_on(content, &release, &plan, &expected);
        let error = error.unwrap_err();
        assert!(
            matches!(error, RigError::Unwritten { count: 6, .. }),
            "{error}"
        );
    }
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
fn outputs_that_depend_on_a_lane_that_takes_no_part_are_told_with_the_shuffle() {
    let (rig, release, plan, expected) = set_up(&half_warps::KERNEL);
    let told = "undefined value: thread (";
    let line = "kernels/half_warps.cu:7, and the outputs differ";
    // The outputs of the first order are wrong too, but differ from those of the others.
    rig.launch(&release, &plan).unwrap();
    for expected in [expected, rig.outputs().unwrap()] {
        let error = rig.check_in_all_orders(&release, &plan, 1, &expected);
        let text = error.unwrap_err().to_string();
        assert!(text.contains(told) && text.contains(line), "{text}");
    }
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
