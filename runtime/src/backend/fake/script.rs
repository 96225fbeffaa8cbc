//! Scripts: the properties of a fake device, and the behaviour of configs on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kiln_spec::DeviceLimits;
use serde::{Deserialize, Serialize};

use crate::device::DeviceError;

/// A fake device and its behaviour, as JSON or as a value. Missing fields have these defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// The product name.
    pub name: String,
    /// The architecture.
    pub arch: String,
    /// Its limits.
    pub limits: DeviceLimits,
    /// The resolution of its clock, in nanoseconds.
    pub timer_tick_ns: u64,
    /// What distinguishes it from other devices of its kind, such as a `uuid`.
    pub instance: BTreeMap<String, String>,
    /// Seed of the noise model.
    pub seed: u64,
    /// Seed of the placement effects, which differ between *processes*; random if not given.
    pub placement: Option<u64>,
    /// Whether kernels compute their outputs. Without it a launch does nothing.
    pub computes: bool,
    /// Whether timed launches compute too. The host takes seconds for outputs that a GPU computes in microseconds. If
    /// this is off, large problems are timed as fast as on a GPU, and only launches whose outputs are read compute.
    pub computes_timed: bool,
    /// The noise of every time.
    pub noise: FakeNoise,
    /// The time of one launch if no rule gives one.
    pub time: Time,
    /// Behaviour of configs: the last rule that matches and sets a field decides it.
    pub rules: Vec<ScriptRule>,
    /// The file from which it was read.
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
    /// [`DeviceError::NotFound`] if it cannot be read, [`DeviceError::Setting`] if it is not a script.
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

/// Time of one launch before noise: `base_ns` times all factors that apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Time {
    /// Nanoseconds of one launch.
    pub base_ns: f64,
    /// Nanoseconds per block of the grid, in addition to `base_ns`.
    pub block_ns: f64,
    /// A factor for a value of a tunable parameter: `{"BLOCK_M": {"64": 0.5}}`.
    pub factors: BTreeMap<String, BTreeMap<String, f64>>,
    /// Ruggedness of the landscape: each config has a separate factor from 1 to `1 + rugged`.
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

/// The noise of one time. Factors multiply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FakeNoise {
    /// Standard deviation of the logarithm of each time.
    pub sigma: f64,
    /// Standard deviation of the logarithm of a factor that an entry keeps for the whole process, for the placement
    /// of its code and buffers.
    pub placement_sigma: f64,
    /// Probability that a time is slow by [`Self::spike_factor`].
    pub spike_probability: f64,
    /// How slow a spike is.
    pub spike_factor: f64,
    /// Probability that an entry is in its slow mode for a whole process.
    pub slow_mode_probability: f64,
    /// How slow that mode is.
    pub slow_mode_factor: f64,
    /// Relative change of all times with each timed call, as the device warms up.
    pub drift: f64,
    /// After this many timed calls, all times increase by [`Self::throttle_factor`].
    pub throttle_after: Option<u64>,
    /// How slow a throttled device is.
    pub throttle_factor: f64,
}

/// The behaviour of some configs of some kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptRule {
    /// The configs that it matches.
    pub when: When,
    /// How long a launch takes.
    pub time: Option<Time>,
    /// Its noise.
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

/// The launches that a rule matches: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The entry's name in the source.
    pub entry: Option<String>,
    /// The release or receipt symbol.
    pub symbol: Option<String>,
    /// Values of tunable parameters, as in a config's canonical text.
    pub config: BTreeMap<String, String>,
    /// Whether it matches only the release (`false`) or the receipt entry (`true`).
    pub receipt: Option<bool>,
    /// Applies from this process on, counted from 1 over the processes that load such an entry. The count is in a
    /// file next to the script's; a script without a file has no count, and such a rule never applies.
    pub from_process: Option<u64>,
}

/// The result of compiling a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompileOutcome {
    /// It compiles.
    Works,
    /// The compiler rejects it, with this log.
    Fails(String),
    /// It never ends: the compile is killed at its deadline.
    Endless,
    /// It allocates memory until it is killed.
    MemoryBomb,
    /// It takes this long, in milliseconds of real time, and works.
    SlowMs(u64),
}

/// The result of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchOutcome {
    /// It runs.
    Works,
    /// The device refuses it.
    Refused,
    /// The device does not have enough memory for it.
    Oom,
    /// The kernel reports its own failure.
    KernelFault,
    /// The process can no longer use the device.
    Sticky,
    /// The device is lost.
    Lost,
    /// The process dies of a segmentation fault.
    Crash,
    /// The process aborts.
    Abort,
    /// The process exits with this code and without output.
    Exit(i32),
    /// The launch never ends.
    Hang,
    /// The process allocates memory until it is killed.
    MemoryBomb,
    /// It runs this many times; then the process dies.
    CrashAfter(u64),
}

/// The content of the outputs after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputOutcome {
    /// The outputs of the reference.
    Right,
    /// Zeros.
    Zeros,
    /// Not a number, everywhere (all bits set, for integers).
    Nan,
    /// One element is not a number.
    OneNan,
    /// One element is infinite (the largest, for integers).
    OneInfinite,
    /// Nothing is written.
    Untouched,
    /// The last part is not written: from this fraction on.
    Partial(f64),
    /// The last element is not written.
    LastMissing,
    /// The last element is wrong.
    LastWrong,
    /// Everything is scaled by this factor.
    Scaled(f64),
    /// Everything is shifted by one element.
    Shifted,
    /// The order is reversed.
    Reversed,
    /// The outputs of the first launch of this entry, regardless of the current inputs.
    FirstAnswer,
    /// Right this many times, then scaled by 2.
    WrongAfter(u64),
    /// Scaled by 2 with this probability.
    WrongSometimes(f64),
    /// Right, and one element past the end is written.
    WritesBehind,
    /// Right, and one element before the start is written.
    WritesBefore,
    /// Right, and an input is changed.
    ChangesInput,
    /// Only the outputs of the first block: the first of this many parts.
    OneBlockOnly,
}

/// The receipt that a receipt entry writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptOutcome {
    /// The truth.
    Honest,
    /// Nothing.
    Missing,
    /// The nonce of the previous launch.
    OldNonce,
    /// Another symbol's hash.
    Symbol(u64),
    /// Another config's hash.
    Config(u64),
    /// Another block.
    Block([u32; 3]),
    /// Another grid.
    Grid([u32; 3]),
    /// Another amount of dynamic shared memory, in bytes.
    SharedBytes(u32),
    /// Another number of threads.
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
