//! Launches that a GPU's driver has recorded and can replay.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{DeviceError, RecordedLaunches, StreamHandle};

use super::{Gpu, GpuGraph as _};

/// The description of an operation that is not supported, because the memory could be freed before the recording is
/// replayed.
pub(crate) const LENT_MEMORY: &str =
    "recording a launch on memory that another library may free before a replay";

/// A recording on one device. While it exists, no memory or module that it could use is freed.
pub(crate) struct GpuRecording<G: Gpu> {
    gpu: Arc<G>,
    /// The driver's graph; `None` after it is dropped. Only one thread at a time may use it, because no driver
    /// documents that graphs can be used from several threads.
    graph: Option<Mutex<G::Graph>>,
}

impl<G: Gpu> GpuRecording<G> {
    /// Starts recording the launches of this thread on a stream.
    pub fn begin(gpu: &G, stream: StreamHandle) -> Result<(), DeviceError> {
        if stream == StreamHandle::DEFAULT {
            return Err(DeviceError::Unsupported {
                what: "recording on the default stream (open one by Stream::new)".into(),
            });
        }
        let stream = gpu.open_stream(stream)?;
        gpu.kept().recorded.begin(G::raw(&stream), || {
            gpu.recording_begins();
            gpu.begin_capture(&stream).map_err(|failure| {
                gpu.recording_is_gone();
                G::error(failure, None)
            })
        })
    }

    /// Ends the recording of a stream and returns it.
    pub fn end(gpu: &Arc<G>, stream: StreamHandle) -> Result<GpuRecording<G>, DeviceError> {
        let stream = gpu.open_stream(stream)?;
        gpu.kept().recorded.end(G::raw(&stream), || {
            // From here on, dropping this value releases the recording, even after a failure.
            let mut recording = GpuRecording {
                gpu: gpu.clone(),
                graph: None,
            };
            let graph = gpu.end_capture(&stream);
            let graph = graph.map_err(|failure| G::error(failure, None))?;
            recording.graph = Some(Mutex::new(graph));
            Ok(recording)
        })
    }
}

impl<G: Gpu> RecordedLaunches for GpuRecording<G> {
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let Some(graph) = &self.graph else {
            return Ok(());
        };
        let stream = self.gpu.open_stream(stream)?;
        let graph = graph.lock().unwrap_or_else(PoisonError::into_inner);
        let launched = graph.launch(&stream);
        launched.map_err(|failure| G::error(failure, None))
    }
}

impl<G: Gpu> Drop for GpuRecording<G> {
    fn drop(&mut self) {
        if let Some(graph) = self.graph.take() {
            self.gpu.wait_to_drop_graph();
            drop(graph);
        }
        self.gpu.recording_is_gone();
    }
}

impl<G: Gpu> fmt::Debug for GpuRecording<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").finish_non_exhaustive()
    }
}
