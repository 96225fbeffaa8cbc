//! Batches of timed launches. The host records a batch and queues the recording, instead of queueing each launch.
//! Therefore even a kernel that runs for less time than the host needs to queue a launch is timed at the kernel's own
//! rate.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::device::error::ErrorClass;
use crate::device::{ArgSets, DeviceError};

/// Maximum number of launches in one recording.
const MAX_LAUNCHES: usize = 4096;

/// How the launches of a batch are divided into recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Number of launches in the first recording, which is replayed.
    pub recorded: u32,
    /// Number of times that the first recording is launched.
    pub times: u32,
    /// Number of launches in the second recording, which contains the remaining launches; 0 if there is none.
    pub rest: u32,
}

impl Batch {
    /// Divides `launches` launches into recordings. Because every recording begins with the first set of arguments,
    /// each recording except the last contains complete cycles of the sets. `None` if one recording cannot contain all
    /// sets.
    pub fn of(launches: u32, sets: ArgSets<'_>) -> Option<Batch> {
        let turn = sets.of_launches(u32::MAX).len();
        if launches == 0 || turn > MAX_LAUNCHES {
            return None;
        }
        let whole = u32::try_from(MAX_LAUNCHES / turn * turn).unwrap_or(launches);
        let recorded = launches.min(whole);
        Some(Batch {
            recorded,
            times: launches / recorded,
            rest: launches % recorded,
        })
    }
}

/// The reason why a recorded batch was not timed.
#[derive(Debug)]
pub(crate) enum Untimed {
    /// The batch could not be recorded. No part of it ran.
    Unrecorded(DeviceError),
    /// The batch ran and failed.
    Failed(DeviceError),
}

/// Whether a device's batches are recorded. The first batch whose recording is tried decides this for all later
/// batches. A batch whose sets of arguments do not fit into one recording is always queued.
///
/// A recorded batch and a queued batch take different times. If one process used both, equal kernels would seem to
/// have different speeds.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    recorded: AtomicBool,
    refused: AtomicBool,
}

impl Recorder {
    /// Times a batch with `recorded`. If `batch` is `None` or cannot be recorded, times the launches with `queued`.
    /// After the first batch that cannot be recorded, all later batches are queued.
    ///
    /// # Errors
    /// The error of the batch that ran. If the batch cannot be recorded, the error of recording is returned in two
    /// cases: the device can no longer be used, or earlier batches were recorded.
    pub fn time(
        &self,
        batch: Option<Batch>,
        recorded: impl FnOnce(Batch) -> Result<u64, Untimed>,
        queued: impl FnOnce() -> Result<u64, DeviceError>,
    ) -> Result<u64, DeviceError> {
        let Some(batch) = batch.filter(|_| !self.refused.load(Ordering::Relaxed)) else {
            return queued();
        };
        match recorded(batch) {
            Ok(ns) => {
                self.recorded.store(true, Ordering::Relaxed);
                Ok(ns)
            }
            Err(Untimed::Failed(error)) => Err(error),
            Err(Untimed::Unrecorded(error)) if ends_work(&error) => Err(error),
            Err(Untimed::Unrecorded(error)) if self.recorded.load(Ordering::Relaxed) => {
                Err(DeviceError::Internal {
                    what: "recording a batch, after earlier ones of this process were recorded,"
                        .into(),
                    text: error.to_string(),
                })
            }
            Err(Untimed::Unrecorded(_)) => {
                let ns = queued()?;
                self.refused.store(true, Ordering::Relaxed);
                Ok(ns)
            }
        }
    }
}

/// Whether the device can no longer be used.
fn ends_work(error: &DeviceError) -> bool {
    matches!(
        error.class(),
        ErrorClass::Sticky | ErrorClass::Hang | ErrorClass::DeviceLost
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::KernelArgs;

    fn of(launches: u32, sets: usize) -> Option<Batch> {
        let sets = vec![KernelArgs::of(&[]); sets];
        Batch::of(launches, ArgSets::new(&sets).unwrap())
    }

    #[test]
    fn every_launch_is_in_one_recording_and_turns_of_the_sets_stay_whole() {
        for sets in [1, 2, 3, 7, 4095, 4096] {
            for launches in [1, 2, 3, 600, 4096, 4097, 100_000] {
                let batch = of(launches, sets).unwrap();
                assert_eq!(batch.recorded * batch.times + batch.rest, launches);
                assert!(batch.recorded <= 4096 && batch.rest < batch.recorded);
                let again = batch.times > 1 || batch.rest > 0;
                let turns = (batch.recorded as usize).is_multiple_of(sets);
                assert!(!again || turns, "{batch:?}");
            }
        }
        assert_eq!(of(10_000, 4097), None);
    }

    #[test]
    fn a_process_that_recorded_a_batch_times_none_in_another_way() {
        let recorder = Recorder::default();
        let refusal = || Untimed::Unrecorded(DeviceError::internal("cuGraphLaunch", "no"));
        assert_eq!(recorder.time(of(2, 1), |_| Ok(3), || Ok(7)), Ok(3));
        let void = recorder.time(of(2, 1), |_| Err(refusal()), || panic!("it is not queued"));
        let said = void.unwrap_err().to_string();
        assert!(
            said.contains("after earlier ones") && said.contains("cuGraphLaunch"),
            "{said}"
        );
    }

    #[test]
    fn what_cannot_be_recorded_is_queued_and_recorded_no_more() {
        let recorder = Recorder::default();
        let refusal = || Untimed::Unrecorded(DeviceError::internal("recording", "no"));
        let failed = recorder.time(
            of(2, 1),
            |_| Err(refusal()),
            || Err(DeviceError::internal("launching", "no")),
        );
        assert!(failed.unwrap_err().to_string().contains("launching"));
        assert_eq!(recorder.time(None, |_| Ok(3), || Ok(7)), Ok(7));
        assert_eq!(recorder.time(of(2, 1), |_| Err(refusal()), || Ok(7)), Ok(7));
        assert_eq!(recorder.time(of(2, 1), |_| Ok(3), || Ok(7)), Ok(7));
    }

    #[test]
    fn what_ran_and_failed_or_broke_the_device_is_not_run_again() {
        let recorder = Recorder::default();
        let sticky = || DeviceError::Sticky { text: "700".into() };
        for untimed in [
            Untimed::Failed(DeviceError::internal("it", "failed")),
            Untimed::Failed(sticky()),
            Untimed::Unrecorded(sticky()),
        ] {
            let ended = recorder.time(of(2, 1), |_| Err(untimed), || panic!("it is not queued"));
            assert!(ended.is_err());
        }
        assert_eq!(recorder.time(of(2, 1), |_| Ok(3), || Ok(7)), Ok(3));
    }
}
