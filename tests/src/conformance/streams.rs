//! Checks of streams: order within a stream, no interference between streams, and use from any thread.

use kiln::{Buffer, Stream};

use super::kernels::add_one;
use super::{Outcome, Subject, checks};

checks! {
    work_of_a_stream_runs_in_order,
    a_stream_of_its_own_does_what_the_default_one_does,
    streams_side_by_side_keep_their_own_order,
    threads_launch_at_once_on_streams_of_their_own,
    threads_launch_at_once_on_one_stream,
    memory_is_dropped_right_behind_a_launch,
    a_stream_that_was_closed_is_an_error,
}

fn work_of_a_stream_runs_in_order(subject: &Subject) -> Outcome {
    in_order(&subject.stream)
}

fn a_stream_of_its_own_does_what_the_default_one_does(subject: &Subject) -> Outcome {
    let stream = Stream::new(subject.device.clone())?;
    in_order(&stream)?;
    // A stream stays open until its last clone is dropped. After that, a new stream can be opened.
    let clone = stream.clone();
    drop(stream);
    in_order(&clone)?;
    drop(clone);
    in_order(&Stream::new(subject.device.clone())?)
}

/// Queues launches, copies and fills without waiting between them, and checks that they ran in order.
fn in_order(stream: &Stream) -> Outcome {
    let n = 5000;
    let mut x = Buffer::<i32>::zeros(stream, n as usize)?;
    for _ in 0..20 {
        add_one(stream, n, &mut x)?;
    }
    assert_eq!(x.to_vec(stream)?, vec![20; n as usize]);
    x.copy_from_slice(stream, &vec![100; n as usize])?;
    add_one(stream, n, &mut x)?;
    x.fill_bytes(stream, 0)?;
    add_one(stream, n, &mut x)?;
    add_one(stream, n, &mut x)?;
    stream.synchronize()?;
    assert_eq!(x.to_vec(stream)?, vec![2; n as usize]);
    Ok(())
}

fn streams_side_by_side_keep_their_own_order(subject: &Subject) -> Outcome {
    let n = 3000;
    let streams: Vec<Stream> = (0..4)
        .map(|_| Stream::new(subject.device.clone()))
        .collect::<Result<_, _>>()?;
    let buffers = streams
        .iter()
        .map(|stream| Buffer::<i32>::zeros(stream, n as usize));
    let mut buffers: Vec<_> = buffers.collect::<Result<_, _>>()?;
    for round in 1..=10 {
        for (stream, buffer) in streams.iter().zip(&mut buffers) {
            add_one(stream, n, buffer)?;
        }
        if round % 5 == 0 {
            subject.device.synchronize()?;
        }
    }
    for (stream, buffer) in streams.iter().zip(&buffers) {
        assert_eq!(buffer.to_vec(stream)?, vec![10; n as usize]);
    }
    Ok(())
}

/// The result of a thread.
type Sent = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Runs a function on several threads at the same time. The argument is the number of the thread.
fn on_threads(act: impl Fn(i32) -> Sent + Sync) -> Outcome {
    std::thread::scope(|scope| {
        let act = &act;
        let threads: Vec<_> = (0..4)
            .map(|number| scope.spawn(move || act(number)))
            .collect();
        for thread in threads {
            let done = thread.join().map_err(|_| "a thread panicked")?;
            done.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

fn threads_launch_at_once_on_streams_of_their_own(subject: &Subject) -> Outcome {
    on_threads(|number| {
        let stream = Stream::new(subject.device.clone())?;
        let n = 700 + number as u32;
        let mut x = Buffer::from_slice(&stream, &vec![number; n as usize])?;
        for _ in 0..25 {
            add_one(&stream, n, &mut x)?;
        }
        assert_eq!(x.to_vec(&stream)?, vec![number + 25; n as usize]);
        Ok(())
    })
}

fn threads_launch_at_once_on_one_stream(subject: &Subject) -> Outcome {
    on_threads(|number| {
        let stream = &subject.stream;
        let n = 300 + number as u32;
        for _ in 0..10 {
            let mut x = Buffer::from_slice(stream, &vec![number; n as usize])?;
            add_one(stream, n, &mut x)?;
            add_one(stream, n, &mut x)?;
            assert_eq!(x.to_vec(stream)?, vec![number + 2; n as usize]);
        }
        Ok(())
    })
}

fn memory_is_dropped_right_behind_a_launch(subject: &Subject) -> Outcome {
    let stream = Stream::new(subject.device.clone())?;
    let n = 200_000;
    for _ in 0..20 {
        let mut x = Buffer::<i32>::zeros(&stream, n as usize)?;
        for _ in 0..3 {
            add_one(&stream, n, &mut x)?;
        }
        drop(x);
        // The zeros would be overwritten if a launch still wrote to that memory.
        let fresh = Buffer::<i32>::zeros(&stream, n as usize)?;
        assert!(fresh.to_vec(&stream)?.iter().all(|x| *x == 0));
    }
    Ok(())
}

fn a_stream_that_was_closed_is_an_error(subject: &Subject) -> Outcome {
    let handle = subject.device.open_stream()?;
    subject.device.synchronize_stream(handle)?;
    subject.device.close_stream(handle);
    assert!(subject.device.synchronize_stream(handle).is_err());
    let memory = subject.device.alloc(16, 16)?;
    assert!(memory.fill(handle, 0, 16, 1).is_err());
    // Closing a stream a second time has no effect, nor has closing a stream that never existed.
    subject.device.close_stream(handle);
    subject
        .device
        .close_stream(kiln::device::StreamHandle(u64::MAX));
    Ok(())
}
