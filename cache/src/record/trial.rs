//! Trials: one config, tried on one problem.

use std::fmt;

use kiln_spec::{DeviceKey, Hash};
use serde::{Deserialize, Serialize};

use super::as_text;
use super::error::RecordError;
use super::outcome::Outcome;
use super::text::plain_text;

/// Names one trial: a config under a tuning key (which holds kernel, problem, device and tools).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialId {
    /// Hash of the tuning key.
    pub key: Hash,
    /// Canonical text of the config, `A=1,B=x`.
    pub config: String,
}

impl TrialId {
    /// Hash of the config's text: its part of a store key.
    pub fn config_hash(&self) -> Hash {
        Hash::of("kiln.cache.config", self.config.as_bytes())
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.config, self.key)
    }
}

/// How good the evidence is that a config computes the right thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceGrade {
    /// Compared with the author's reference.
    Reference,
    /// Compared with the author's reference on small problems, and on the tuned one, which is too much work for the
    /// reference, with the baseline, which was compared with the reference in the same way.
    ReferenceInSmall,
    /// Compared with the entry of the same source that the author names as reference.
    ReferenceEntry,
    /// Compared with the same source on the cpu device.
    SameSourceOnCpu,
    /// Compared with the baseline on the same device: self-consistent, not verified.
    BaselineOnly,
}

impl ReferenceGrade {
    /// The reference of the outputs, as reports name it.
    pub fn in_words(self) -> &'static str {
        match self {
            ReferenceGrade::Reference => "compared with the plain-Rust reference",
            ReferenceGrade::ReferenceInSmall => {
                "compared with the plain-Rust reference on small problems, on this one with the baseline"
            }
            ReferenceGrade::ReferenceEntry => {
                "compared with the reference entry of the same source"
            }
            ReferenceGrade::SameSourceOnCpu => "compared with the same source on the cpu",
            ReferenceGrade::BaselineOnly => {
                "compared with the baseline only: self-consistent, not verified"
            }
        }
    }
}

impl fmt::Display for ReferenceGrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReferenceGrade::Reference => "reference",
            ReferenceGrade::ReferenceInSmall => "reference in small",
            ReferenceGrade::ReferenceEntry => "reference entry",
            ReferenceGrade::SameSourceOnCpu => "same source on cpu",
            ReferenceGrade::BaselineOnly => "baseline only",
        })
    }
}

/// The place in a run at which a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialPlace {
    /// Number of the run.
    pub run: u64,
    /// Which trial of the run it was, from 1.
    pub order: u64,
    /// When it ended, in nanoseconds since the run began.
    pub end_ns: u64,
}

/// One config tried on one problem, and the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Canonical text of the config.
    pub config: String,
    /// The device.
    #[serde(with = "as_text")]
    pub device: DeviceKey,
    /// Hash of the tuning key.
    pub key: Hash,
    /// The outcome.
    pub outcome: Outcome,
    /// Time spent compiling, in nanoseconds.
    pub compile_ns: u64,
    /// Time spent verifying, in nanoseconds.
    pub verify_ns: u64,
    /// Time spent measuring, in nanoseconds.
    pub measure_ns: u64,
    /// Which attempt this was, from 1.
    pub attempt: u32,
    /// The reference of the outputs.
    pub grade: ReferenceGrade,
    /// When it ended; `None` in records of earlier programs, and if nothing was launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<TrialPlace>,
}

impl Trial {
    /// The trial's name.
    pub fn id(&self) -> TrialId {
        TrialId {
            key: self.key,
            config: self.config.clone(),
        }
    }

    /// Whether it is final for its config: see [`Outcome::stands`].
    pub fn stands(&self) -> bool {
        self.outcome.stands(self.attempt)
    }

    /// Checks that the texts are printable and of sane length.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        plain_text("kernel", &self.kernel)?;
        plain_text("problem", &self.problem)?;
        plain_text("config", &self.config)
    }
}
