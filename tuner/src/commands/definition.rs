//! `tune space --definition`: the space that a file defines.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use kiln_spec::csp::ConfigSet;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use super::output::{checked, print, print_json};
use super::sampled;
use crate::cli::SpaceArgs;
use crate::error::Failure;
use kiln_exchange::definition::{Definition, Solved, dead_values, index_sum, valid};

#[derive(Serialize)]
struct Described {
    name: String,
    /// Combinations of values, as a decimal number.
    cartesian: String,
    /// As a number where it fits 64 bits, else as a decimal string.
    valid: serde_json::Value,
    /// The exact sum of the Cartesian indices, as a decimal number.
    index_sum: String,
    /// CPU time of the construction alone.
    cpu_ms: f64,
    /// Bytes that the space takes.
    bytes: usize,
    components: Vec<Component>,
}

/// What `--count --json` prints.
#[derive(Serialize)]
struct Count<'a> {
    name: &'a str,
    valid: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Component {
    params: Vec<String>,
    valid: String,
}

pub(super) fn run(path: &Path, args: &SpaceArgs) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let named = |error| Failure::Other(format!("{}: {error}", path.display()));
    let definition = Definition::read(&text).map_err(named)?;
    let started = cpu_time();
    let solved = definition.solve_or_sample().map_err(named)?;
    let cpu = cpu_time().saturating_sub(started);
    let set = match solved {
        Solved::Exact(set) => set,
        Solved::Sampled(list) => {
            sampled::describe(path, &definition, &list, cpu, args)?;
            return Ok(checked(true));
        }
    };
    let described = described(&definition, &set, cpu);
    if args.count && args.output.json {
        print_json(&Count {
            name: &described.name,
            valid: &described.valid,
        })?;
        return Ok(checked(true));
    }
    if args.count {
        print(&format!("{}\n", valid(&set)));
        return Ok(checked(true));
    }
    if args.output.json {
        print_json(&described)?;
    } else {
        print(&described.to_text(&definition, &set));
    }
    Ok(checked(true))
}

/// CPU time of this process so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

fn described(definition: &Definition, set: &ConfigSet, cpu: Duration) -> Described {
    let name = |param: &usize| definition.params[*param].name.clone();
    let components = set.components().map(|(params, valid)| Component {
        params: params.iter().map(name).collect(),
        valid: valid.to_string(),
    });
    let product = definition.params.iter().map(|param| param.values.len());
    let cartesian: num_bigint::BigUint = product.map(num_bigint::BigUint::from).product();
    Described {
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

impl Described {
    fn to_text(&self, definition: &Definition, set: &ConfigSet) -> String {
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
