//! Plans: what a fleet tunes, and how a result of it becomes a row.
//!
//! A plan is canonical JSON, and its identity the hash of that text. It names the only keys whose results count.

mod check;
mod error;
mod pack;

use serde::{Deserialize, Serialize};

pub use error::PlanError;
pub use pack::pack;

use crate::canonical;

/// Version of plans. One with another version is refused.
pub const PLAN_SCHEMA: u32 = 1;
/// Largest text of a plan, in bytes.
pub const MAX_PLAN_BYTES: usize = 16 << 20;

/// What a fleet tunes, and how a result of it becomes a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the form: [`PLAN_SCHEMA`].
    pub schema: u32,
    /// The package that declares the kernels.
    pub package: String,
    /// Version of `tune`.
    pub generator: String,
    /// When it was made, in seconds since 1970.
    pub created_unix_s: u64,
    /// When its worker keys expire, in seconds since 1970: from then on no merge takes in their results.
    pub expires_unix_s: u64,
    /// Number of distinct observers that must have proven a row.
    pub replicas: u32,
    /// What makes two observers distinct.
    pub distinct: Distinct,
    /// Number of claims that the plan's elements test together, and that each of them must correct for.
    pub claims: u32,
    /// Number of searches of each problem. They differ in their seeds.
    pub shards: u32,
    /// How every element searches.
    pub settings: Settings,
    /// The kinds of devices.
    pub kinds: Vec<Kind>,
    /// The kernels, as they were when the plan was made.
    pub kernels: Vec<KernelRef>,
    /// The work, in pieces that one device does at a time.
    pub elements: Vec<Element>,
    /// OpenSSH public keys of the workers.
    pub worker_keys: Vec<String>,
    /// Identity of the plan whose results this one continues.
    pub previous: Option<String>,
}

/// What makes two observers distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distinct {
    /// Another device: another uuid, or another host if not both have a uuid.
    Device,
    /// Another device and another worker key.
    Key,
}

/// How every element searches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Configs per kernel and problem; `None` for no limit.
    pub trials: Option<u64>,
    /// Time of an element, in nanoseconds; `None` for no limit.
    pub budget_ns: Option<u64>,
    /// The strategy's name.
    pub strategy: String,
    /// The regime, if it is not the kernel's own.
    pub regime: Option<String>,
    /// Seed of every random choice.
    pub seed: u64,
}

/// A kind of devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// Its name in reports and job files, as the user wrote it.
    pub name: String,
    /// The start of `backend/arch/name`: a device is of this kind if its first parts are these.
    pub device: String,
}

impl Kind {
    /// Whether a device, `backend/arch/name`, is of this kind. Parts are compared as a whole, and a name may have
    /// slashes.
    pub fn covers(&self, device: &str) -> bool {
        let mut parts = device.splitn(3, '/');
        let mut wanted = self.device.splitn(3, '/');
        wanted.all(|part| parts.next() == Some(part))
    }
}

/// A kernel, as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRef {
    /// Its name.
    pub name: String,
    /// Hash of its spec.
    pub spec: String,
    /// Hash of its expanded source.
    pub source: String,
}

/// The stages of a plan's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Configs are tried, and the best is confirmed.
    Search,
    /// The winners of several searches play off in one session, and the best is confirmed.
    Final,
    /// A winner is confirmed on another device.
    Replicate,
}

/// A piece of work for one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Its stage.
    pub stage: Stage,
    /// Index of the kind of device that it needs.
    pub kind: usize,
    /// Which shard of the search it does, from 0.
    pub shard: u32,
    /// What it tunes.
    pub tasks: Vec<TaskRef>,
}

/// A kernel on a problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskRef {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// The only configs to try; empty for all of the space.
    pub configs: Vec<String>,
}

impl Element {
    /// The task of a kernel on a problem, if it is one of the element's.
    pub fn task(&self, kernel: &str, problem: &str) -> Option<&TaskRef> {
        let mut tasks = self.tasks.iter();
        tasks.find(|task| task.kernel == kernel && task.problem == problem)
    }
}

impl Plan {
    /// Reads a plan from its canonical text.
    ///
    /// # Errors
    /// Another schema, text that is not canonical, or content that no plan has: see [`PlanError`].
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

    /// The canonical text.
    ///
    /// # Errors
    /// If the content is none that [`Plan::parse`] takes.
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

    /// The identity: the BLAKE3 hash of the canonical text, as 64 hexadecimal digits.
    pub fn id(&self) -> String {
        // Serialising plain fields does not fail; if it ever did, the empty text would be no plan's.
        let text = canonical::to_text(self).unwrap_or_default();
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<&KernelRef> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// An element by its number.
    pub fn element(&self, number: u32) -> Option<&Element> {
        self.elements.get(usize::try_from(number).ok()?)
    }
}

#[cfg(test)]
mod tests;
