//! Errors of baked tables.

use thiserror::Error;

use crate::config::validity::Invalid;
use crate::text::TextError;

/// Why a baked table (or the index of them) cannot be read, written or used.
///
/// Lines count from 1. Messages contain no more of the file than the offending token, cut at 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BakedError {
    /// The file is larger than any table that `tune` writes.
    #[error(
        "the table has {bytes} bytes, more than the {limit} that are read\nhelp: restore the file, or delete it and run `tune bake`"
    )]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The maximum size.
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
        /// The parser's message.
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
    /// An unknown key.
    #[error("line {line}: unknown key `{key}`\nhelp: {help}")]
    UnknownKey {
        /// Its line.
        line: usize,
        /// The key.
        key: String,
        /// The most similar key, or all keys.
        help: String,
    },
    /// A required key is missing.
    #[error("line {line}: no `{key}`")]
    MissingKey {
        /// Line of the row or table without it.
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
        /// The expected kind.
        expected: &'static str,
    },
    /// A value of the right kind that is not allowed.
    #[error("line {line}: `{key}` is `{token}`, which is not {expected}")]
    Value {
        /// Its line; 0 if the row was not read from a file.
        line: usize,
        /// The key.
        key: &'static str,
        /// The value.
        token: String,
        /// The allowed values.
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
        /// Line of the second row.
        line: usize,
        /// The device.
        device: String,
        /// The problem.
        problem: String,
    },
    /// A speed-up that must not be there, or a missing one.
    #[error("line {line}: {message}")]
    Speedup {
        /// The row's line; 0 if it was not read from a file.
        line: usize,
        /// The fault.
        message: &'static str,
    },
    /// The table of another kernel.
    #[error("the table is of kernel `{found}`, not `{expected}`")]
    Kernel {
        /// The kernel that it names.
        found: String,
        /// The requested kernel.
        expected: String,
    },
    /// The text of a row is not a config or problem of the kernel, although its spec is unchanged.
    #[error(
        "row of `{device}` for {problem}: {error}\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Text {
        /// The row's device.
        device: String,
        /// The row's problem.
        problem: String,
        /// The fault.
        error: Box<TextError>,
    },
    /// The config of a row is not in the kernel's search space, although its spec is unchanged.
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
    /// A stored field of a row differs from the value computed from the spec.
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
        /// The stored value.
        found: String,
        /// The computed value.
        expected: String,
    },
}
