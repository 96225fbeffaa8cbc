//! Spaces of which a sample is known, as `tune space` prints them.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use kiln_spec::csp::{Estimate, ListedSet};
use kiln_spec::space::Sampled;
use num_bigint::BigUint;
use serde::Serialize;

use super::output::{print, print_json};
use crate::cli::SpaceArgs;
use crate::error::Failure;
use kiln_exchange::definition::{Definition, sum_of_indices};

/// What takes the place of an exact count.
#[derive(Serialize)]
pub(super) struct Listed {
    /// Whether there are more valid configs than are listed.
    sampled: bool,
    listed: usize,
    /// Absent where the count is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_estimate: Option<Interval>,
    left_out: Vec<String>,
}

/// An estimate, and the interval that holds the truth in 99 of 100 samples.
#[derive(Serialize)]
struct Interval {
    about: f64,
    least: f64,
    most: f64,
}

impl From<Sampled> for Listed {
    fn from(sampled: Sampled) -> Listed {
        let Estimate {
            about, least, most, ..
        } = sampled.valid;
        let is_estimate = sampled.valid.exact().is_none();
        Listed {
            sampled: !sampled.is_complete,
            listed: sampled.listed,
            valid_estimate: is_estimate.then_some(Interval { about, least, most }),
            left_out: sampled.left_out,
        }
    }
}

/// What `--count --json` prints.
#[derive(Serialize)]
struct Count {
    name: String,
    /// Exact, or null.
    valid: Option<u64>,
    #[serde(flatten)]
    listed: Listed,
}

#[derive(Serialize)]
struct Described {
    name: String,
    cartesian: String,
    /// Exact, or null.
    valid: Option<u64>,
    /// Exact, or null.
    index_sum: Option<String>,
    cpu_ms: f64,
    bytes: usize,
    #[serde(flatten)]
    listed: Listed,
}

/// Prints the sample of a definition.
pub(super) fn describe(
    path: &Path,
    definition: &Definition,
    list: &ListedSet,
    cpu: Duration,
    args: &SpaceArgs,
) -> Result<(), Failure> {
    let sampled = sampled(definition, list);
    let valid = list.valid().exact();
    if args.count && args.output.json {
        return print_json(&Count {
            name: definition.name.clone(),
            valid: valid.and_then(|valid| u64::try_from(valid).ok()),
            listed: sampled.into(),
        });
    }
    if args.count {
        let Some(valid) = valid else {
            return Err(no_count(path, &sampled));
        };
        print(&format!("{valid}\n"));
        return Ok(());
    }
    let product = definition.params.iter().map(|param| param.values.len());
    let cartesian: BigUint = product.map(BigUint::from).product();
    let (cpu_ms, bytes) = (cpu.as_secs_f64() * 1e3, list.bytes());
    if !args.output.json {
        let mut text = format!(
            "{}: {cartesian} configs, built in {cpu_ms:.3} ms of CPU time, {bytes} bytes\n",
            definition.name
        );
        let _ = writeln!(text, "  {sampled}");
        print(&text);
        return Ok(());
    }
    let places = (0..list.len()).map(|index| list.places(index));
    print_json(&Described {
        name: definition.name.clone(),
        cartesian: cartesian.to_string(),
        valid: valid.and_then(|valid| u64::try_from(valid).ok()),
        index_sum: list
            .is_complete()
            .then(|| sum_of_indices(definition, places).to_string()),
        cpu_ms,
        bytes,
        listed: sampled.into(),
    })
}

fn sampled(definition: &Definition, list: &ListedSet) -> Sampled {
    let left_out = list.relaxed().left_out().iter();
    Sampled {
        listed: list.len(),
        valid: list.valid(),
        is_complete: list.is_complete(),
        left_out: left_out
            .map(|number| definition.constraints[*number].text.clone())
            .collect(),
    }
}

fn no_count(path: &Path, sampled: &Sampled) -> Failure {
    let left_out = sampled.left_out.join("; ");
    Failure::Other(format!(
        "{}: no exact count: some constraints tie too many parameters together, of a sample there are {}\n\
         note: constraints left out while building: {left_out}\n\
         help: `--json` gives the estimate as `valid_estimate`",
        path.display(),
        sampled.valid
    ))
}
