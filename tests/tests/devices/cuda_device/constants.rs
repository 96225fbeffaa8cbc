//! `__constant__` variables whose values are arguments of the launch.
#![allow(deprecated, reason = "the kernel is not baked")]

use kiln::{Buffer, DeviceError, Graph, Stream, tuned_kernel};
use kiln_spec::ProblemValue;

use super::{baseline_of, device, in_child, in_child_with};

fn scaled_reference(_: u32, x: &[f32], y: &[f32], sum: &mut [f64], scale: &[f32]) {
    for (sum, (x, y)) in sum.iter_mut().zip(x.iter().zip(y)) {
        *sum = (f64::from(*x) + f64::from(*y)) * f64::from(scale[0]);
    }
}

#[tuned_kernel(
    source = "../../../fixtures/cuda_device/tensor_add_scaled.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = scaled_reference,
)]
unsafe extern "C" {
    fn tensor_add_scaled(
        n: u32,
        #[len(n)] x: &[f32],
        #[len(n)] y: &[f32],
        #[len(n)] sum: &mut [f32],
        #[constant]
        #[len(1)]
        scale: &[f32],
    );
}

#[test]
fn a_launch_fills_constant_memory_behind_the_launch_before_it() {
    let variables = [("KILN_STAND_IN_TRACE", "1")];
    let Some(said) = in_child_with("constants::child_fills", &variables) else {
        return;
    };
    let calls = said.lines().filter_map(|line| line.split_once("call "));
    let calls = calls.map(|(_, call)| call);
    let calls: Vec<&str> = calls.filter(|call| *call != "cuEventCreate").collect();
    // The first launch waits for no other launch. Each launch records an event at its end.
    assert_eq!(
        calls[..3],
        ["cuEventRecord", "cuStreamWaitEvent", "cuEventRecord"]
    );
}

#[test]
#[ignore = "the child of another test"]
fn child_fills() {
    let device = device();
    let streams = [
        Stream::default_of(device.clone()),
        Stream::new(device).unwrap(),
    ];
    let first = &streams[0];
    let x = Buffer::from_slice(first, &[1.0_f32, 2.0, 3.0]).unwrap();
    let mut sum = Buffer::<f32>::zeros(first, 3).unwrap();
    for (stream, factor) in streams.iter().zip([10.0_f32, 100.0]) {
        let scale = Buffer::from_slice(stream, &[factor]).unwrap();
        tensor_add_scaled(stream, 3, &x, &x, &mut sum, &scale).unwrap();
        let expected = [2.0 * factor, 4.0 * factor, 6.0 * factor];
        assert_eq!(sum.to_vec(stream).unwrap(), expected);
    }
    let scale = Buffer::from_slice(&streams[1], &[1.0_f32]).unwrap();
    let mut refused = None;
    let graph = Graph::capture(&streams[1], |stream| {
        refused = tensor_add_scaled(stream, 3, &x, &x, &mut sum, &scale).err();
        Ok::<(), DeviceError>(())
    });
    drop(graph);
    let error = refused.unwrap().to_string();
    assert!(error.contains("fills `__constant__` variables"), "{error}");
}

#[test]
fn what_is_timed_has_its_constant_memory_filled() {
    in_child("constants::child_times");
}

#[test]
#[ignore = "the child of another test"]
fn child_times() {
    let stream = Stream::new(device()).unwrap();
    let kernel = &tensor_add_scaled::KERNEL;
    let problem = kernel.problem_of([ProblemValue::Size(1000)]);
    let (function, rig, plan) = baseline_of(kernel, &stream, &problem);
    let span_ns = rig.time(&function, &plan, 600).unwrap();
    assert!(span_ns.abs_diff(600_000) < 100, "{span_ns}");
    let timed = rig.outputs().unwrap();
    rig.reset().unwrap();
    rig.launch(&function, &plan).unwrap();
    rig.check(&timed).unwrap();
}
