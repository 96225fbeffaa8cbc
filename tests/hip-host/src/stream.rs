//! Streams and events.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::queue::{Queue, Signal};
use crate::runtime::{
    CAPTURE_INVALIDATED, CAPTURE_UNSUPPORTED, INVALID_HANDLE, INVALID_VALUE, NOT_READY,
    NOT_SUPPORTED, Outcome, RUNTIME, call, check_stream_of, chosen_device,
};
use crate::work::Work;

/// A queue of work. The work can be recorded instead of executed.
#[derive(Debug)]
pub struct Stream {
    queue: Queue,
    recording: Mutex<Recording>,
}

/// The recording state of a stream.
#[derive(Debug, Default)]
enum Recording {
    #[default]
    Off,
    On(Vec<Work>),
    /// A call was made that cannot be recorded, so the recording is invalid.
    Spoiled,
}

impl Stream {
    pub fn new(queue: Queue) -> Stream {
        Stream {
            queue,
            recording: Mutex::default(),
        }
    }

    /// Queues work, or adds it to the recording.
    pub fn submit(&self, work: Work) -> Outcome {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match (&mut *recording, work.is_recordable()) {
            (Recording::Off, _) => {
                self.queue.push(move || work.run(&RUNTIME));
                Ok(())
            }
            (Recording::On(recorded), true) => {
                recorded.push(work);
                Ok(())
            }
            (Recording::On(_) | Recording::Spoiled, _) => {
                *recording = Recording::Spoiled;
                Err(CAPTURE_UNSUPPORTED)
            }
        }
    }

    /// Waits for the queued work. Fails on a stream that is being recorded.
    pub fn wait(&self) -> Outcome {
        {
            let mut recording = self
                .recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !matches!(*recording, Recording::Off) {
                *recording = Recording::Spoiled;
                return Err(CAPTURE_UNSUPPORTED);
            }
        }
        self.queue.wait();
        Ok(())
    }

    /// Begins a recording.
    pub fn begin(&self) -> Outcome {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !matches!(*recording, Recording::Off) {
            return Err(INVALID_VALUE);
        }
        *recording = Recording::On(Vec::new());
        Ok(())
    }

    /// Ends the recording, and returns the recorded work.
    pub fn end(&self) -> Outcome<Vec<Work>> {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *recording) {
            Recording::Off => Err(INVALID_VALUE),
            Recording::Spoiled => Err(CAPTURE_INVALIDATED),
            Recording::On(recorded) => Ok(recorded),
        }
    }
}

/// The value of `hipStreamNonBlocking`.
const NON_BLOCKING: u32 = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut usize, flags: u32) -> i32 {
    call("hipStreamCreateWithFlags", |runtime| {
        if flags != NON_BLOCKING {
            return Err(NOT_SUPPORTED);
        }
        let mut alive = runtime.alive();
        let handle = alive.handle();
        alive
            .streams
            .insert(handle, Arc::new(Stream::new(Queue::start())));
        // SAFETY: the caller provides room for a handle.
        unsafe { *stream = handle };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: usize) -> i32 {
    call("hipStreamDestroy", |runtime| {
        let removed = runtime.alive().streams.remove(&stream);
        removed.ok_or(INVALID_HANDLE)?.wait()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: usize) -> i32 {
    call("hipStreamSynchronize", |runtime| {
        runtime.stream(stream)?.wait()?;
        runtime.check_broken()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> i32 {
    call("hipDeviceSynchronize", |runtime| {
        for stream in runtime.streams() {
            stream.wait()?;
        }
        runtime.check_broken()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut usize, _: u32) -> i32 {
    call("hipEventCreateWithFlags", |runtime| {
        let mut alive = runtime.alive();
        let handle = alive.handle();
        let made = (chosen_device(), Arc::new(Signal::new()));
        alive.events.insert(handle, made);
        // SAFETY: the caller provides room for a handle.
        unsafe { *event = handle };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: usize) -> i32 {
    call("hipEventDestroy", |runtime| {
        let removed = runtime.alive().events.remove(&event);
        removed.map(drop).ok_or(INVALID_HANDLE)
    })
}

/// The event with this handle.
fn event_of(handle: usize) -> Outcome<Arc<Signal<Instant>>> {
    let alive = RUNTIME.alive();
    let found = alive.events.get(&handle);
    found.map(|(_, event)| event.clone()).ok_or(INVALID_HANDLE)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: usize, stream: usize) -> i32 {
    call("hipEventRecord", |runtime| {
        let ordinal = runtime.alive().events.get(&event).map(|(of, _)| *of);
        check_stream_of(ordinal.ok_or(INVALID_HANDLE)?, stream)?;
        let event = event_of(event)?;
        event.clear();
        runtime.stream(stream)?.submit(Work::Record(event))
    })
}

/// The host thread waits instead of the stream. This is stricter than HIP requires.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(stream: usize, event: usize, flags: u32) -> i32 {
    call("hipStreamWaitEvent", |runtime| {
        runtime.stream(stream)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        event_of(event)?.wait();
        runtime.check_broken()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: usize) -> i32 {
    call("hipEventSynchronize", |runtime| {
        event_of(event)?.wait();
        runtime.check_broken()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(ms: *mut f32, start: usize, stop: usize) -> i32 {
    call("hipEventElapsedTime", |_| {
        let reached = |event| event_of(event)?.get().ok_or(NOT_READY);
        let (start, stop) = (reached(start)?, reached(stop)?);
        let elapsed = stop.saturating_duration_since(start);
        // SAFETY: the caller provides room for a number.
        unsafe { *ms = (elapsed.as_secs_f64() * 1e3) as f32 };
        Ok(())
    })
}
