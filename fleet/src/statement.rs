//! Statements. A statement is a signed claim of a worker that it has confirmed one config. A repository keeps
//! statements as evidence for its rows.

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

/// Version of the statement format. A statement with another version is rejected with an error.
pub const STATEMENT_SCHEMA: u32 = 1;
/// Largest statement, in bytes.
pub const MAX_STATEMENT_BYTES: usize = 64 << 10;

/// A worker's claim that it has confirmed a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Version of the format: [`STATEMENT_SCHEMA`].
    pub schema: u32,
    /// Identity of the plan.
    pub plan: String,
    /// Number of the plan's element that the worker ran.
    pub element: u32,
    /// The attempt at the element, as in the headers of its segments: 32 hexadecimal digits.
    pub attempt: String,
    /// Identity of the journal, as 16 hexadecimal digits.
    pub journal: String,
    /// Number of the confirmation, if a config was confirmed several times.
    pub series: u64,
    /// The device, `backend/arch/name`.
    pub device: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Canonical text of the config.
    pub config: String,
    /// Symbol of the kernel's entry function in a release build. The symbol contains a hash that covers the source, the
    /// target, the entry and the config.
    pub symbol: String,
    /// Hash of the tuning key, as 32 hexadecimal digits.
    pub key: String,
    /// The observer: properties of the machine that measured, such as `host`, `device` and `uuid`.
    pub observer: BTreeMap<String, String>,
    /// Baseline time divided by the config's time, in millionths.
    pub speedup_ppm: u64,
    /// Lower end of the speed-up's 95 % interval, in millionths.
    pub low_ppm: u64,
    /// Upper end of the speed-up's 95 % interval, in millionths.
    pub high_ppm: u64,
    /// Number of fresh processes of the confirmation.
    pub processes: u32,
    /// Number of these processes in which the config was faster by more than the smallest relevant effect.
    pub wins: u32,
}

/// Where and by whom a config was confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Identity of the plan.
    pub plan: String,
    /// Number of the plan's element.
    pub element: u32,
    /// The attempt at the element.
    pub attempt: String,
    /// Identity of the journal.
    pub journal: u64,
    /// Number of the confirmation, if a config was confirmed several times.
    pub series: u64,
    /// The observer: properties of the machine that measured.
    pub observer: BTreeMap<String, String>,
}

/// Why a statement was rejected or could not be created.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The text is not a valid statement.
    #[error("not a statement: {why}\nhelp: fetch it again with `tune fleet merge`; do not edit it")]
    Form {
        /// What is wrong.
        why: String,
    },
    /// The statement has another schema than this version reads.
    #[error(
        "the statement has schema {found}, but this version reads schema {STATEMENT_SCHEMA}\n\
         help: use the `tune` that wrote it"
    )]
    Schema {
        /// The statement's schema.
        found: u32,
    },
    /// The winner is not proven, so it has no statement.
    #[error(
        "{kernel} on {problem} was not proven faster, so there is nothing to state\n\
         help: only winners with a proven verdict have statements"
    )]
    NotProven {
        /// Name of the kernel.
        kernel: String,
        /// Canonical text of the problem.
        problem: String,
    },
    /// The statement could not be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The statement could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Statement {
    /// Creates the statement of a proven winner that was confirmed at `place`.
    ///
    /// # Errors
    /// The winner is not proven.
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

    /// The canonical text of the statement. Signatures and hashes are computed from this text.
    ///
    /// # Errors
    /// The statement is invalid.
    pub fn to_text(&self) -> Result<String, StatementError> {
        self.check()?;
        canonical::to_text(self).map_err(|source| StatementError::Form {
            why: source.to_string(),
        })
    }

    /// Reads a statement from its canonical text.
    ///
    /// # Errors
    /// The text is not the canonical text of a valid statement.
    pub fn parse(text: &str) -> Result<Statement, StatementError> {
        if text.len() > MAX_STATEMENT_BYTES {
            let why = format!(
                "it has {} bytes, but the maximum is {MAX_STATEMENT_BYTES}",
                text.len()
            );
            return Err(StatementError::Form { why });
        }
        let statement = canonical::from_text::<Statement>(text);
        let statement = statement.map_err(|source| StatementError::Form {
            why: source.to_string(),
        })?;
        statement.check()?;
        Ok(statement)
    }

    /// Signs the statement, writes it and its signature to a store, and returns its name there.
    ///
    /// # Errors
    /// The statement cannot be signed or stored.
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

    /// Whether the statement matches its element of `plan`: the element has a task of this kernel and problem, the task
    /// allows this config, and the device is of the element's kind.
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
            return wrong(
                "one of its hashes has the wrong length, or characters that are not hexadecimal digits",
            );
        }
        let named = [&self.device, &self.kernel, &self.symbol];
        let plain = named.into_iter().all(|text| is_plain(text))
            && [&self.problem, &self.config]
                .into_iter()
                .all(|text| is_plain_or_empty(text));
        let mut observer = self.observer.iter().flat_map(|(name, text)| [name, text]);
        if !plain || !observer.all(|text| is_plain(text)) {
            return wrong("one of its texts is empty, too long or unprintable");
        }
        let ordered = self.low_ppm <= self.speedup_ppm && self.speedup_ppm <= self.high_ppm;
        if !ordered || self.speedup_ppm <= 1_000_000 {
            return wrong("its speed-up is not above 1, or is outside its interval");
        }
        if self.processes == 0 || self.wins > self.processes {
            return wrong("it has no processes, or more wins than processes");
        }
        Ok(())
    }
}
