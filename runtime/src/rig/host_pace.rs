//! Measures the time that a series of launches takes from the host's first call to the end of the last kernel, once for
//! launches that are queued one by one and once for launches that are replayed from a recording.
//!
//! A timed batch ([`Rig::time`]) measures only the time on the device. If queueing a launch takes the host longer
//! than the kernel takes the device, the program runs at the pace of the host. A [`Graph`] avoids that.

use std::time::Instant;

use kiln_spec::LaunchPlan;
use serde::{Deserialize, Serialize};

use crate::device::graph::Graph;
use crate::device::stream::Stream;
use crate::device::{DeviceError, Function};
use crate::launch::launch_held;

use super::{Rig, RigError};

/// One pair of measurements. Each is the time of all launches together, in nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPace {
    /// The time of launches that are queued one by one.
    pub one_by_one_ns: u64,
    /// The time of launches that are replayed from one recording.
    pub replayed_ns: u64,
}

impl Rig {
    /// Times a series of `launches` launches of a release entry, queued one by one and replayed from a recording.
    /// Repeats both measurements `pairs` times, alternately, on a new stream and on the data of [`Self::launch`].
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device cannot record; otherwise the errors of [`Self::launch`].
    pub fn host_pace(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        launches: u32,
        pairs: usize,
    ) -> Result<Vec<HostPace>, RigError> {
        self.stream.synchronize()?;
        let stream = Stream::new(self.stream.device().clone())?;
        let args = self.arguments(0);
        let queue = |stream: &Stream| -> Result<(), DeviceError> {
            (0..launches).try_for_each(|_| launch_held(stream, function, plan, &args))
        };
        let graph = Graph::capture(&stream, queue)?;
        let one_by_one = || elapsed_ns(&stream, || queue(&stream));
        let replayed = || elapsed_ns(&stream, || graph.replay());
        // The first run of each kind uploads the code or the recording to the device, so it is not timed.
        one_by_one()?;
        replayed()?;
        let pair = |number: usize| -> Result<HostPace, DeviceError> {
            // Alternate the order, so that neither kind always runs second.
            let first = number.is_multiple_of(2).then(one_by_one).transpose()?;
            let replayed_ns = replayed()?;
            Ok(HostPace {
                one_by_one_ns: first.map_or_else(one_by_one, Ok)?,
                replayed_ns,
            })
        };
        let measured = (0..pairs).map(pair).collect::<Result<_, _>>()?;
        Ok(measured)
    }
}

fn elapsed_ns(
    stream: &Stream,
    queue: impl FnOnce() -> Result<(), DeviceError>,
) -> Result<u64, DeviceError> {
    let start = Instant::now();
    queue()?;
    stream.synchronize()?;
    Ok(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
