//! The file `tuned/KERNEL.proof`, which has the signed statements that prove a kernel's rows (a row is the config to
//! launch for one problem on one device). Builds do not read it. A check in CI reads it, and needs neither the store
//! nor a device.
//!
//! ```text
//! kiln proof 1
//! kernel gemm
//! plan {…}
//! signature "-----BEGIN SSH SIGNATURE-----\n…"
//! statement {…}
//! signature "…"
//! ```
//! Plans and statements are canonical JSON. Each is followed by its signature as a JSON string. Plans come before
//! statements, and both are sorted by their text. A person signs plans. Statements are signed with the worker keys of
//! their plans.

mod check;
mod problem;

use std::collections::BTreeMap;

use thiserror::Error;

pub use check::{RowClaim, check};
pub use problem::ProofProblem;

use crate::collect::{SignedPlan, SignedStatement};
use crate::plan::{Plan, PlanError};
use crate::statement::{Statement, StatementError};

/// The first line of a proof.
const FIRST_LINE: &str = "kiln proof 1";
/// Largest proof that is read, in bytes.
pub const MAX_PROOF_BYTES: usize = 64 << 20;

/// The signed statements that prove a kernel's rows, and their signed plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    kernel: String,
    /// The signatures of plans. The key is the plan's text without its final line feed.
    plans: BTreeMap<String, String>,
    /// The signatures of statements. The key is the statement's text without its final line feed.
    statements: BTreeMap<String, String>,
}

/// Why a text is not a proof.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The text is larger than [`MAX_PROOF_BYTES`].
    #[error(
        "the proof has {bytes} bytes, but the maximum is {MAX_PROOF_BYTES}\n\
         help: write the proof again with `tune fleet merge`"
    )]
    TooLarge {
        /// Length of the text, in bytes.
        bytes: usize,
    },
    /// A line has the wrong form.
    #[error(
        "line {line} of the proof is not `{expected}`\n\
         help: do not edit proofs: write the proof again with `tune fleet merge`"
    )]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// The form that the line must have.
        expected: &'static str,
    },
    /// A plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A statement is invalid.
    #[error(transparent)]
    Statement(#[from] StatementError),
}

impl Proof {
    /// Creates the proof of a kernel without plans and statements.
    pub fn new(kernel: &str) -> Proof {
        Proof {
            kernel: kernel.into(),
            plans: BTreeMap::new(),
            statements: BTreeMap::new(),
        }
    }

    /// Creates the proof of a kernel's rows from the statements about these rows and the plans of these statements. A
    /// statement whose plan is not in `plans` is left out.
    ///
    /// # Errors
    /// A statement or its plan is invalid.
    pub fn of_rows(
        kernel: &str,
        rows: &[RowClaim],
        plans: &[SignedPlan],
        statements: &[SignedStatement],
    ) -> Result<Proof, ProofError> {
        let mut proof = Proof::new(kernel);
        for signed in statements {
            let of_row = rows.iter().any(|row| row.is_of(kernel, &signed.statement));
            let of_plan = |plan: &&SignedPlan| plan.plan.id() == signed.statement.plan;
            if let Some(plan) = plans.iter().find(of_plan).filter(|_| of_row) {
                proof.add_plan(&plan.plan, &plan.signature)?;
                proof.add_statement(&signed.statement, &signed.signature)?;
            }
        }
        Ok(proof)
    }

    /// Adds a plan and its signature by a person.
    ///
    /// # Errors
    /// The plan is invalid.
    pub fn add_plan(&mut self, plan: &Plan, signature: &str) -> Result<(), ProofError> {
        let text = plan.to_text()?;
        self.plans.insert(text.trim_end().into(), signature.into());
        Ok(())
    }

    /// Adds a statement and its signature by a worker.
    ///
    /// # Errors
    /// The statement is invalid.
    pub fn add_statement(
        &mut self,
        statement: &Statement,
        signature: &str,
    ) -> Result<(), ProofError> {
        let text = statement.to_text()?;
        self.statements
            .insert(text.trim_end().into(), signature.into());
        Ok(())
    }

    /// Adds those statements of another proof that are about `rows`, and their plans. In this way, rows of earlier
    /// plans keep their evidence.
    ///
    /// # Errors
    /// A statement or its plan is invalid.
    pub fn keep(&mut self, other: &Proof, rows: &[RowClaim]) -> Result<(), ProofError> {
        for (text, signature) in &other.statements {
            let statement = Statement::parse(&format!("{text}\n"))?;
            if !rows.iter().any(|row| row.is_of(&self.kernel, &statement)) {
                continue;
            }
            self.statements.insert(text.clone(), signature.clone());
            for (text, signature) in &other.plans {
                if Plan::parse(&format!("{text}\n"))?.id() == statement.plan {
                    self.plans.insert(text.clone(), signature.clone());
                }
            }
        }
        Ok(())
    }

    /// Whether the proof has no statements.
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The text of the proof.
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nkernel {}\n", self.kernel);
        for (word, signed) in [("plan", &self.plans), ("statement", &self.statements)] {
            for (content, signature) in signed {
                let signature = serde_json::Value::from(signature.as_str());
                text.push_str(&format!("{word} {content}\nsignature {signature}\n"));
            }
        }
        text
    }

    /// Reads a proof. Signatures and contents are not verified here; [`check`] does that.
    ///
    /// # Errors
    /// The text does not have the form of a proof.
    pub fn parse(text: &str) -> Result<Proof, ProofError> {
        if text.len() > MAX_PROOF_BYTES {
            return Err(ProofError::TooLarge { bytes: text.len() });
        }
        let mut lines = text.lines().enumerate();
        let wrong = |line: usize, expected: &'static str| ProofError::Line {
            line: line + 1,
            expected,
        };
        if lines.next().map(|(_, line)| line) != Some(FIRST_LINE) {
            return Err(wrong(0, FIRST_LINE));
        }
        let kernel = lines
            .next()
            .and_then(|(_, line)| line.strip_prefix("kernel "));
        let mut proof = Proof::new(kernel.ok_or_else(|| wrong(1, "kernel NAME"))?);
        while let Some((number, line)) = lines.next() {
            let signature = lines
                .next()
                .and_then(|(_, line)| line.strip_prefix("signature "));
            let signature = signature.and_then(|text| serde_json::from_str::<String>(text).ok());
            let signature = signature.ok_or_else(|| wrong(number + 1, "signature \"…\""))?;
            let (to, content) = match line.split_once(' ') {
                Some(("plan", content)) => (&mut proof.plans, content),
                Some(("statement", content)) => (&mut proof.statements, content),
                _ => return Err(wrong(number, "plan {…}` or `statement {…}")),
            };
            to.insert(content.into(), signature);
        }
        Ok(proof)
    }
}

#[cfg(test)]
mod tests;
