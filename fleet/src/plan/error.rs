//! Why a plan was rejected.

use thiserror::Error;

use super::{MAX_PLAN_BYTES, PLAN_SCHEMA};
use crate::sign::SignError;
use crate::text::MAX_TEXT;

/// Why a plan was rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan has another schema than this version reads.
    #[error(
        "the plan has schema {found}, but this version reads schema {PLAN_SCHEMA}\n\
         help: use the `tune` that wrote it, or plan again with `tune fleet plan`"
    )]
    Schema {
        /// The plan's schema.
        found: u64,
    },
    /// The text is larger than [`MAX_PLAN_BYTES`].
    #[error(
        "the plan has {bytes} bytes, but the maximum is {MAX_PLAN_BYTES}\n\
         help: split it with `tune fleet plan --problem`"
    )]
    TooLarge {
        /// Length of the text, in bytes.
        bytes: usize,
    },
    /// The text is not the canonical text of a plan.
    #[error(
        "not a plan: {why}\nhelp: a plan is signed as `tune fleet plan` writes it; do not edit it, plan again"
    )]
    Form {
        /// Why the text is not a plan.
        why: String,
    },
    /// A text field is empty, too long or unprintable.
    #[error(
        "{field} of the plan is not printable text of 1 to {MAX_TEXT} bytes (it has {bytes} bytes)\nhelp: plan again with `tune fleet plan`"
    )]
    Text {
        /// Name of the field.
        field: &'static str,
        /// Length of the field's text, in bytes.
        bytes: usize,
    },
    /// A number is outside its valid range.
    #[error(
        "{field} of the plan is {value}, not {low} to {high}\nhelp: plan again with `tune fleet plan`"
    )]
    Range {
        /// Name of the field.
        field: &'static str,
        /// The field's value.
        value: u64,
        /// The smallest valid value.
        low: u64,
        /// The largest valid value.
        high: u64,
    },
    /// A hash has the wrong length, or is not hexadecimal.
    #[error(
        "{field} of the plan is `{text}`, not {digits} hexadecimal digits\nhelp: plan again with `tune fleet plan`"
    )]
    Hash {
        /// Name of the field.
        field: &'static str,
        /// The field's text, cut after 80 characters.
        text: String,
        /// The number of digits that the hash must have.
        digits: usize,
    },
    /// A task is about a kernel that the plan does not list.
    #[error(
        "element {element} of the plan tunes `{kernel}`, which is not a kernel of the plan\n\
         help: plan again with `tune fleet plan`"
    )]
    UnknownKernel {
        /// Number of the element.
        element: usize,
        /// Name of the kernel.
        kernel: String,
    },
    /// Two entries of the plan have the same name.
    #[error("the plan has {what} `{name}` twice\nhelp: plan again with `tune fleet plan`")]
    Twice {
        /// The kind of entry, for example "the kernel".
        what: &'static str,
        /// The name that occurs twice.
        name: String,
    },
    /// A worker key is invalid.
    #[error("worker key {number} of the plan: {source}")]
    WorkerKey {
        /// Number of the key in the plan, from 1.
        number: usize,
        /// Why the key is invalid.
        source: SignError,
    },
}
