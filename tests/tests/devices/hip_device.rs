//! The hip backend on the runtime of the host processor: memory of another library, and more than one device.

use std::sync::Arc;

use kiln::backend::hip::HipDevice;
use kiln::interop::{self, DevicePointer, Place};
use kiln::prepare;
use kiln::rig::{Layout, Rig};
use kiln::{Buffer, Choice, Device, DeviceError, DeviceSlice as _, Graph, LaunchCause, Stream};
use kiln_kernels::tensor_add::tensor_add;
use kiln_spec::{ElemType, ProblemValue};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::child_test;
use kiln_tests::hip_host;

/// Memory of another library. The library may free it as soon as it is no longer borrowed.
struct Theirs(Buffer<f32>);

// SAFETY: the buffer has this many values at this address, and waits for the device before it is freed.
unsafe impl DevicePointer<f32> for Theirs {
    fn place(&self) -> Place {
        Place::hip(0)
    }

    fn address(&self) -> u64 {
        self.0.raw().address
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn no_recording_names_memory_that_was_only_borrowed() {
    let test = "no_recording_names_memory_that_was_only_borrowed";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let device: Device = hip_host::device();
    let stream = Stream::new(device).expect("a stream should open");
    let theirs = Buffer::from_slice(&stream, &[1.0_f32; 20]).expect("there should be room");
    let theirs = Theirs(theirs);
    let x = interop::slice(&stream, &theirs).expect("it is of that device");
    let mut y = Buffer::<f32>::zeros(&stream, 20).expect("there should be room");
    tensor_add(&stream, 20, &x, &x, &mut y).expect("the sum should be queued");
    let recorded = Graph::capture(&stream, |stream| {
        let launched = tensor_add(stream, 20, &x, &x, &mut y);
        launched.map_err(|error| match error.cause() {
            LaunchCause::Device(cause) => cause.clone(),
            other => DeviceError::internal("launch", other),
        })
    });
    let error = recorded.expect_err("the memory is only borrowed");
    assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    // The stream still works, and so do launches that use this memory.
    tensor_add(&stream, 20, &x, &x, &mut y).expect("the sum should be queued");
    assert_eq!(y.to_vec(&stream).expect("it should be read"), [2.0; 20]);
}

#[test]
fn a_default_stream_is_that_of_its_device_whatever_the_thread_has_chosen() {
    let test = "a_default_stream_is_that_of_its_device_whatever_the_thread_has_chosen";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    // Two devices need a separate process, because the runtime is queried only once per process.
    let mut child = child_test(module_path!(), "child_has_two_devices");
    child.env("KILN_HIP_HOST_DEVICES", "2");
    let output = child.output().expect("the child should start");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}", output.status);
    let ran = String::from_utf8_lossy(&output.stdout);
    assert!(ran.contains("1 passed"), "{ran}");
}

#[test]
#[ignore = "the child of another test"]
fn child_has_two_devices() {
    let device =
        HipDevice::of_library(hip_host::library(), 1).unwrap_or_else(|error| panic!("{error}"));
    let stream = Stream::default_of(device.clone());
    let x = Buffer::from_slice(&stream, &[1.0_f32; 20]).expect("there should be room");
    let mut y = Buffer::<f32>::zeros(&stream, 20).expect("there should be room");
    tensor_add(&stream, 20, &x, &x, &mut y).expect("the sum should be queued");

    let kernels = kiln_kernels::catalogue();
    let kernel = kernels.iter().find(|kernel| kernel.name() == "tensor_add");
    let kernel = kernel.expect("the library should have tensor_add");
    let problem = kernel.problem_of([ProblemValue::Type(ElemType::F32), ProblemValue::Size(20)]);
    let prepared = prepare::get(kernel, stream.device(), Choice::Baseline, &problem);
    let release = prepared.expect("the baseline should load").release.clone();
    let plan = kernel.plan(Choice::Baseline, &problem, None);
    let plan = plan.expect("the baseline should have a plan");
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Plain).expect("there should be room");
    // In a new thread, the first device is current until a call for another device changes it.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            rig.launch(&release, &plan)
                .expect("a launch on the default stream")
        });
    });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            rig.time(&release, &plan, 3)
                .expect("times on the default stream")
        });
    });
    assert_eq!(y.to_vec(&stream).expect("it should be read"), [2.0; 20]);
}
