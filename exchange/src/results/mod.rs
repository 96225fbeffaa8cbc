//! Measured results, independent of a format.

pub(crate) mod json;
pub(crate) mod of_recording;
pub(crate) mod of_trials;

use serde_json::Value;

use crate::recording::Invalidity;

/// The results of one kernel, problem and device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The kernel.
    pub kernel: String,
    /// The device's product name.
    pub device: String,
    /// The problem: sizes and types by name.
    pub problem: Vec<(String, Value)>,
    /// The parameters with all their values, in order.
    pub params: Vec<(String, Vec<Value>)>,
    /// The conditions of the measurement: names and values of the tuning key.
    pub environment: Vec<(String, String)>,
    /// One row per config.
    pub rows: Vec<ResultRow>,
}

/// The result of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRow {
    /// The values of the parameters, in order.
    pub values: Vec<Value>,
    /// Why it has no time, if it has none.
    pub invalidity: Invalidity,
    /// The same in words.
    pub reason: Option<String>,
    /// The reference of its outputs.
    pub verified_against: Option<String>,
    /// Time of one launch in milliseconds.
    pub time_ms: Option<f64>,
    /// Launches timed, and the shortest of them in milliseconds.
    pub shortest: Option<(u32, f64)>,
    /// Time spent compiling, in milliseconds.
    pub compile_ms: f64,
    /// Time spent verifying, in milliseconds.
    pub verify_ms: f64,
    /// Time spent measuring, in milliseconds.
    pub measure_ms: f64,
}

impl Results {
    /// Sizes of the problem, without its types.
    pub(crate) fn sizes(&self) -> Vec<&Value> {
        let sizes = self.problem.iter().map(|(_, value)| value);
        sizes.filter(|value| value.is_number()).collect()
    }
}
