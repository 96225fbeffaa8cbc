//! Measured results, independent of the file format.

pub(crate) mod json;
pub(crate) mod of_recording;
pub(crate) mod of_trials;

use serde_json::Value;

use crate::recording::Invalidity;

/// The results of one kernel on one problem and device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Name of the kernel.
    pub kernel: String,
    /// Product name of the device.
    pub device: String,
    /// The sizes and types of the problem, by name.
    pub problem: Vec<(String, Value)>,
    /// The tunable parameters with all their values, in order.
    pub params: Vec<(String, Vec<Value>)>,
    /// The conditions of the measurement: names and values of the fields of the tuning key.
    pub environment: Vec<(String, String)>,
    /// One row per config.
    pub rows: Vec<ResultRow>,
}

/// The result of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRow {
    /// The values of the parameters, in order.
    pub values: Vec<Value>,
    /// Why the config has no time; [`Invalidity::Correct`] if it has one.
    pub invalidity: Invalidity,
    /// The reason in words; `None` if there is nothing to explain.
    pub reason: Option<String>,
    /// What the outputs were compared with; `None` if they were not compared.
    pub verified_against: Option<String>,
    /// Median time of one launch, in milliseconds; `None` if the config failed.
    pub time_ms: Option<f64>,
    /// The number of timed samples, and the shortest time of one launch in milliseconds; `None` if it is unknown.
    pub shortest: Option<(u32, f64)>,
    /// Time spent compiling, in milliseconds.
    pub compile_ms: f64,
    /// Time spent verifying, in milliseconds.
    pub verify_ms: f64,
    /// Time spent measuring, in milliseconds.
    pub measure_ms: f64,
}

impl Results {
    /// The sizes of the problem, without its types.
    pub(crate) fn sizes(&self) -> Vec<&Value> {
        let sizes = self.problem.iter().map(|(_, value)| value);
        sizes.filter(|value| value.is_number()).collect()
    }
}
