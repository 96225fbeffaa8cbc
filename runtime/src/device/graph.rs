//! Graphs: launches that are recorded once and replayed together, which takes the host less time.

use crate::device::stream::Stream;
use crate::device::{Device, DeviceError, RecordedLaunches, StreamHandle};

/// Launches of one stream, recorded once.
///
/// A recording contains each launch as it was made: the selected row, the sizes, the addresses of the buffers and the
/// values of the scalars. A replay reads and writes the same buffers; it is ordered like any other work of its
/// stream. Buffers that are dropped while a graph of their device lives stay allocated until the last graph is gone.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # fn scale(_: &kiln::Stream, _: u32, _: &kiln::Buffer<f32>, _: &mut kiln::Buffer<f32>) -> Result<(), kiln::LaunchError> { Ok(()) }
/// let stream = kiln::Stream::new(kiln::open("cuda:0")?)?;
/// let x = kiln::Buffer::from_slice(&stream, &[1.0_f32; 1024])?;
/// let mut y = kiln::Buffer::<f32>::zeros(&stream, 1024)?;
/// scale(&stream, 1024, &x, &mut y)?; // The first launch compiles and loads: that cannot be recorded.
/// let graph = kiln::Graph::capture(&stream, |stream| -> Result<(), Box<dyn std::error::Error>> {
///     for _ in 0..100 {
///         scale(stream, 1024, &x, &mut y)?;
///     }
///     Ok(())
/// })?;
/// graph.replay()?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph {
    recorded: Box<dyn RecordedLaunches>,
    stream: Stream,
}

impl Graph {
    /// Records the launches that `record` makes on a stream, without running them. It must not be the default stream
    /// (see [`Stream::new`]), and every kernel must have been launched or [prepared](crate::prepare::get) on the
    /// device before.
    ///
    /// # Errors
    /// The errors of `record`; [`DeviceError::Unsupported`] if the device cannot record; an error of the device if
    /// anything but launches was to be recorded.
    pub fn capture<E: From<DeviceError>>(
        stream: &Stream,
        record: impl FnOnce(&Stream) -> Result<(), E>,
    ) -> Result<Graph, E> {
        let recording = ActiveRecording::begin(stream)?;
        record(stream)?;
        Ok(Graph {
            recorded: recording.end()?,
            stream: stream.clone(),
        })
    }

    /// Queues everything that was recorded, on the stream on which it was recorded.
    ///
    /// # Errors
    /// An error of the device, or of a kernel since the last synchronisation.
    pub fn replay(&self) -> Result<(), DeviceError> {
        self.recorded.launch(self.stream.handle())
    }

    /// The stream on which it was recorded.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
}

/// A recording in progress. It is ended even if recording fails or panics; otherwise the stream could not be used
/// again.
struct ActiveRecording {
    device: Device,
    handle: StreamHandle,
    ended: bool,
}

impl ActiveRecording {
    fn begin(stream: &Stream) -> Result<ActiveRecording, DeviceError> {
        stream.device().begin_capture(stream.handle())?;
        Ok(ActiveRecording {
            device: stream.device().clone(),
            handle: stream.handle(),
            ended: false,
        })
    }

    fn end(mut self) -> Result<Box<dyn RecordedLaunches>, DeviceError> {
        self.ended = true;
        self.device.end_capture(self.handle)
    }
}

impl Drop for ActiveRecording {
    fn drop(&mut self) {
        if !self.ended {
            // The recording is discarded; the error was already reported.
            let _ = self.device.end_capture(self.handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_records_nothing_says_so_and_launches_nothing() {
        let stream = Stream::default_of(crate::open("fake").unwrap());
        let mut called = false;
        let error = Graph::capture(&stream, |_| {
            called = true;
            Ok::<(), DeviceError>(())
        })
        .unwrap_err();
        assert!(
            matches!(error, DeviceError::Unsupported { .. }),
            "{error:?}"
        );
        assert!(!called);
    }
}
