//! Launches that are recorded once and launched again together.

use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{DeviceError, RecordedLaunches, StreamHandle};

use super::context::Context;
use super::ffi::Graph;
use super::status::Failure;

/// A recording of one device.
#[derive(Debug)]
pub(super) struct Recording {
    context: Arc<Context>,
    /// Until it is gone; used by one thread at a time, since the runtime promises nothing else of graphs.
    graph: Option<Mutex<Graph>>,
}

impl Recording {
    /// Begins to record a stream.
    pub fn begin(context: &Context, stream: StreamHandle) -> Result<(), DeviceError> {
        let stream = context.stream(stream)?;
        context.recorded.begin(stream.raw(), || {
            context.recording_begins();
            stream.begin_capture().map_err(|failure| {
                context.recording_is_gone();
                failure.error()
            })
        })
    }

    /// Ends what was begun on a stream.
    pub fn end(context: &Arc<Context>, stream: StreamHandle) -> Result<Recording, DeviceError> {
        let stream = context.stream(stream)?;
        context.recorded.end(stream.raw(), || {
            // From here on the recording is gone when this is dropped, also where it fails.
            let mut recording = Recording {
                context: context.clone(),
                graph: None,
            };
            let graph = stream.end_capture().map_err(Failure::error)?;
            recording.graph = Some(Mutex::new(graph));
            Ok(recording)
        })
    }
}

impl RecordedLaunches for Recording {
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let stream = self.context.stream(stream)?;
        match &self.graph {
            Some(graph) => {
                let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
                graph.launch(&stream).map_err(Failure::error)
            }
            None => Ok(()),
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some(graph) = self.graph.take() {
            // It may still be running.
            let _ = self.context.synchronize();
            drop(graph);
        }
        self.context.recording_is_gone();
    }
}
