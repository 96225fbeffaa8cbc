//! Checks of recorded launches.

use kiln::device::{RecordedLaunches, StreamHandle};
use kiln::{Buffer, DeviceError, Stream};

use super::kernels::add_one;
use super::{Outcome, Subject, checks};

checks! {
    recorded_launches_run_when_replayed_and_not_before,
    a_recording_holds_launches_only_and_its_stream_goes_on,
    memory_of_a_recording_outlives_its_owner,
    a_recording_is_launched_from_two_threads,
}

const N: u32 = 1000;

/// A new stream and a buffer. The kernel has been launched once, because preparing a kernel cannot be recorded.
fn warm(subject: &Subject) -> Result<(Stream, Buffer<i32>), Box<dyn std::error::Error>> {
    let stream = Stream::new(subject.device.clone())?;
    let mut x = Buffer::<i32>::zeros(&stream, N as usize)?;
    add_one(&stream, N, &mut x)?;
    stream.synchronize()?;
    Ok((stream, x))
}

/// Records `launches` launches.
fn record(
    stream: &Stream,
    x: &mut Buffer<i32>,
    launches: u32,
) -> Result<Box<dyn RecordedLaunches>, Box<dyn std::error::Error>> {
    stream.device().begin_capture(stream.handle())?;
    for _ in 0..launches {
        add_one(stream, N, x)?;
    }
    Ok(stream.device().end_capture(stream.handle())?)
}

fn recorded_launches_run_when_replayed_and_not_before(subject: &Subject) -> Outcome {
    let (stream, mut x) = warm(subject)?;
    let recorded = record(&stream, &mut x, 5)?;
    assert_eq!(
        x.to_vec(&stream)?,
        vec![1; N as usize],
        "recording runs nothing"
    );
    for _ in 0..3 {
        recorded.launch(stream.handle())?;
    }
    add_one(&stream, N, &mut x)?;
    assert_eq!(x.to_vec(&stream)?, vec![17; N as usize]);
    // A recording can be launched on another stream, too.
    let other = Stream::new(subject.device.clone())?;
    recorded.launch(other.handle())?;
    assert_eq!(x.to_vec(&other)?, vec![22; N as usize]);
    Ok(())
}

fn a_recording_holds_launches_only_and_its_stream_goes_on(subject: &Subject) -> Outcome {
    let (stream, mut x) = warm(subject)?;
    let device = &subject.device;
    device.begin_capture(stream.handle())?;
    let read = x.to_vec(&stream);
    assert!(
        read.is_err(),
        "a copy to the host cannot be recorded: {read:?}"
    );
    assert!(
        device.end_capture(stream.handle()).is_err(),
        "a spoiled recording is none"
    );
    add_one(&stream, N, &mut x)?;
    assert_eq!(x.to_vec(&stream)?, vec![2; N as usize]);
    // A recording that was never begun cannot be ended. The default stream cannot be recorded.
    assert!(device.end_capture(stream.handle()).is_err());
    let refused = device.begin_capture(StreamHandle::DEFAULT);
    assert!(
        matches!(refused, Err(DeviceError::Unsupported { .. })),
        "{refused:?}"
    );
    record(&stream, &mut x, 1)?.launch(stream.handle())?;
    assert_eq!(x.to_vec(&stream)?, vec![3; N as usize]);
    Ok(())
}

fn a_recording_is_launched_from_two_threads(subject: &Subject) -> Outcome {
    let (stream, mut x) = warm(subject)?;
    let recorded = record(&stream, &mut x, 1)?;
    let launch = || (0..20).try_for_each(|_| recorded.launch(stream.handle()));
    std::thread::scope(|scope| {
        let other = scope.spawn(launch);
        launch().and(other.join().expect("the thread should end"))
    })?;
    assert_eq!(x.to_vec(&stream)?, vec![41; N as usize]);
    Ok(())
}

fn memory_of_a_recording_outlives_its_owner(subject: &Subject) -> Outcome {
    let (stream, mut x) = warm(subject)?;
    let recorded = record(&stream, &mut x, 2)?;
    drop(x);
    // A new allocation must not reuse the memory that the recording still writes to.
    let fresh = Buffer::<i32>::zeros(&stream, N as usize)?;
    recorded.launch(stream.handle())?;
    assert_eq!(fresh.to_vec(&stream)?, vec![0; N as usize]);
    drop(recorded);
    let again = Buffer::<i32>::zeros(&stream, N as usize)?;
    assert_eq!(again.to_vec(&stream)?, vec![0; N as usize]);
    Ok(())
}
