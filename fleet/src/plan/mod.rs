//! Plans. A plan specifies what a fleet tunes, and when a result becomes a row of a table.
//!
//! A plan is canonical JSON. Its identity is the hash of its text. A merge accepts only results that are signed with
//! one of the plan's worker keys.

mod check;
mod error;
mod pack;

use serde::{Deserialize, Serialize};

pub use error::PlanError;
pub use pack::pack;

use crate::canonical;

/// Version of the plan format. A plan with another version is rejected with an error.
pub const PLAN_SCHEMA: u32 = 1;
/// Largest text of a plan, in bytes.
pub const MAX_PLAN_BYTES: usize = 16 << 20;

/// Specifies what a fleet tunes, and when a result becomes a row (the config to launch for one problem on one device).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the format: [`PLAN_SCHEMA`].
    pub schema: u32,
    /// The package that declares the kernels.
    pub package: String,
    /// The version of `tune` that wrote the plan. Workers must have the same version.
    pub generator: String,
    /// When the plan was created, in seconds since 1970.
    pub created_unix_s: u64,
    /// When the plan expires, in seconds since 1970. From then on no merge accepts its results.
    pub expires_unix_s: u64,
    /// Number of distinct observers that must have proven a config before it becomes a row.
    pub replicas: u32,
    /// The criterion by which two observers are distinct.
    pub distinct: Distinct,
    /// Number of claims that all elements of the plan together can test. A claim says that a config is faster than its
    /// baseline. Each element corrects its confirmations for this number of tests.
    pub claims: u32,
    /// Number of searches of each problem. The searches differ in their seeds.
    pub shards: u32,
    /// Search settings of all elements.
    pub settings: Settings,
    /// The kinds of devices to tune for.
    pub kinds: Vec<Kind>,
    /// The kernels to tune, as they were when the plan was created.
    pub kernels: Vec<KernelRef>,
    /// The work. Each element is the work of one job on one device.
    pub elements: Vec<Element>,
    /// The public keys with which workers sign, as OpenSSH lines.
    pub worker_keys: Vec<String>,
    /// Identity of the plan that this one continues; `None` for a first plan.
    pub previous: Option<String>,
}

/// The criterion for distinct observers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distinct {
    /// Two observers are distinct if they have different devices. Two devices that both have a UUID are different if
    /// the UUIDs differ. Otherwise they are different if their hosts differ.
    Device,
    /// Two observers are distinct if they have different devices and different worker keys.
    Key,
}

/// Search settings of all elements of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Largest number of configs to try per kernel and problem; `None` for no limit.
    pub trials: Option<u64>,
    /// Time budget of an element, in nanoseconds; `None` for no limit.
    pub budget_ns: Option<u64>,
    /// Name of the search strategy.
    pub strategy: String,
    /// The cache regime of the measurements, `cold` or `hot`; `None` for the default of the device's backend.
    pub regime: Option<String>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// A kind of device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// The kind's name in reports and job files, as the user wrote it.
    pub name: String,
    /// The first one, two or three parts of `backend/arch/name`. A device is of this kind if its first parts are equal
    /// to these parts.
    pub device: String,
}

impl Kind {
    /// Whether a device (`backend/arch/name`) is of this kind. Parts are compared as a whole. The third part, the
    /// device's name, may contain slashes.
    pub fn covers(&self, device: &str) -> bool {
        let mut parts = device.splitn(3, '/');
        let mut wanted = self.device.splitn(3, '/');
        wanted.all(|part| parts.next() == Some(part))
    }
}

/// A kernel, as it was when the plan was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRef {
    /// Name of the kernel.
    pub name: String,
    /// Hash of the kernel's spec.
    pub spec: String,
    /// Hash of the kernel's expanded source.
    pub source: String,
}

/// The stage of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The element tries configs and confirms the best one.
    Search,
    /// The element races the winners of several searches in one session and confirms the best one.
    Final,
    /// The element confirms a winner of another device.
    Replicate,
}

/// The work of one job on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// The element's stage.
    pub stage: Stage,
    /// Index of the kind of device that the element needs, in [`Plan::kinds`].
    pub kind: usize,
    /// Which of the [`Plan::shards`] searches the element runs, from 0.
    pub shard: u32,
    /// The kernels and problems that the element tunes.
    pub tasks: Vec<TaskRef>,
}

/// A task: one kernel on one problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskRef {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Canonical texts of the configs to try; empty for the whole search space.
    pub configs: Vec<String>,
}

impl Element {
    /// The element's task for a kernel and a problem; `None` if the element does not have it.
    pub fn task(&self, kernel: &str, problem: &str) -> Option<&TaskRef> {
        let mut tasks = self.tasks.iter();
        tasks.find(|task| task.kernel == kernel && task.problem == problem)
    }
}

impl Plan {
    /// Reads a plan from its canonical text.
    ///
    /// # Errors
    /// The text is larger than [`MAX_PLAN_BYTES`], has another schema, is not canonical, or is not a valid plan.
    pub fn parse(text: &str) -> Result<Plan, PlanError> {
        if text.len() > MAX_PLAN_BYTES {
            return Err(PlanError::TooLarge { bytes: text.len() });
        }
        check::schema(text)?;
        let plan: Plan = canonical::from_text(text).map_err(|source| PlanError::Form {
            why: source.to_string(),
        })?;
        plan.check()?;
        Ok(plan)
    }

    /// The canonical text of the plan.
    ///
    /// # Errors
    /// The plan is invalid.
    pub fn to_text(&self) -> Result<String, PlanError> {
        self.check()?;
        let text = canonical::to_text(self).map_err(|source| PlanError::Form {
            why: source.to_string(),
        })?;
        if text.len() > MAX_PLAN_BYTES {
            return Err(PlanError::TooLarge { bytes: text.len() });
        }
        Ok(text)
    }

    /// The identity of the plan, which is the BLAKE3 hash of its canonical text as 64 hexadecimal digits.
    pub fn id(&self) -> String {
        // Serialising plain fields does not fail. If it failed, the empty text would not be the text of any plan.
        let text = canonical::to_text(self).unwrap_or_default();
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// The kernel with this name; `None` if the plan does not have it.
    pub fn kernel(&self, name: &str) -> Option<&KernelRef> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The element with this number, from 0; `None` if the plan does not have it.
    pub fn element(&self, number: u32) -> Option<&Element> {
        self.elements.get(usize::try_from(number).ok()?)
    }
}

#[cfg(test)]
mod tests;
