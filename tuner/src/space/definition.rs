//! Describes the space of a definition. A definition is a file in the format of another tuner or in Kiln's own format.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use kiln_exchange::definition::{Definition, dead_values, index_sum, sum_of_indices};
use kiln_spec::csp::{ConfigSet, ListedSet};
use kiln_spec::space::Sampled;
use num_bigint::BigUint;
use serde::Serialize;

use super::error::NoExactCount;
use super::listed::ListedSpace;

/// The description of a space that was enumerated completely.
#[derive(Serialize)]
pub struct DefinitionSpace {
    name: String,
    /// Number of combinations of all values, as a decimal number.
    cartesian: String,
    /// Number of valid configs, as a number if it fits 64 bits, otherwise as a decimal string.
    valid: serde_json::Value,
    /// The exact sum of the Cartesian indices of the valid configs, as a decimal number.
    index_sum: String,
    /// CPU time of building the space, in milliseconds.
    cpu_ms: f64,
    /// Memory of the space in bytes.
    bytes: usize,
    components: Vec<DefinitionComponent>,
}

/// The output of `tune space --definition --count --json`.
#[derive(Serialize)]
pub struct DefinitionCount<'a> {
    name: &'a str,
    valid: &'a serde_json::Value,
}

#[derive(Serialize)]
struct DefinitionComponent {
    params: Vec<String>,
    valid: String,
}

impl DefinitionSpace {
    /// Describes a space. `cpu` is the CPU time that building the space took.
    pub fn new(definition: &Definition, set: &ConfigSet, cpu: Duration) -> DefinitionSpace {
        let name = |param: &usize| definition.params[*param].name.clone();
        let components = set.components().map(|(params, valid)| DefinitionComponent {
            params: params.iter().map(name).collect(),
            valid: valid.to_string(),
        });
        let product = definition.params.iter().map(|param| param.values.len());
        let cartesian: num_bigint::BigUint = product.map(num_bigint::BigUint::from).product();
        DefinitionSpace {
            name: definition.name.clone(),
            cartesian: cartesian.to_string(),
            valid: match u64::try_from(set.len()) {
                Ok(valid) => valid.into(),
                Err(_) => set.len().to_string().into(),
            },
            index_sum: index_sum(definition, set).to_string(),
            cpu_ms: cpu.as_secs_f64() * 1e3,
            bytes: set.bytes(),
            components: components.collect(),
        }
    }

    /// The output of `tune space --definition --count --json`.
    pub fn to_count(&self) -> DefinitionCount<'_> {
        DefinitionCount {
            name: &self.name,
            valid: &self.valid,
        }
    }

    /// The output of `tune space --definition`.
    pub fn to_text(&self, definition: &Definition, set: &ConfigSet) -> String {
        let mut text = format!(
            "{}: {} valid of {} configs, built in {:.3} ms of CPU time, {} bytes\n",
            self.name,
            set.len(),
            self.cartesian,
            self.cpu_ms,
            self.bytes
        );
        for component in &self.components {
            let params = component.params.join(", ");
            let _ = writeln!(text, "  {:>12} valid of {params}", component.valid);
        }
        for (param, values) in dead_values(definition, set) {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            let values = values.join(", ");
            let _ = writeln!(text, "  no valid config has {param} = {values}");
        }
        text
    }
}

/// The description of a sample of a definition's space.
pub struct DefinitionSample<'a> {
    definition: &'a Definition,
    list: &'a ListedSet,
    sampled: Sampled,
    cpu_ms: f64,
}

/// The output of `tune space --definition --count --json` for a sampled space.
#[derive(Serialize)]
pub struct SampledCount {
    name: String,
    /// The exact number of valid configs; null if it is not known or exceeds 64 bits.
    valid: Option<u64>,
    #[serde(flatten)]
    listed: ListedSpace,
}

/// The output of `tune space --definition --json` for a sampled space.
#[derive(Serialize)]
pub struct SampledSpace {
    name: String,
    cartesian: String,
    /// The exact number of valid configs; null if it is not known or exceeds 64 bits.
    valid: Option<u64>,
    /// The sum of the Cartesian indices of the valid configs, as a decimal number; null unless the sample contains
    /// every valid config.
    index_sum: Option<String>,
    cpu_ms: f64,
    bytes: usize,
    #[serde(flatten)]
    listed: ListedSpace,
}

impl<'a> DefinitionSample<'a> {
    /// Describes a sample. `cpu` is the CPU time that building the sample took.
    pub fn new(
        definition: &'a Definition,
        list: &'a ListedSet,
        cpu: Duration,
    ) -> DefinitionSample<'a> {
        let left_out = list.relaxed().left_out().iter();
        DefinitionSample {
            definition,
            list,
            sampled: Sampled {
                listed: list.len(),
                valid: list.valid(),
                is_complete: list.is_complete(),
                left_out: left_out
                    .map(|number| definition.constraints[*number].text.clone())
                    .collect(),
            },
            cpu_ms: cpu.as_secs_f64() * 1e3,
        }
    }

    fn valid(&self) -> Option<u64> {
        let exact = self.list.valid().exact()?;
        u64::try_from(exact).ok()
    }

    fn cartesian(&self) -> BigUint {
        let counts = self
            .definition
            .params
            .iter()
            .map(|param| param.values.len());
        counts.map(BigUint::from).product()
    }

    /// The output of `tune space --definition --count --json`.
    pub fn to_count(&self) -> SampledCount {
        SampledCount {
            name: self.definition.name.clone(),
            valid: self.valid(),
            listed: self.sampled.clone().into(),
        }
    }

    /// The output of `tune space --definition --json`.
    pub fn to_json(&self) -> SampledSpace {
        let places = (0..self.list.len()).map(|index| self.list.places(index));
        SampledSpace {
            name: self.definition.name.clone(),
            cartesian: self.cartesian().to_string(),
            valid: self.valid(),
            index_sum: self
                .list
                .is_complete()
                .then(|| sum_of_indices(self.definition, places).to_string()),
            cpu_ms: self.cpu_ms,
            bytes: self.list.bytes(),
            listed: self.sampled.clone().into(),
        }
    }

    /// The exact number of valid configs as text. `path` is the path of the definition, for the error.
    ///
    /// # Errors
    /// If the exact number is not known.
    pub fn exact(&self, path: &Path) -> Result<String, NoExactCount> {
        let exact = self.list.valid().exact();
        exact
            .map(|valid| valid.to_string())
            .ok_or_else(|| NoExactCount {
                path: path.to_owned(),
                estimate: self.sampled.valid,
                left_out: self.sampled.left_out.clone(),
            })
    }

    /// The output of `tune space --definition`.
    pub fn to_text(&self) -> String {
        format!(
            "{}: {} configs, built in {:.3} ms of CPU time, {} bytes\n  {}\n",
            self.definition.name,
            self.cartesian(),
            self.cpu_ms,
            self.list.bytes(),
            self.sampled
        )
    }
}
