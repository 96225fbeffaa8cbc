//! Trials. A trial is one config that was tried on one problem, and its outcome.

use std::fmt;

use kiln_spec::{DeviceKey, Hash};
use serde::{Deserialize, Serialize};

use super::as_text;
use super::error::RecordError;
use super::outcome::Outcome;
use super::text::plain_text;

/// Identifies a trial: a config under a tuning key. The key includes kernel, problem, device and tools.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialId {
    /// Hash of the tuning key.
    pub key: Hash,
    /// Canonical text of the config, for example `A=1,B=x`.
    pub config: String,
}

impl TrialId {
    /// Hash of the config's text, which is a part of the trial's key in the store.
    pub fn config_hash(&self) -> Hash {
        Hash::of("kiln.cache.config", self.config.as_bytes())
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.config, self.key)
    }
}

/// How strong the evidence is that a config computes the right outputs, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceGrade {
    /// The outputs were compared with the author's reference.
    Reference,
    /// The tuned problem is too large for the author's reference. On small problems, the outputs of the config and of
    /// the baseline were compared with the reference. On the tuned problem, the outputs of the config were compared
    /// with those of the baseline.
    ReferenceInSmall,
    /// The outputs were compared with those of the kernel function of the same source that the author specifies as
    /// reference.
    ReferenceEntry,
    /// The outputs were compared with those of the same source on the cpu device.
    SameSourceOnCpu,
    /// The outputs were compared only with those of the baseline on the same device, so they are self-consistent but
    /// not verified.
    BaselineOnly,
}

impl ReferenceGrade {
    /// The grade of the weakest evidence.
    pub(crate) fn weakest() -> ReferenceGrade {
        ReferenceGrade::BaselineOnly
    }

    /// Whether the evidence is at least as strong as that of another grade.
    pub fn is_as_strong_as(self, other: ReferenceGrade) -> bool {
        self <= other
    }

    /// The description of the grade in reports.
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

/// The position of a trial in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialPlace {
    /// Number of the run.
    pub run: u64,
    /// Number of the trial in the run, from 1.
    pub order: u64,
    /// When the trial ended, in nanoseconds since the run began.
    pub end_ns: u64,
}

/// A config that was tried on a problem, and the outcome.
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
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// How the outputs were verified.
    pub grade: ReferenceGrade,
    /// Digest of what the plain-Rust reference computed when the outputs were compared with it. `None` if they were not,
    /// or if the trial was recorded by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Hash>,
    /// The position of the trial in its run; `None` if the trial was recorded by an earlier version, copied from
    /// another cache, or made by a check that only compiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<TrialPlace>,
}

impl Trial {
    /// The identity of the trial.
    pub fn id(&self) -> TrialId {
        TrialId {
            key: self.key,
            config: self.config.clone(),
        }
    }

    /// Whether the outcome is final for the config; see [`Outcome::stands`].
    pub fn stands(&self) -> bool {
        self.outcome.stands(self.attempt)
    }

    /// Whether the outcome is final for a search that verifies outputs with this grade. An outcome that follows from a
    /// comparison with weaker evidence is not final, because a better reference may show that right outputs are wrong,
    /// or that wrong outputs are right. `reference` is the digest of what the reference computes now, if there is one.
    pub fn stands_for(&self, grade: ReferenceGrade, reference: Option<Hash>) -> bool {
        let compared = self.outcome.depends_on_reference();
        let same = is_same_reference(self.reference, reference);
        self.stands() && (!compared || (same && self.grade.is_as_strong_as(grade)))
    }

    /// Checks that the texts are printable and not too long.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        plain_text("kernel", &self.kernel)?;
        plain_text("problem", &self.problem)?;
        plain_text("config", &self.config)
    }
}

/// Whether outputs that were compared with a reference would be compared with the same one now: with one that has the
/// same digest. If there is none now, there is nothing to compare.
pub(super) fn is_same_reference(then: Option<Hash>, now: Option<Hash>) -> bool {
    now.is_none() || then == now
}
