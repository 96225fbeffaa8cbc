//! Graphs: launches that are recorded once and then replayed together. A replay takes less host time than separate
//! launches.

use crate::device::stream::Stream;
use crate::device::{Device, DeviceError, RecordedLaunches, StreamHandle};

/// A recording of launches on one stream, which can be replayed.
///
/// A graph stores each launch with the selected row, the sizes, the addresses of the buffers and the values of the
/// scalars. A replay therefore reads and writes the same buffers as the recorded launches. It is ordered like any other
/// work of its stream. Buffers that are dropped while a graph of their device exists stay allocated until the last
/// graph is dropped.
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
    /// Records the launches that `record` makes on a stream, without running them. The stream must not be a default
    /// stream (see [`Stream::new`]), and every kernel must already have been launched or
    /// [prepared](crate::prepare::get) on the device.
    ///
    /// # Errors
    /// The errors of `record`; [`DeviceError::Unsupported`] if the device cannot record; an error of the device if
    /// `record` requests anything other than launches.
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

    /// Queues all recorded launches on the stream on which they were recorded.
    ///
    /// # Errors
    /// An error of the device, or an error of a kernel that ran since the last synchronisation.
    pub fn replay(&self) -> Result<(), DeviceError> {
        self.recorded.launch(self.stream.handle())
    }

    /// The stream on which the launches were recorded.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
}

/// A recording in progress. Dropping it ends the recording, even if recording fails or panics, because otherwise the
/// stream could not be used again.
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
            // The recording is discarded. The error was already reported.
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
