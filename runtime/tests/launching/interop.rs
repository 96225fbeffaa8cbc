//! Memory and streams of other libraries, tested on the cpu device, which can access all memory of this process.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use crate::kernels::{aligned, scale, vector_add};
use kiln::device::DeviceError;
use kiln::interop::{
    self, DevicePointer, ForeignSlice, ForeignSliceMut, Place, RawStream, stream_from_raw,
};
use kiln::{Buffer, Device, LaunchCause, Stream};

/// The cpu device; `None` if it has no compiler.
fn cpu() -> Option<Device> {
    let device = kiln::open("cpu").unwrap();
    match device.compiler() {
        Ok(_) => Some(device),
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "no compiler, but CI is set: {error}"
            );
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// A tensor of another library.
struct Tensor {
    data: Vec<f32>,
    place: Place,
}

// SAFETY: the vector has this many values at this address, which kernels of the cpu device can access; that device is
// done when a launch returns.
unsafe impl DevicePointer<f32> for Tensor {
    fn place(&self) -> Place {
        self.place
    }

    fn address(&self) -> u64 {
        self.data.as_ptr() as u64
    }

    fn len(&self) -> usize {
        self.data.len()
    }
}

fn tensor(values: &[f32]) -> Tensor {
    Tensor {
        data: values.to_vec(),
        place: Place::CPU,
    }
}

/// A stream of another library.
struct Queue {
    place: Place,
    _open: Arc<()>,
}

impl Queue {
    fn of(place: Place, open: &Arc<()>) -> Queue {
        Queue {
            place,
            _open: open.clone(),
        }
    }
}

// SAFETY: the cpu device has no streams that could be closed.
unsafe impl RawStream for Queue {
    fn place(&self) -> Place {
        self.place
    }

    fn as_raw(&self) -> *mut c_void {
        ptr::null_mut()
    }
}

#[test]
fn a_launch_reads_and_writes_memory_of_others_where_it_lies() {
    let Some(device) = cpu() else { return };
    let stream = Stream::default_of(device);
    let x = [1.0_f32, 2.0, 3.0];
    let mut y = vec![0.0_f32; 5];
    // SAFETY: both arrays outlive the slices, and nothing else uses them before the launch returns.
    let (from, mut to) = unsafe {
        (
            ForeignSlice::from_raw(&stream, x.as_ptr() as u64, 3),
            ForeignSliceMut::from_raw(&stream, y[1..].as_mut_ptr() as u64, 3),
        )
    };
    scale::<f32>(&stream, 3, 2.0, &from, &mut to).unwrap();
    assert_eq!(y, [0.0, 2.0, 4.0, 6.0, 0.0]);
}

#[test]
fn ordinary_memory_is_lent_to_a_launch_on_the_cpu_and_on_no_other_device() {
    let Some(device) = cpu() else { return };
    let stream = device.stream();
    let x = [1.0_f32, 2.0, 3.0];
    let mut y = vec![0.0_f32; 5];
    let from = interop::host_slice(&stream, &x).unwrap();
    let mut to = interop::host_slice_mut(&stream, &mut y[1..4]).unwrap();
    scale::<f32>(&stream, 3, 2.0, &from, &mut to).unwrap();
    assert_eq!(y, [0.0, 2.0, 4.0, 6.0, 0.0]);
    let other = Device::open("fake").unwrap().stream();
    for refused in [
        interop::host_slice(&other, &x).err(),
        interop::host_slice_mut(&other, &mut y).err(),
    ] {
        let text = refused.map(|error| error.to_string());
        let wanted = "memory of cpu on a stream of fake is not supported";
        assert_eq!(text.as_deref(), Some(wanted));
    }
}

#[test]
fn memory_of_others_and_of_kiln_go_into_one_launch() {
    let Some(device) = cpu() else { return };
    let theirs = interop::stream(Queue::of(Place::CPU, &Arc::default())).unwrap();
    assert_eq!(theirs.device_index(), device.index());
    let a = tensor(&[1.0; 10]);
    let b = Buffer::from_slice(&theirs, &[0.5_f32; 10]).unwrap();
    let mut c = tensor(&[9.0; 10]);
    let view = interop::slice(&theirs, &a).unwrap();
    let mut out = interop::slice_mut(&theirs, &mut c).unwrap();
    vector_add(&theirs, 10, &view, &b, &mut out).unwrap();
    assert_eq!(c.data, [1.5; 10]);
}

#[test]
fn lengths_and_alignments_of_foreign_memory_are_checked() {
    let Some(device) = cpu() else { return };
    let stream = Stream::default_of(device);
    let (x, mut y) = (tensor(&[1.0; 9]), tensor(&[0.0; 8]));
    let short = interop::slice(&stream, &x).unwrap();
    let mut out = interop::slice_mut(&stream, &mut y).unwrap();
    let error = scale::<f32>(&stream, 8, 2.0, &short, &mut out).unwrap_err();
    assert!(
        matches!(
            error.cause(),
            LaunchCause::Length {
                expected: 8,
                found: 9,
                ..
            }
        ),
        "{error}"
    );
    // SAFETY: inside the vector, and never launched with.
    let odd = unsafe {
        ForeignSlice::<f32>::from_raw(
            &stream,
            (x.data.as_ptr() as u64).next_multiple_of(16) + 4,
            4,
        )
    };
    let mut y = Buffer::<f32>::zeros(&stream, 4).unwrap();
    let error = aligned(&stream, 4, &odd, &mut y).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::Alignment { .. }),
        "{error}"
    );
}

#[test]
fn memory_of_another_device_than_the_streams_is_refused() {
    let cpu = Stream::default_of(kiln::open("cpu").unwrap());
    let theirs = Tensor {
        data: vec![1.0],
        place: Place::cuda(1),
    };
    let error = interop::slice(&cpu, &theirs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "memory of cuda:1 on a stream of cpu is not supported"
    );
    let fake = Stream::default_of(kiln::open("fake").unwrap());
    // SAFETY: never launched with.
    let x = unsafe { ForeignSlice::<f32>::from_raw(&fake, 64, 1) };
    let mut y = Buffer::<f32>::zeros(&cpu, 1).unwrap();
    let error = scale::<f32>(&cpu, 1, 2.0, &x, &mut y).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::OtherDevice { .. }),
        "{error}"
    );
}

#[test]
fn memory_that_was_lent_to_one_stream_is_not_launched_on_another() {
    let Some(device) = cpu() else { return };
    let (x, mut y) = (tensor(&[1.0; 8]), tensor(&[0.0; 8]));
    let lent_to = Stream::new(device.clone()).unwrap();
    let (from, mut to) = (
        interop::slice(&lent_to, &x).unwrap(),
        interop::slice_mut(&lent_to, &mut y).unwrap(),
    );
    let others = [
        Stream::new(device.clone()).unwrap(),
        Stream::default_of(device.clone()),
    ];
    let refused = |to: &mut ForeignSliceMut<'_, f32>| {
        for other in &others {
            let error = scale::<f32>(other, 8, 2.0, &from, to).unwrap_err();
            assert!(
                matches!(error.cause(), LaunchCause::OtherStream { argument } if argument == "x"),
                "{error}"
            );
            assert!(error.to_string().contains("help: "), "{error}");
        }
    };
    refused(&mut to);
    // A clone is the same stream. On other streams, a memoised launch is still an error.
    scale::<f32>(&lent_to.clone(), 8, 2.0, &from, &mut to).unwrap();
    refused(&mut to);
    // Kiln's own memory can be used on every stream.
    let ours = Buffer::from_slice(&lent_to, &[1.0_f32; 8]).unwrap();
    let mut out = Buffer::<f32>::zeros(&lent_to, 8).unwrap();
    scale::<f32>(&others[0], 8, 3.0, &ours, &mut out).unwrap();
    assert_eq!(y.data, [2.0; 8]);
}

#[test]
fn default_streams_of_one_device_are_one_stream() {
    let Some(device) = cpu() else { return };
    let (x, mut y) = (tensor(&[1.0; 8]), tensor(&[0.0; 8]));
    let [lent_to, again] = [device.clone(), device].map(Stream::default_of);
    let from = interop::slice(&lent_to, &x).unwrap();
    let mut to = interop::slice_mut(&lent_to, &mut y).unwrap();
    scale::<f32>(&again, 8, 2.0, &from, &mut to).unwrap();
    assert_eq!(y.data, [2.0; 8]);
}

#[test]
fn what_owns_a_stream_is_kept_as_long_as_a_clone_of_it() {
    let owner = Arc::new(());
    let stream = interop::stream(Queue::of(Place::CPU, &owner)).unwrap();
    let clone = stream.clone();
    drop(stream);
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(clone);
    assert_eq!(Arc::strong_count(&owner), 1);
    let device = kiln::open("cpu").unwrap();
    // SAFETY: the cpu device has no streams that could be closed.
    let stream = unsafe { stream_from_raw(device, ptr::null_mut(), owner.clone()) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn a_stream_of_a_device_that_is_not_here_is_an_error() {
    let error = interop::stream(Queue::of(Place::hip(77), &Arc::default())).unwrap_err();
    assert!(matches!(error, DeviceError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("`hip:77`"), "{error}");
    let fake = kiln::open("fake").unwrap();
    // SAFETY: the fake device does not adopt streams.
    let error = unsafe { stream_from_raw(fake, ptr::null_mut(), ()) }.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a stream of another library on fake/"),
        "{error}"
    );
    let cpu = Stream::default_of(kiln::open("cpu").unwrap());
    assert!(matches!(cpu.raw(), Err(DeviceError::Unsupported { .. })));
}
