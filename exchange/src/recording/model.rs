//! A recording: a recorded space, and the results of its configs.

use super::invalidity::Invalidity;
use super::space::RecordedSpace;
use kiln_search::SpaceView;

/// The recorded result of one config.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordedTrial {
    /// Time of one launch in milliseconds; `None` if the config failed.
    pub time_ms: Option<f64>,
    /// The time to compile, verify and measure the config, in milliseconds.
    pub cost_ms: f64,
    /// Why the config has no time; [`Invalidity::Correct`] if it has one.
    pub invalidity: Invalidity,
}

/// A recording: a space, and the results of its configs in the same order.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Name of the recording, `KERNEL@DEVICE`, from the name of the file.
    pub name: String,
    /// Name of the device in the file; `None` if the file does not have it.
    pub device: Option<String>,
    /// The recorded configs.
    pub space: RecordedSpace,
    /// The result of each config, in the order of the space.
    pub entries: Vec<RecordedTrial>,
}

impl Recording {
    /// The name of the kernel: the name of the recording up to the `@`.
    pub fn kernel(&self) -> &str {
        self.name.split('@').next().unwrap_or_default()
    }

    /// The shortest recorded time of one launch, in milliseconds; `None` if all configs failed.
    pub fn best_ms(&self) -> Option<f64> {
        let times = self.entries.iter().filter_map(|entry| entry.time_ms);
        times.min_by(f64::total_cmp)
    }

    /// A recording with only those configs for whose index `keep` returns `true`.
    #[must_use]
    pub fn restricted(&self, keep: impl Fn(usize) -> bool) -> Recording {
        let kept: Vec<usize> = (0..self.entries.len())
            .filter(|&index| keep(index))
            .collect();
        Recording {
            name: self.name.clone(),
            device: self.device.clone(),
            space: self.space.restricted(&kept),
            entries: kept.iter().map(|&index| self.entries[index]).collect(),
        }
    }

    /// The time of each config of `space`, in milliseconds. `space` may belong to another recording of the same kernel.
    /// The time is `None` if this recording lacks the config, and `Some(None)` if the config failed.
    pub fn times_in(&self, space: &RecordedSpace) -> Vec<Option<Option<f64>>> {
        let map = self.space.map_from(space);
        (0..space.len())
            .map(|index| Some(self.entries[map.index(space, &self.space, index)?].time_ms))
            .collect()
    }
}
