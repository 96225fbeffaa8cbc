//! Looks up the stored trials of the current version of a kernel.

use kiln_cache::{Cache, Trial, TuningKey};
use kiln_spec::Problem;

use super::TaskError;
use crate::error::Failure;
use kiln_project::TunedKernel;

/// Selects one of the keys under which trials of a kernel are stored.
#[derive(Clone, Copy, Debug)]
pub struct KeySelector<'a> {
    /// The start of the key's hash; `None` to select by problem and device.
    pub key: Option<&'a str>,
    /// The start of the device, as `backend/arch/name`.
    pub device: &'a str,
}

/// The selected key of the current version of a kernel, and its trials.
///
/// # Errors
/// If `wanted` selects no key with trials, or more than one.
pub fn one(
    wanted: &KeySelector<'_>,
    kernel: &TunedKernel,
    problem: &Problem,
    cache: &Cache,
) -> Result<(TuningKey, Vec<Trial>), Failure> {
    let (spec, source) = (
        kernel.spec.hash().to_string(),
        kernel.source.hash().to_string(),
    );
    let problem = problem.to_string();
    let device = wanted.device;
    let mut found = Vec::new();
    for key in cache.keys(Some(&kernel.spec.name))? {
        let is_it = match wanted.key {
            Some(hash) => key.hash().to_string().starts_with(hash),
            None => key.field("problem") == problem && device_of(&key).starts_with(device),
        };
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
            device: (!device.is_empty()).then(|| device.to_owned()),
        }
        .into()),
        _ => {
            let line = |(key, trials): &(TuningKey, Vec<Trial>)| {
                let (compiler, regime) = (key.field("compiler_version"), key.field("regime"));
                format!(
                    "  {} {}, {compiler}, {regime}: {} trials",
                    key.hash(),
                    device_of(key),
                    trials.len()
                )
            };
            Err(TaskError::SeveralKeys {
                kernel: kernel.spec.name.clone(),
                problem,
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
