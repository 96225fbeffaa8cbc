//! Looks up the stored trials of the current version of a kernel.

use kiln_cache::{Cache, Trial, TuningKey};
use kiln_spec::Problem;

use super::TaskError;
use crate::error::Failure;
use kiln_project::TunedKernel;

/// Selects one of the keys under which trials of a kernel are stored. A key must have all of these properties.
#[derive(Clone, Copy, Debug)]
pub struct KeySelector<'a> {
    /// The start of the key's hash; `None` for any hash.
    pub key: Option<&'a str>,
    /// The start of the device, as `backend/arch/name`.
    pub device: &'a str,
    /// The problem; `None` for any problem.
    pub problem: Option<&'a Problem>,
}

/// The selected key of the current version of a kernel, and its trials.
///
/// # Errors
/// If `wanted` selects no key with trials, or more than one.
pub fn one(
    wanted: &KeySelector<'_>,
    kernel: &TunedKernel,
    cache: &Cache,
) -> Result<(TuningKey, Vec<Trial>), Failure> {
    let (spec, source) = (
        kernel.spec.hash().to_string(),
        kernel.source.hash().to_string(),
    );
    let problem = wanted.problem.map(ToString::to_string);
    let device = wanted.device;
    let hash = wanted.key.unwrap_or_default();
    let mut found = Vec::new();
    for key in cache.keys(Some(&kernel.spec.name))? {
        let is_it = key.hash().to_string().starts_with(hash)
            && device_of(&key).starts_with(device)
            && problem
                .as_ref()
                .is_none_or(|problem| key.field("problem") == problem);
        if is_it && key.field("spec") == spec && key.field("source") == source {
            let trials = cache.trials(key.hash())?;
            if !trials.is_empty() {
                found.push((key, trials));
            }
        }
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(TaskError::NoTrials {
            kernel: kernel.spec.name.clone(),
            problem,
            key: wanted.key.map(str::to_owned),
            device: (!device.is_empty()).then(|| device.to_owned()),
        }
        .into()),
        _ => {
            let line = |(key, trials): &(TuningKey, Vec<Trial>)| {
                let (compiler, regime) = (key.field("compiler_version"), key.field("regime"));
                format!(
                    "  {} {}, {}, {compiler}, {regime}: {} trials",
                    key.hash(),
                    key.field("problem"),
                    device_of(key),
                    trials.len()
                )
            };
            Err(TaskError::SeveralKeys {
                kernel: kernel.spec.name.clone(),
                keys: found.iter().map(line).collect(),
            }
            .into())
        }
    }
}

fn device_of(key: &TuningKey) -> String {
    let part = |name: &str| key.field(&format!("device.{name}"));
    format!("{}/{}/{}", part("backend"), part("arch"), part("name"))
}
