//! Launches that the driver recorded.

use std::fmt;
use std::sync::Arc;

use crate::device::{DeviceError, RecordedLaunches, StreamHandle};

use super::context::CudaContext;
use super::error::of_call;
use super::ffi::RawGraph;

/// A recording of one device; while it lives, nothing that it could name is freed.
pub(super) struct CudaGraph {
    context: Arc<CudaContext>,
    /// Until it is dropped.
    graph: Option<RawGraph>,
}

/// Begins to record what this thread launches on a stream.
pub(super) fn begin(context: &CudaContext, stream: StreamHandle) -> Result<(), DeviceError> {
    if stream == StreamHandle::DEFAULT {
        return Err(DeviceError::Unsupported {
            what: "recording on the default stream (open one by Stream::new)".into(),
        });
    }
    context.recording_begins();
    let begun = context.with_stream(stream, |stream| {
        stream.begin_capture(&context.raw).map_err(of_call)
    });
    if begun.is_err() {
        context.recording_is_gone();
    }
    begun
}

/// Ends recording.
pub(super) fn end(
    context: &Arc<CudaContext>,
    stream: StreamHandle,
) -> Result<CudaGraph, DeviceError> {
    let ended = context.with_stream(stream, |stream| {
        stream.end_capture(&context.raw).map_err(of_call)
    });
    match ended {
        Ok(graph) => Ok(CudaGraph {
            context: context.clone(),
            graph: Some(graph),
        }),
        Err(error) => {
            context.recording_is_gone();
            Err(error)
        }
    }
}

impl RecordedLaunches for CudaGraph {
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let Some(graph) = &self.graph else {
            return Ok(());
        };
        self.context
            .with_stream(stream, |stream| graph.launch(stream).map_err(of_call))
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
