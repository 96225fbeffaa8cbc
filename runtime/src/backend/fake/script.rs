//! Scripts, which specify the properties of a fake device and the behaviour of configs on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kiln_spec::DeviceLimits;
use serde::{Deserialize, Serialize};

use crate::device::DeviceError;

/// The properties and behaviour of a fake device, as JSON or as a value. In JSON, missing fields have the values of
/// [`Script::default`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The product name of the device.
    pub name: String,
    /// The architecture of the device.
    pub arch: String,
    /// The limits of the device.
    pub limits: DeviceLimits,
    /// The resolution of the device's clock, in nanoseconds.
    pub timer_tick_ns: u64,
    /// The properties that distinguish the device from others of its kind, such as a `uuid`.
    pub instance: BTreeMap<String, String>,
    /// The seed of the noise model.
    pub seed: u64,
    /// The seed of the placement effects, which differ between *processes*. `None` for a random seed.
    pub placement: Option<u64>,
    /// Whether kernels compute their outputs. If not, a launch writes no outputs.
    pub computes: bool,
    /// Whether timed launches compute their outputs too. The host needs seconds for outputs that a GPU computes in
    /// microseconds. If this is off, timing a large problem is as quick as on a GPU, and only launches whose outputs
    /// are read compute.
    pub computes_timed: bool,
    /// The noise of every time, unless a rule specifies another.
    pub noise: FakeNoise,
    /// The time of one launch, unless a rule specifies another.
    pub time: Time,
    /// The behaviour of configs. For each field, the last rule that matches and sets the field applies.
    pub rules: Vec<ScriptRule>,
    /// The file from which the script was read; `None` if it was not read from a file.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            name: "Kiln Fake".into(),
            arch: "fake_1".into(),
            instance: BTreeMap::new(),
            limits: DeviceLimits {
                max_threads_per_block: 1024,
                max_block: [1024, 1024, 64],
                max_grid: [i32::MAX as u32, 65_535, 65_535],
                shared_bytes_per_block: 48 << 10,
                warp_size: 32,
                lockstep_threads: 32,
                warps_per_product: 1,
                multiprocessors: 8,
                l2_bytes: 4 << 20,
                memory_bytes: 4 << 30,
            },
            timer_tick_ns: 1,
            seed: 0,
            placement: None,
            computes: true,
            computes_timed: true,
            noise: FakeNoise::default(),
            time: Time::default(),
            rules: Vec::new(),
            file: None,
        }
    }
}

impl Script {
    /// Reads a script file.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if the file cannot be read, [`DeviceError::Setting`] if it is not a valid script.
    pub fn from_file(path: &Path) -> Result<Script, DeviceError> {
        let text = std::fs::read_to_string(path).map_err(|error| DeviceError::NotFound {
            what: format!("fake device script {}", path.display()),
            text: error.to_string(),
        })?;
        let read = serde_json::from_str(&text).map_err(|error| DeviceError::Setting {
            what: path.display().to_string(),
            problem: format!("not a script of a fake device: {error}"),
            help: "a script is a JSON object; `{}` is the default one".into(),
        });
        let file = Some(path.to_owned());
        read.map(|script| Script { file, ..script })
    }
}

/// The time of one launch without noise: the base times are added, and the sum is multiplied by every factor that
/// applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Time {
    /// Nanoseconds of one launch.
    pub base_ns: f64,
    /// Nanoseconds per block of the grid, in addition to `base_ns`.
    pub block_ns: f64,
    /// Factors for values of tunable parameters: `{"BLOCK_M": {"64": 0.5}}`.
    pub factors: BTreeMap<String, BTreeMap<String, f64>>,
    /// How irregular the times of neighbouring configs are. Each config has its own factor between 1 and `1 +
    /// rugged`.
    pub rugged: f64,
}

impl Default for Time {
    fn default() -> Self {
        Time {
            base_ns: 10_000.0,
            block_ns: 0.0,
            factors: BTreeMap::new(),
            rugged: 0.0,
        }
    }
}

/// The noise of each time. All factors are multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FakeNoise {
    /// Standard deviation of the logarithm of each time.
    pub sigma: f64,
    /// Standard deviation of the logarithm of a factor that an entry keeps for a whole process. It models the
    /// placement of the entry's code and buffers.
    pub placement_sigma: f64,
    /// Probability that a time is multiplied by [`Self::spike_factor`].
    pub spike_probability: f64,
    /// The factor of a spike.
    pub spike_factor: f64,
    /// Probability that an entry is in a slow mode for a whole process.
    pub slow_mode_probability: f64,
    /// The factor of the slow mode.
    pub slow_mode_factor: f64,
    /// Relative change of all times with each timed call. It models the warm-up of a device.
    pub drift: f64,
    /// Number of timed calls after which all times are multiplied by [`Self::throttle_factor`]; `None` for never.
    pub throttle_after: Option<u64>,
    /// The factor of a throttled device.
    pub throttle_factor: f64,
}

/// A rule: the behaviour of the configs and kernels that it matches. A field that is `None` changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptRule {
    /// The entries and configs that the rule matches.
    pub when: When,
    /// The time of a launch.
    pub time: Option<Time>,
    /// The noise of the times.
    pub noise: Option<FakeNoise>,
    /// The result of compiling.
    pub compile: Option<CompileOutcome>,
    /// The result of launching.
    pub launch: Option<LaunchOutcome>,
    /// The content of the outputs.
    pub output: Option<OutputOutcome>,
    /// The content of the receipt.
    pub receipt: Option<ReceiptOutcome>,
}

/// The entries and configs that a rule matches. All fields that are set must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The name of the `__global__` function in the source.
    pub entry: Option<String>,
    /// The release or receipt symbol.
    pub symbol: Option<String>,
    /// Values of tunable parameters, as in the canonical text of a config.
    pub config: BTreeMap<String, String>,
    /// Whether the rule matches only the release entry (`false`) or only the receipt entry (`true`); `None` for both.
    pub receipt: Option<bool>,
    /// The first process in which the rule applies. The processes that load a matching entry are counted from 1, in a
    /// file next to the script's file. If the script is not in a file, such a rule never applies.
    pub from_process: Option<u64>,
}

/// The result of compiling a translation unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompileOutcome {
    /// The compile succeeds.
    Works,
    /// The compiler rejects the source, with this log.
    Fails(String),
    /// The compile never ends and is killed at its deadline.
    Endless,
    /// The compile allocates memory until it is killed.
    MemoryBomb,
    /// The compile takes this long, in milliseconds of real time, and succeeds.
    SlowMs(u64),
}

/// The result of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchOutcome {
    /// The launch succeeds.
    Works,
    /// The device refuses the launch.
    Refused,
    /// The device does not have enough memory for the launch.
    Oom,
    /// The kernel reports a failure, after which the device is still usable.
    KernelFault,
    /// The process can no longer use the device.
    Sticky,
    /// The device is lost.
    Lost,
    /// The process crashes with a segmentation fault.
    Crash,
    /// The process aborts.
    Abort,
    /// The process exits with this code and without output.
    Exit(i32),
    /// The launch never ends.
    Hang,
    /// The process allocates memory until it is killed.
    MemoryBomb,
    /// The launch succeeds this many times, and the next launch crashes the process.
    CrashAfter(u64),
}

/// The content of the outputs after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputOutcome {
    /// The outputs that the reference computes.
    Right,
    /// All elements are zero.
    Zeros,
    /// All elements are NaN; for integers, all bits are set.
    Nan,
    /// One element is NaN.
    OneNan,
    /// One element is infinite; for integers, the largest value.
    OneInfinite,
    /// Nothing is written.
    Untouched,
    /// The elements from this fraction of the length on are not written.
    Partial(f64),
    /// The last element is not written.
    LastMissing,
    /// The last element is wrong.
    LastWrong,
    /// All elements are multiplied by this factor.
    Scaled(f64),
    /// All elements are shifted by one position.
    Shifted,
    /// The order of the elements is reversed.
    Reversed,
    /// The outputs of this entry's first launch, whatever the current inputs are.
    FirstAnswer,
    /// The outputs are right for this many launches. Afterwards they are multiplied by 2.
    WrongAfter(u64),
    /// With this probability, the outputs are multiplied by 2.
    WrongSometimes(f64),
    /// The outputs are right, but one element past the end is written.
    WritesBehind,
    /// The outputs are right, but one element before the start is written.
    WritesBefore,
    /// The outputs are right, but an input is changed.
    ChangesInput,
    /// Only the first part of each output is written, as if only one of the grid's blocks had run: one n-th of the
    /// elements for a grid of n blocks, but at most the first half.
    OneBlockOnly,
}

/// The content of the receipt that a receipt entry writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptOutcome {
    /// The receipt of the launch that ran.
    Honest,
    /// No receipt is written.
    Missing,
    /// The receipt has the nonce of the previous launch.
    OldNonce,
    /// The receipt has this symbol hash.
    Symbol(u64),
    /// The receipt has this config hash.
    Config(u64),
    /// The receipt has this block.
    Block([u32; 3]),
    /// The receipt has this grid.
    Grid([u32; 3]),
    /// The receipt has this amount of dynamic shared memory, in bytes.
    SharedBytes(u32),
    /// The receipt has this number of threads.
    Threads(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_back_and_unknown_fields_are_refused() {
        let script = Script {
            rules: vec![ScriptRule {
                when: When {
                    config: [("BLOCK".to_owned(), "64".to_owned())].into(),
                    ..When::default()
                },
                launch: Some(LaunchOutcome::Exit(3)),
                output: Some(OutputOutcome::Partial(0.5)),
                ..ScriptRule::default()
            }],
            ..Script::default()
        };
        let json = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<Script>(&json).unwrap(), script);
        assert!(serde_json::from_str::<Script>(r#"{"sped": 1}"#).is_err());
        assert_eq!(
            serde_json::from_str::<Script>("{}").unwrap(),
            Script::default()
        );
    }
}
