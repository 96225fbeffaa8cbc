//! Launches that the driver recorded.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{DeviceError, RecordedLaunches, StreamHandle};

use super::context::CudaContext;
use super::error::of_call;
use super::ffi::RawGraph;

/// A recording of one device; while it lives, nothing that it could name is freed.
pub(super) struct CudaGraph {
    context: Arc<CudaContext>,
    /// Until it is dropped; used by one thread at a time.
    graph: Option<Mutex<RawGraph>>,
}

/// Begins to record what this thread launches on a stream.
pub(super) fn begin(context: &CudaContext, stream: StreamHandle) -> Result<(), DeviceError> {
    if stream == StreamHandle::DEFAULT {
        return Err(DeviceError::Unsupported {
            what: "recording on the default stream (open one by Stream::new)".into(),
        });
    }
    let stream = context.streams.get(stream)?;
    context.recorded.begin(stream.raw(), || {
        context.recording_begins();
        let begun = stream.begin_capture(&context.raw);
        begun.map_err(|failed| {
            context.recording_is_gone();
            of_call(failed)
        })
    })
}

/// Ends a recording that was begun.
pub(super) fn end(
    context: &Arc<CudaContext>,
    stream: StreamHandle,
) -> Result<CudaGraph, DeviceError> {
    let stream = context.streams.get(stream)?;
    context.recorded.end(stream.raw(), || {
        // From here on the recording is gone when this is dropped, also where it fails.
        let mut recording = CudaGraph {
            context: context.clone(),
            graph: None,
        };
        let graph = stream.end_capture(&context.raw).map_err(of_call)?;
        recording.graph = Some(Mutex::new(graph));
        Ok(recording)
    })
}

impl RecordedLaunches for CudaGraph {
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let Some(graph) = &self.graph else {
            return Ok(());
        };
        let stream = self.context.streams.get(stream)?;
        let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
        graph.launch(&stream).map_err(of_call)
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        // The driver keeps what it still runs; what its launches name is kept until they are done.
        self.graph = None;
        self.context.recording_is_gone();
    }
}

impl fmt::Debug for CudaGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaGraph").finish_non_exhaustive()
    }
}
