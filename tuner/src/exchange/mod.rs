//! Files that other tuners read: search spaces as T1, results as T4 or as cache files of Kernel Tuner.
//!
//! `tune export` writes them; [`crate::recording`] and [`crate::definition`] read them back.

mod kernel;
mod kernel_tuner;
mod python;
mod recorded;
mod t1;
mod t4;
mod trials;

pub use kernel::kernel_as_t1;
pub use recorded::of_recording;
pub use trials::{Exported, of_trials};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::recording::Invalidity;

/// What was measured of one kernel, problem and device.
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
    /// What was measured, and with what, in words.
    pub environment: Vec<(String, String)>,
    /// A row a config.
    pub rows: Vec<ResultRow>,
}

/// What became of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRow {
    /// The values of the parameters, in order.
    pub values: Vec<Value>,
    /// Why it has no time, if it has none.
    pub invalidity: Invalidity,
    /// The same in words.
    pub reason: Option<String>,
    /// What its outputs were compared with.
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
    /// As a cache file of Kernel Tuner, which its simulation mode opens.
    ///
    /// # Errors
    /// A value that such a file cannot hold.
    pub fn to_kernel_tuner(&self) -> Result<String, String> {
        kernel_tuner::text(self)
    }

    /// As a T4 results file, with T4's metadata in the same file.
    pub fn to_t4(&self) -> String {
        t4::text(self)
    }

    /// Sizes of the problem, without its types.
    fn sizes(&self) -> Vec<&Value> {
        let sizes = self.problem.iter().map(|(_, value)| value);
        sizes.filter(|value| value.is_number()).collect()
    }
}

/// An object whose members keep their order.
struct Ordered<'a, V>(Vec<(&'a str, V)>);

impl<V: Serialize> Serialize for Ordered<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// JSON on one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with text keys and finite numbers should serialise")
}
