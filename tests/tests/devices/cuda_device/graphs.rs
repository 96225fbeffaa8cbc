//! Graphs: the threads that may use a graph, and the memory that a graph may use.

use kiln::interop::{self, DevicePointer, ForeignSlice, Place};
use kiln::{Buffer, DeviceError, DeviceSlice as _, Graph, LaunchCause, Stream};
use kiln_kernels::tensor_add::tensor_add;

use super::{device, free_bytes, in_child};

#[test]
fn one_graph_is_replayed_by_one_thread_at_a_time() {
    in_child("graphs::child_replays_from_two_threads");
}

#[test]
#[ignore = "the child of another test"]
fn child_replays_from_two_threads() {
    let stream = Stream::new(device()).unwrap();
    let one = Buffer::from_slice(&stream, &[1.0_f32; 20]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 20).unwrap();
    tensor_add(&stream, 20, &one, &one, &mut y).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        tensor_add(stream, 20, &one, &one, &mut y).map_err(|e| DeviceError::internal("launch", e))
    });
    let graph = graph.unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..50).for_each(|_| graph.replay().unwrap()));
        }
    });
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0; 20]);
}

/// Memory of another library. The library may free it as soon as it is no longer borrowed.
struct Theirs(Buffer<f32>);

// SAFETY: the buffer has this many values at this address, and waits for the device before it is freed.
unsafe impl DevicePointer<f32> for Theirs {
    fn place(&self) -> Place {
        Place::cuda(0)
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
    in_child("graphs::child_borrows");
}

#[test]
#[ignore = "the child of another test"]
fn child_borrows() {
    let stream = Stream::new(device()).unwrap();
    let theirs = Theirs(Buffer::from_slice(&stream, &[1.0_f32; 20]).unwrap());
    let x = interop::slice(&stream, &theirs).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 20).unwrap();
    tensor_add(&stream, 20, &x, &x, &mut y).unwrap();
    let mut record = |x: &ForeignSlice<'_, f32>| {
        Graph::capture(&stream, |stream| {
            let launched = tensor_add(stream, 20, x, x, &mut y);
            launched.map_err(|error| match error.cause() {
                LaunchCause::Device(cause) => cause.clone(),
                other => DeviceError::internal("launch", other),
            })
        })
    };
    let refused = |recorded: Result<Graph, DeviceError>| {
        let error = recorded.expect_err("the memory is only borrowed");
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("memory"), "{error}");
    };
    refused(record(&x));
    // The error also occurs without a remembered selection, because each thread remembers its own.
    std::thread::scope(|scope| scope.spawn(|| refused(record(&x))).join()).unwrap();
    // Memory that the caller vouches for can be recorded. Borrowed memory can still be used in ordinary launches.
    // SAFETY: the buffer outlives the graph, and nothing writes to it.
    let vouched = unsafe { ForeignSlice::from_raw(&stream, theirs.address(), 20) };
    let graph = record(&vouched).unwrap();
    graph.replay().unwrap();
    tensor_add(&stream, 20, &x, &x, &mut y).unwrap();
    stream.synchronize().unwrap();
    drop(graph);
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0; 20]);
}

#[test]
fn an_end_without_a_beginning_takes_no_graph_its_protection() {
    in_child("graphs::child_ends_what_never_began");
}

#[test]
#[ignore = "the child of another test"]
fn child_ends_what_never_began() {
    let stream = Stream::new(device()).unwrap();
    let device = stream.device().clone();
    let one = Buffer::from_slice(&stream, &[1.0_f32; 20]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 20).unwrap();
    tensor_add(&stream, 20, &one, &one, &mut y).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        tensor_add(stream, 20, &one, &one, &mut y).map_err(|e| DeviceError::internal("launch", e))
    });
    let graph = graph.unwrap();
    let error = device.end_capture(stream.handle()).unwrap_err();
    assert!(
        error.to_string().contains("it was not being recorded"),
        "{error}"
    );
    let before = free_bytes(&*device);
    drop(one);
    // The graph still reads the buffer, so the buffer is not freed, and the replay uses valid memory.
    assert_eq!(free_bytes(&*device), before);
    graph.replay().unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0; 20]);
}
