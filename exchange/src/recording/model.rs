//! A recorded space and the results of its configs.

use super::invalidity::Invalidity;
use super::space::RecordedSpace;
use kiln_search::SpaceView;

/// The recorded result of one config.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordedTrial {
    /// Time of one launch in milliseconds; `None` if the config failed.
    pub time_ms: Option<f64>,
    /// The time to compile, verify and measure it, in milliseconds.
    pub cost_ms: f64,
    /// Why it has no time.
    pub invalidity: Invalidity,
}

/// A recorded space: its configs in the order of their [`RecordedSpace`], and their results in the same order.
#[derive(Clone, Debug)]
pub struct Recording {
    /// `KERNEL@DEVICE`, from the file's name.
    pub name: String,
    /// The device, if the file names it.
    pub device: Option<String>,
    /// The configs.
    pub space: RecordedSpace,
    /// The result of each config.
    pub entries: Vec<RecordedTrial>,
}

impl Recording {
    /// The kernel's part of the name.
    pub fn kernel(&self) -> &str {
        self.name.split('@').next().unwrap_or_default()
    }

    /// The shortest time recorded.
    pub fn best_ms(&self) -> Option<f64> {
        let times = self.entries.iter().filter_map(|entry| entry.time_ms);
        times.min_by(f64::total_cmp)
    }

    /// The recording with only the configs whose index `keep` accepts.
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

    /// Times by config of `space`, which may be the space of another recording of the same kernel: `None` if
    /// this one lacks the config, `Some(None)` if it failed.
    pub fn times_in(&self, space: &RecordedSpace) -> Vec<Option<Option<f64>>> {
        let map = self.space.map_from(space);
        (0..space.len())
            .map(|index| Some(self.entries[map.index(space, &self.space, index)?].time_ms))
            .collect()
    }
}
