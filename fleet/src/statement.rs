//! Statements: what a worker says of one confirmed config, signed, so that a repository can keep it as evidence.

use std::collections::BTreeMap;

use kiln_cache::Winner;
use kiln_cache::record::Verdict;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::plan::Plan;
use crate::sign::{PrivateKey, SignError};
use crate::store::{ObjectStore, StoreError};
use crate::text::{is_hex, is_plain, is_plain_or_empty};
use crate::{canonical, object};

/// Version of statements. One with another version is refused.
pub const STATEMENT_SCHEMA: u32 = 1;
/// Largest statement, in bytes.
pub const MAX_STATEMENT_BYTES: usize = 64 << 10;

/// What a worker says of a config that it has confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Version of the form: [`STATEMENT_SCHEMA`].
    pub schema: u32,
    /// Identity of the plan.
    pub plan: String,
    /// Number of the element.
    pub element: u32,
    /// The attempt at the element, as in the headers of its segments.
    pub attempt: String,
    /// Identity of the journal, as 16 hexadecimal digits.
    pub journal: String,
    /// Which confirmation of the config.
    pub series: u64,
    /// The device, `backend/arch/name`.
    pub device: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Canonical text of the config.
    pub config: String,
    /// Symbol of the release entry: it contains the hashes of source, spec and config.
    pub symbol: String,
    /// Hash of the tuning key.
    pub key: String,
    /// Who measured: `host`, `device`, `uuid`, …
    pub observer: BTreeMap<String, String>,
    /// Baseline time over the config's time, in millionths.
    pub speedup_ppm: u64,
    /// Lower end of its 95 % interval, in millionths.
    pub low_ppm: u64,
    /// Upper end of its 95 % interval, in millionths.
    pub high_ppm: u64,
    /// Fresh processes that took part.
    pub processes: u32,
    /// Processes in which the config won.
    pub wins: u32,
}

/// Where a confirmation was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Identity of the plan.
    pub plan: String,
    /// Number of the element.
    pub element: u32,
    /// The attempt at the element.
    pub attempt: String,
    /// Identity of the journal.
    pub journal: u64,
    /// Which confirmation of the config.
    pub series: u64,
    /// Who measured.
    pub observer: BTreeMap<String, String>,
}

/// Why a statement was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StatementError {
    /// Its text is not that of a statement.
    #[error("not a statement: {why}\nhelp: fetch it again with `tune fleet merge`; do not edit it")]
    Form {
        /// What is wrong.
        why: String,
    },
    /// It has another schema.
    #[error(
        "the statement has schema {found}, this version knows {STATEMENT_SCHEMA}\nhelp: use the `tune` that wrote it"
    )]
    Schema {
        /// Its schema.
        found: u32,
    },
    /// A winner that is not proven has no statement.
    #[error(
        "{kernel} on {problem} was not proven faster: there is nothing to state\nhelp: only winners with a proven verdict have statements"
    )]
    NotProven {
        /// Name of the kernel.
        kernel: String,
        /// The problem.
        problem: String,
    },
    /// It could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// It could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Statement {
    /// The statement of a proven winner.
    ///
    /// # Errors
    /// A winner that is not proven.
    pub fn of(winner: &Winner, place: &Place) -> Result<Statement, StatementError> {
        let not_proven = || StatementError::NotProven {
            kernel: winner.kernel.clone(),
            problem: winner.problem.clone(),
        };
        let confirm = winner.confirm.ok_or_else(not_proven)?;
        let Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } = winner.verdict
        else {
            return Err(not_proven());
        };
        Ok(Statement {
            schema: STATEMENT_SCHEMA,
            plan: place.plan.clone(),
            element: place.element,
            attempt: place.attempt.clone(),
            journal: format!("{:016x}", place.journal),
            series: place.series,
            device: winner.device.to_string(),
            kernel: winner.kernel.clone(),
            problem: winner.problem.clone(),
            config: winner.config.clone(),
            symbol: winner.symbol.clone(),
            key: winner.key.to_string(),
            observer: place.observer.clone(),
            speedup_ppm,
            low_ppm,
            high_ppm,
            processes: confirm.processes,
            wins: confirm.wins,
        })
    }

    /// Its canonical text: what is signed and hashed.
    ///
    /// # Errors
    /// Content that no statement has.
    pub fn to_text(&self) -> Result<String, StatementError> {
        self.check()?;
        canonical::to_text(self).map_err(|source| StatementError::Form {
            why: source.to_string(),
        })
    }

    /// Reads a statement from its canonical text.
    ///
    /// # Errors
    /// Other text.
    pub fn parse(text: &str) -> Result<Statement, StatementError> {
        if text.len() > MAX_STATEMENT_BYTES {
            let why = format!("{} bytes, more than {MAX_STATEMENT_BYTES}", text.len());
            return Err(StatementError::Form { why });
        }
        let statement = canonical::from_text::<Statement>(text);
        let statement = statement.map_err(|source| StatementError::Form {
            why: source.to_string(),
        })?;
        statement.check()?;
        Ok(statement)
    }

    /// Signs it and puts it into a store; returns its name there.
    ///
    /// # Errors
    /// If it cannot be signed or stored.
    pub fn publish(
        &self,
        store: &dyn ObjectStore,
        key: &PrivateKey,
    ) -> Result<String, StatementError> {
        let text = self.to_text()?;
        let signature = key.sign(text.as_bytes())?;
        let object = object::statement(&self.plan, &object::name_of(text.as_bytes()));
        store.put(&object, text.as_bytes())?;
        store.put(&object::signature(&object), signature.as_bytes())?;
        Ok(object)
    }

    /// Whether it is of something that its element of a plan was given: a task, one of its configs, and a device of
    /// its kind.
    pub fn is_of(&self, plan: &Plan) -> bool {
        let Some(element) = plan.element(self.element) else {
            return false;
        };
        let kind = plan.kinds.get(element.kind);
        let task = element.task(&self.kernel, &self.problem);
        let given = |configs: &[String]| configs.is_empty() || configs.contains(&self.config);
        kind.is_some_and(|kind| kind.covers(&self.device))
            && task.is_some_and(|task| given(&task.configs))
    }

    fn check(&self) -> Result<(), StatementError> {
        let wrong = |why: &str| Err(StatementError::Form { why: why.into() });
        if self.schema != STATEMENT_SCHEMA {
            let found = self.schema;
            return Err(StatementError::Schema { found });
        }
        let hashes = [
            (&self.plan, 64),
            (&self.attempt, 32),
            (&self.journal, 16),
            (&self.key, 32),
        ];
        if !hashes.iter().all(|(text, digits)| is_hex(text, *digits)) {
            return wrong("a hash of it has another length, or other digits");
        }
        let named = [&self.device, &self.kernel, &self.symbol];
        let plain = named.into_iter().all(|text| is_plain(text))
            && [&self.problem, &self.config]
                .into_iter()
                .all(|text| is_plain_or_empty(text));
        let mut observer = self.observer.iter().flat_map(|(name, text)| [name, text]);
        if !plain || !observer.all(|text| is_plain(text)) {
            return wrong("a text of it is empty, overlong or unprintable");
        }
        let ordered = self.low_ppm <= self.speedup_ppm && self.speedup_ppm <= self.high_ppm;
        if !ordered || self.speedup_ppm <= 1_000_000 {
            return wrong("its speed-up is none, or outside its interval");
        }
        if self.processes == 0 || self.wins > self.processes {
            return wrong("it has more wins than processes");
        }
        Ok(())
    }
}
