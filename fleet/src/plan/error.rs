//! Why a plan was refused.

use thiserror::Error;

use super::{MAX_PLAN_BYTES, PLAN_SCHEMA};
use crate::sign::SignError;
use crate::text::MAX_TEXT;

/// Why a plan was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan has another schema.
    #[error(
        "the plan has schema {found}, this version knows {PLAN_SCHEMA}\nhelp: use the `tune` that wrote it, or plan again with `tune fleet plan`"
    )]
    Schema {
        /// Its schema.
        found: u64,
    },
    /// The text is larger than any that is read.
    #[error(
        "the plan has {bytes} bytes, more than the {MAX_PLAN_BYTES} that are read\nhelp: split it with `tune fleet plan --problem`"
    )]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// The text is not the canonical text of a plan.
    #[error(
        "not a plan: {why}\nhelp: a plan is signed as `tune fleet plan` writes it; do not edit it, plan again"
    )]
    Form {
        /// What differs.
        why: String,
    },
    /// A text is empty, overlong or unprintable.
    #[error(
        "{field} of the plan is not printable text of 1 to {MAX_TEXT} bytes (it has {bytes} bytes)\nhelp: plan again with `tune fleet plan`"
    )]
    Text {
        /// The field.
        field: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A number is out of its range.
    #[error(
        "{field} of the plan is {value}, not {low} to {high}\nhelp: plan again with `tune fleet plan`"
    )]
    Range {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The least allowed.
        low: u64,
        /// The most allowed.
        high: u64,
    },
    /// A hash has another length, or other digits.
    #[error(
        "{field} of the plan is `{text}`, not {digits} hexadecimal digits\nhelp: plan again with `tune fleet plan`"
    )]
    Hash {
        /// The field.
        field: &'static str,
        /// Its text.
        text: String,
        /// The digits that it must have.
        digits: usize,
    },
    /// A task names a kernel that the plan does not list.
    #[error(
        "element {element} of the plan tunes `{kernel}`, which is not one of its kernels\nhelp: plan again with `tune fleet plan`"
    )]
    UnknownKernel {
        /// Number of the element.
        element: usize,
        /// The kernel.
        kernel: String,
    },
    /// Two entries that must differ are the same.
    #[error("the plan has {what} `{name}` twice\nhelp: plan again with `tune fleet plan`")]
    Twice {
        /// What they are.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// A worker key was refused.
    #[error("worker key {number} of the plan: {source}")]
    WorkerKey {
        /// Which key, from 1.
        number: usize,
        /// Why it was refused.
        source: SignError,
    },
}
