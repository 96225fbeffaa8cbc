//! Why a baked table cannot be used.

use thiserror::Error;

use crate::config::validity::Invalid;
use crate::text::TextError;

/// Why a baked table (or the index of them) cannot be read, written or used.
///
/// Lines count from 1. Messages hold no more of the file than the offending token, cut at 64
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BakedError {
    /// The file is larger than any table that `tune` writes.
    #[error(
        "the table has {bytes} bytes, more than the {limit} that are read\nhelp: restore the file, or delete it and run `tune bake`"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// The file is not text.
    #[error(
        "line {line}: not UTF-8 text\nhelp: restore the file, or delete it and run `tune bake`"
    )]
    NotUtf8 {
        /// Line of the first bad byte.
        line: usize,
    },
    /// The file is not TOML.
    #[error(
        "line {line}: {message}\nhelp: if a merge did this, run `tune bake` on the device of that section"
    )]
    Syntax {
        /// Line of the error.
        line: usize,
        /// What the TOML parser says.
        message: String,
    },
    /// The file was written by a newer Kiln.
    #[error(
        "the table has format {found}, but this Kiln reads up to {known}\nhelp: update kiln and kiln-tuner"
    )]
    Newer {
        /// The file's format.
        found: i64,
        /// The newest known one.
        known: i64,
    },
    /// A key that means nothing.
    #[error("line {line}: unknown key `{key}`\nhelp: {help}")]
    UnknownKey {
        /// Its line.
        line: usize,
        /// The key.
        key: String,
        /// The nearest key, or all of them.
        help: String,
    },
    /// A key that must be there.
    #[error("line {line}: no `{key}`")]
    MissingKey {
        /// Line of the row or table that lacks it.
        line: usize,
        /// The key.
        key: &'static str,
    },
    /// A value of the wrong kind.
    #[error("line {line}: `{key}` takes {expected}")]
    Kind {
        /// Its line.
        line: usize,
        /// The key.
        key: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// A value of the right kind that is none of those allowed.
    #[error("line {line}: `{key}` is `{token}`, which is not {expected}")]
    Value {
        /// Its line; 0 where a row was not read from a file.
        line: usize,
        /// The key.
        key: &'static str,
        /// The value.
        token: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A row in the section of another device.
    #[error(
        "line {line}: a row of `{device}` in the section of `{section}`\nhelp: move the line to its section, or run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Section {
        /// The row's line.
        line: usize,
        /// The row's device.
        device: String,
        /// The section's device.
        section: String,
    },
    /// Two rows for one device and problem.
    #[error(
        "line {line}: a second row of `{device}` for {problem}\nhelp: delete one of the lines, or run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Duplicate {
        /// Line of the second.
        line: usize,
        /// The device.
        device: String,
        /// The problem.
        problem: String,
    },
    /// A speed-up where there must be none, or none where there must be one.
    #[error("line {line}: {message}")]
    Speedup {
        /// The row's line; 0 where it was not read from a file.
        line: usize,
        /// What is wrong with it.
        message: &'static str,
    },
    /// The table of another kernel.
    #[error("the table is of kernel `{found}`, not `{expected}`")]
    Kernel {
        /// The kernel it names.
        found: String,
        /// The kernel asked for.
        expected: String,
    },
    /// A row whose text is not a config or problem of the kernel although its spec is unchanged.
    #[error(
        "row of `{device}` for {problem}: {error}\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Text {
        /// The row's device.
        device: String,
        /// The row's problem.
        problem: String,
        /// What is wrong.
        error: Box<TextError>,
    },
    /// A row whose config is not in the kernel's search space although its spec is unchanged.
    #[error(
        "row of `{device}` for {problem}: {why}\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Outside {
        /// The row's device.
        device: String,
        /// The row's problem.
        problem: String,
        /// Why it is not.
        why: Box<Invalid>,
    },
    /// A row whose stored field is not what the spec gives.
    #[error(
        "row of `{device}` for {problem}: `{key}` is `{found}`, but the spec gives `{expected}`\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Differs {
        /// The row's device.
        device: String,
        /// The row's problem.
        problem: String,
        /// The field.
        key: &'static str,
        /// What is stored.
        found: String,
        /// What the spec gives.
        expected: String,
    },
}
