//! Memory of another library on the hip backend, through the runtime of the host processor: no recording names it.

use std::sync::Arc;

use kiln::interop::{self, DevicePointer, Place};
use kiln::{Buffer, Device, DeviceError, DeviceSlice as _, Graph, LaunchCause, Stream};
use kiln_kernels::tensor_add::tensor_add;
use kiln_tests::capability::{Need, have};
use kiln_tests::hip_host;

/// Memory of another library, which may free it as soon as it is not borrowed.
struct Theirs(Buffer<f32>);

// SAFETY: the buffer has that many values at that address, and waits for the device before it is freed.
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
    let device: Arc<dyn Device> = hip_host::device();
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
    // The stream goes on, and so do launches on that memory.
    tensor_add(&stream, 20, &x, &x, &mut y).expect("the sum should be queued");
    assert_eq!(y.to_vec(&stream).expect("it should be read"), [2.0; 20]);
}
