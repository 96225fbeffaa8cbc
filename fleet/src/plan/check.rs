//! The checks that every plan must pass.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Element, PLAN_SCHEMA, Plan, PlanError};
use crate::sign::PublicKey;
use crate::text::{is_hex, is_plain, is_plain_or_empty};

/// Largest number of observers that a plan can require.
const MAX_REPLICAS: u64 = 64;
/// Largest number of shards of a search.
const MAX_SHARDS: u64 = 1 << 16;
/// Largest number of claims.
const MAX_CLAIMS: u64 = 1 << 24;
/// Largest number of elements, and of tasks of one element.
const MAX_ELEMENTS: u64 = 100_000;
/// Largest number of kinds, of kernels, and of worker keys.
const MAX_NAMED: u64 = 10_000;

/// An error for a plan of another schema. This check runs before the rest of the plan is parsed.
pub(super) fn schema(text: &str) -> Result<(), PlanError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let form = |source: serde_json::Error| PlanError::Form {
        why: source.to_string(),
    };
    let found = serde_json::from_str::<Versioned>(text)
        .map_err(form)?
        .schema;
    if found == u64::from(PLAN_SCHEMA) {
        return Ok(());
    }
    Err(PlanError::Schema { found })
}

impl Plan {
    /// Checks that the plan is valid.
    ///
    /// # Errors
    /// The first problem that is found.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.schema != PLAN_SCHEMA {
            let found = u64::from(self.schema);
            return Err(PlanError::Schema { found });
        }
        self.check_numbers()?;
        self.check_names()?;
        self.check_keys()?;
        let kernels: BTreeSet<&str> = self.kernels.iter().map(|k| k.name.as_str()).collect();
        let mut elements = self.elements.iter().enumerate();
        elements.try_for_each(|(number, element)| self.check_element(number, element, &kernels))
    }

    fn check_numbers(&self) -> Result<(), PlanError> {
        let expires = self.expires_unix_s;
        range("replicas", self.replicas.into(), 1, MAX_REPLICAS)?;
        range("shards", self.shards.into(), 1, MAX_SHARDS)?;
        range("claims", self.claims.into(), 1, MAX_CLAIMS)?;
        range(
            "the expiry",
            expires,
            self.created_unix_s.saturating_add(1),
            u64::MAX,
        )?;
        range("the number of kinds", count(&self.kinds), 1, MAX_NAMED)?;
        range("the number of kernels", count(&self.kernels), 1, MAX_NAMED)?;
        range(
            "the number of worker keys",
            count(&self.worker_keys),
            1,
            MAX_NAMED,
        )?;
        range(
            "the number of elements",
            count(&self.elements),
            0,
            MAX_ELEMENTS,
        )
    }

    fn check_names(&self) -> Result<(), PlanError> {
        plain("the package", &self.package)?;
        plain("the version of `tune`", &self.generator)?;
        plain("the strategy", &self.settings.strategy)?;
        if let Some(regime) = &self.settings.regime {
            plain("the regime", regime)?;
        }
        if let Some(previous) = &self.previous {
            hash("the previous plan", previous, 64)?;
        }
        for kind in &self.kinds {
            plain("the name of a kind", &kind.name)?;
            plain("the device of a kind", &kind.device)?;
        }
        for kernel in &self.kernels {
            plain("the name of a kernel", &kernel.name)?;
            hash("the spec of a kernel", &kernel.spec, 32)?;
            hash("the source of a kernel", &kernel.source, 32)?;
        }
        distinct("the kind", self.kinds.iter().map(|kind| &kind.name))?;
        distinct("the kernel", self.kernels.iter().map(|kernel| &kernel.name))
    }

    fn check_keys(&self) -> Result<(), PlanError> {
        for (number, text) in self.worker_keys.iter().enumerate() {
            plain("a worker key", text)?;
            PublicKey::parse(text).map_err(|source| PlanError::WorkerKey {
                number: number + 1,
                source,
            })?;
        }
        distinct("the worker key", self.worker_keys.iter())
    }

    fn check_element(
        &self,
        number: usize,
        element: &Element,
        kernels: &BTreeSet<&str>,
    ) -> Result<(), PlanError> {
        let kind = u64::try_from(element.kind).unwrap_or(u64::MAX);
        range("the kind of an element", kind, 0, count(&self.kinds) - 1)?;
        range(
            "the shard of an element",
            element.shard.into(),
            0,
            u64::from(self.shards) - 1,
        )?;
        range(
            "the number of tasks of an element",
            count(&element.tasks),
            1,
            MAX_ELEMENTS,
        )?;
        for task in &element.tasks {
            if !kernels.contains(task.kernel.as_str()) {
                return Err(PlanError::UnknownKernel {
                    element: number,
                    kernel: task.kernel.clone(),
                });
            }
            plain_or_empty("a problem", &task.problem)?;
            let mut configs = task.configs.iter();
            configs.try_for_each(|config| plain_or_empty("a config", config))?;
        }
        let name = |task: &super::TaskRef| format!("{} {}", task.kernel, task.problem);
        let names: Vec<String> = element.tasks.iter().map(name).collect();
        distinct("the task", names.iter())
    }
}

fn count<T>(list: &[T]) -> u64 {
    u64::try_from(list.len()).unwrap_or(u64::MAX)
}

fn range(field: &'static str, value: u64, low: u64, high: u64) -> Result<(), PlanError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(PlanError::Range {
        field,
        value,
        low,
        high,
    })
}

fn plain(field: &'static str, text: &str) -> Result<(), PlanError> {
    if is_plain(text) {
        return Ok(());
    }
    let bytes = text.len();
    Err(PlanError::Text { field, bytes })
}

fn plain_or_empty(field: &'static str, text: &str) -> Result<(), PlanError> {
    if is_plain_or_empty(text) {
        return Ok(());
    }
    let bytes = text.len();
    Err(PlanError::Text { field, bytes })
}

fn hash(field: &'static str, text: &str, digits: usize) -> Result<(), PlanError> {
    if is_hex(text, digits) {
        return Ok(());
    }
    Err(PlanError::Hash {
        field,
        text: text.chars().take(80).collect(),
        digits,
    })
}

fn distinct<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), PlanError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            let name = name.clone();
            return Err(PlanError::Twice { what, name });
        }
    }
    Ok(())
}
