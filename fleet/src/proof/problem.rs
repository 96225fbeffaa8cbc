//! A problem that the check of a proof found.

use thiserror::Error;

use super::ProofError;
use crate::plan::PlanError;
use crate::sign::SignError;
use crate::statement::StatementError;

/// A problem that the check of a proof found.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofProblem {
    /// The text does not have the form of a proof.
    #[error(transparent)]
    Text(#[from] ProofError),
    /// The proof is for another kernel.
    #[error(
        "the proof is for kernel `{found}`, but its rows belong to kernel `{expected}`\n\
         help: write the proof again with `tune fleet merge`"
    )]
    Kernel {
        /// Name of the kernel in the proof.
        found: String,
        /// Name of the kernel that the rows belong to.
        expected: String,
    },
    /// A plan is invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The signature of a plan is invalid.
    #[error("plan {id}: {source}")]
    PlanSignature {
        /// Identity of the plan.
        id: String,
        /// Why the signature is invalid.
        source: SignError,
    },
    /// A plan is signed with a key that `allowed_signers` does not allow.
    #[error(
        "plan {id} is signed by {found}, which allowed_signers does not allow\n\
         help: add the key to tuned/allowed_signers, or sign a new plan with a key that it allows"
    )]
    PlanSigner {
        /// Identity of the plan.
        id: String,
        /// Fingerprint of the key that signed the plan.
        found: String,
    },
    /// A statement is invalid.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// The signature of a statement is invalid.
    #[error("statement about {kernel} on {problem}: {source}")]
    StatementSignature {
        /// Name of the statement's kernel.
        kernel: String,
        /// The statement's problem.
        problem: String,
        /// Why the signature is invalid.
        source: SignError,
    },
    /// A statement is signed with a key that is not a worker key of its plan.
    #[error(
        "statement about {kernel} on {problem}: it is signed by {found}, which is not a worker key of its plan \
         {plan}\n\
         help: write the proof again with `tune fleet merge`"
    )]
    StatementSigner {
        /// Name of the statement's kernel.
        kernel: String,
        /// The statement's problem.
        problem: String,
        /// Fingerprint of the key that signed the statement.
        found: String,
        /// Identity of the statement's plan.
        plan: String,
    },
    /// The plan of a statement is not among the valid plans of the proof.
    #[error(
        "statement about {kernel} on {problem}: the proof has no accepted plan {plan}\n\
         help: write the proof again with `tune fleet merge`"
    )]
    NoPlan {
        /// Name of the statement's kernel.
        kernel: String,
        /// The statement's problem.
        problem: String,
        /// Identity of the statement's plan.
        plan: String,
    },
    /// A statement is about a task or config that its element does not have.
    #[error(
        "statement about {kernel} on {problem}: the plan does not assign this task or config to element {element}\n\
         help: write the proof again with `tune fleet merge`"
    )]
    OtherTask {
        /// Name of the statement's kernel.
        kernel: String,
        /// The statement's problem.
        problem: String,
        /// Number of the statement's element.
        element: u32,
    },
    /// Too few distinct observers have proven a row.
    #[error(
        "{kernel} on {problem} ({device}): {have} distinct observers have proven {config}, but {wanted} are \
         required\n\
         help: replicate the proof with `tune fleet merge --next`, or remove the row"
    )]
    TooFew {
        /// Name of the kernel.
        kernel: String,
        /// The row's problem.
        problem: String,
        /// The row's device.
        device: String,
        /// The row's config.
        config: String,
        /// Number of distinct observers that have proven the row.
        have: usize,
        /// Number of distinct observers that is required.
        wanted: usize,
    },
}
