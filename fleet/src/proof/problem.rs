//! What is wrong with a proof.

use thiserror::Error;

use super::ProofError;
use crate::plan::PlanError;
use crate::sign::SignError;
use crate::statement::StatementError;

/// What is wrong with a proof.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofProblem {
    /// Its text is none of a proof.
    #[error(transparent)]
    Text(#[from] ProofError),
    /// It is of another kernel.
    #[error(
        "the proof is of kernel `{found}`, not `{expected}`\nhelp: write it again with `tune fleet merge`"
    )]
    Kernel {
        /// The kernel that it says.
        found: String,
        /// The kernel of the rows.
        expected: String,
    },
    /// A plan was refused.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The signature of a plan was refused.
    #[error("plan {id}: {source}")]
    PlanSignature {
        /// The plan's identity.
        id: String,
        /// Why.
        source: SignError,
    },
    /// A plan is signed by somebody who may not.
    #[error(
        "plan {id} is signed by {found}, which allowed_signers does not allow\nhelp: add the key to tuned/allowed_signers, or plan again with one that is there"
    )]
    PlanSigner {
        /// The plan's identity.
        id: String,
        /// The fingerprint of its key.
        found: String,
    },
    /// A statement was refused.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// The signature of a statement was refused.
    #[error("statement of {kernel} on {problem}: {source}")]
    StatementSignature {
        /// Its kernel.
        kernel: String,
        /// Its problem.
        problem: String,
        /// Why.
        source: SignError,
    },
    /// A statement is signed by a key that is not its plan's.
    #[error(
        "statement of {kernel} on {problem}: signed by {found}, which is not a worker key of its plan {plan}\nhelp: write the proof again with `tune fleet merge`"
    )]
    StatementSigner {
        /// Its kernel.
        kernel: String,
        /// Its problem.
        problem: String,
        /// The fingerprint of its key.
        found: String,
        /// Its plan.
        plan: String,
    },
    /// A statement's plan is not among the accepted plans of the proof.
    #[error(
        "statement of {kernel} on {problem}: the proof has no accepted plan {plan}\nhelp: write the proof again with `tune fleet merge`"
    )]
    NoPlan {
        /// Its kernel.
        kernel: String,
        /// Its problem.
        problem: String,
        /// Its plan.
        plan: String,
    },
    /// A statement is of something that its element was not given.
    #[error(
        "statement of {kernel} on {problem}: element {element} of its plan was not given that\nhelp: write the proof again with `tune fleet merge`"
    )]
    OtherTask {
        /// Its kernel.
        kernel: String,
        /// Its problem.
        problem: String,
        /// Its element.
        element: u32,
    },
    /// Too few distinct observers have proven a row.
    #[error(
        "{kernel} on {problem} ({device}): {have} distinct observers have proven {config}, not {wanted}\nhelp: replicate it with `tune fleet merge --next`, or remove the row"
    )]
    TooFew {
        /// The kernel.
        kernel: String,
        /// The row's problem.
        problem: String,
        /// The row's device.
        device: String,
        /// The row's config.
        config: String,
        /// Number of distinct observers.
        have: usize,
        /// Number wanted.
        wanted: usize,
    },
}
