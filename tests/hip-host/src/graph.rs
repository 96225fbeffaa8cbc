//! Recordings of launches (HIP graphs).

use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::runtime::{INVALID_HANDLE, INVALID_VALUE, call};
use crate::work::Work;

/// A recording that can be launched.
#[derive(Debug)]
pub struct Executable {
    work: Vec<Work>,
    /// Locked by the thread that launches the recording.
    in_use: Mutex<()>,
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamBeginCapture(stream: usize, _: c_int) -> i32 {
    call("hipStreamBeginCapture", |runtime| {
        if stream == 0 {
            return Err(INVALID_VALUE);
        }
        runtime.stream(stream)?.begin()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(stream: usize, graph: *mut usize) -> i32 {
    call("hipStreamEndCapture", |runtime| {
        let recorded = runtime.stream(stream)?.end()?;
        let mut alive = runtime.alive();
        let handle = alive.handle();
        alive.graphs.insert(handle, recorded);
        // SAFETY: the caller provides room for a handle.
        unsafe { *graph = handle };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    executable: *mut usize,
    graph: usize,
    _: *mut usize,
    _: *mut c_char,
    _: usize,
) -> i32 {
    call("hipGraphInstantiate", |runtime| {
        let mut alive = runtime.alive();
        let recorded = alive.graphs.get(&graph).cloned().ok_or(INVALID_HANDLE)?;
        let handle = alive.handle();
        let executable_graph = Executable {
            work: recorded,
            in_use: Mutex::new(()),
        };
        alive.executables.insert(handle, Arc::new(executable_graph));
        // SAFETY: the caller provides room for a handle.
        unsafe { *executable = handle };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphUpload(executable: usize, stream: usize) -> i32 {
    call("hipGraphUpload", |runtime| {
        runtime.stream(stream)?;
        let known = runtime.alive().executables.contains_key(&executable);
        known.then_some(()).ok_or(INVALID_HANDLE)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphLaunch(executable: usize, stream: usize) -> i32 {
    call("hipGraphLaunch", |runtime| {
        let found = runtime.alive().executables.get(&executable).cloned();
        let recorded = found.ok_or(INVALID_HANDLE)?;
        // Use by two threads at once is the caller's mistake. The runtime of a GPU need not detect it.
        let _in_use = recorded.in_use.try_lock().map_err(|_| INVALID_VALUE)?;
        std::thread::sleep(Duration::from_micros(200));
        let stream = runtime.stream(stream)?;
        recorded
            .work
            .iter()
            .try_for_each(|work| stream.submit(work.clone()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecDestroy(executable: usize) -> i32 {
    call("hipGraphExecDestroy", |runtime| {
        let removed = runtime.alive().executables.remove(&executable);
        removed.map(drop).ok_or(INVALID_HANDLE)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDestroy(graph: usize) -> i32 {
    call("hipGraphDestroy", |runtime| {
        let removed = runtime.alive().graphs.remove(&graph);
        removed.map(drop).ok_or(INVALID_HANDLE)
    })
}
