//! Batches of timed launches as a GPU runs them fastest: recorded, so that the host has to queue one thing and not each
//! launch. A kernel shorter than what the host takes to queue one is then timed at its own rate.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::device::error::ErrorClass;
use crate::device::{ArgSets, DeviceError};

/// Launches of one recording at most.
const MAX_LAUNCHES: usize = 4096;

/// How a batch is split over recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Launches of the recording that is launched again and again.
    pub recorded: u32,
    /// How often it is.
    pub times: u32,
    /// Launches of the recording behind it; 0 for none.
    pub rest: u32,
}

impl Batch {
    /// The split of that many launches. A recording begins with the first set of arguments, so each but the last takes
    /// whole turns of them. `None` for more sets than a recording has room for.
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

/// Why a recorded batch has no time.
#[derive(Debug)]
pub(crate) enum Untimed {
    /// It was not recorded; nothing of it ran.
    Unrecorded(DeviceError),
    /// It ran, and failed.
    Failed(DeviceError),
}

/// Whether a device's batches are recorded: what became of the first one holds for all.
///
/// A recorded batch and a queued one do not take equally long, so times of both in one process would tell equal kernels apart.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    recorded: AtomicBool,
    refused: AtomicBool,
}

impl Recorder {
    /// Times a batch by `recorded`, or by `queued` if it cannot be recorded. A device that queued one is not asked to record
    /// again.
    ///
    /// # Errors
    /// What the batch that ran says; what ended the process's work on the device; a batch that cannot be recorded after others
    /// were.
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

/// Whether nothing can be done on the device any more.
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
