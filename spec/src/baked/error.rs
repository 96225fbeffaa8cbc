//! Errors of reading and writing baked tables.

use thiserror::Error;

use crate::config::validity::Invalid;
use crate::text::TextError;

/// The reason why a baked table, or the index of tables, cannot be read, written or used.
///
/// Line numbers start at 1. Messages quote only the wrong token of the file, and at most 64 characters of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BakedError {
    /// The file is larger than any table that `tune` writes.
    #[error(
        "the table has {bytes} bytes, but the maximum is {limit}\n\
         help: restore the file, or delete it and run `tune bake`"
    )]
    TooLarge {
        /// The size of the file in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        limit: usize,
    },
    /// The file is not UTF-8 text.
    #[error(
        "line {line}: not UTF-8 text\nhelp: restore the file, or delete it and run `tune bake`"
    )]
    NotUtf8 {
        /// Line of the first byte that is not UTF-8.
        line: usize,
    },
    /// The file is not valid TOML.
    #[error(
        "line {line}: {message}\nhelp: if a merge did this, run `tune bake` on the device of that section"
    )]
    Syntax {
        /// Line of the syntax error.
        line: usize,
        /// The message of the TOML parser.
        message: String,
    },
    /// A newer version of Kiln wrote the file.
    #[error(
        "the table has format {found}, but this Kiln reads up to {known}\nhelp: update kiln and kiln-tuner"
    )]
    Newer {
        /// The format number in the file.
        found: i64,
        /// The newest format number that this version reads.
        known: i64,
    },
    /// The file contains an unknown key.
    #[error("line {line}: unknown key `{key}`\nhelp: {help}")]
    UnknownKey {
        /// Line of the key.
        line: usize,
        /// The unknown key.
        key: String,
        /// The most similar known key, or all known keys.
        help: String,
    },
    /// A row or table does not have a required key.
    #[error("line {line}: no `{key}`")]
    MissingKey {
        /// Line of the row or table.
        line: usize,
        /// The missing key.
        key: &'static str,
    },
    /// A value has the wrong kind, for example text instead of an integer.
    #[error("line {line}: `{key}` takes {expected}")]
    Kind {
        /// Line of the value.
        line: usize,
        /// The key of the value.
        key: &'static str,
        /// The required kind.
        expected: &'static str,
    },
    /// A value has the right kind but is not allowed.
    #[error("line {line}: `{key}` is `{token}`, which is not {expected}")]
    Value {
        /// Line of the value; 0 if the row was not read from a file.
        line: usize,
        /// The key of the value.
        key: &'static str,
        /// The value as text.
        token: String,
        /// A description of the allowed values.
        expected: &'static str,
    },
    /// A row is in the section of another device.
    #[error(
        "line {line}: the row is for `{device}`, but it is in the section of `{section}`\n\
         help: move the line to its section, or run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Section {
        /// Line of the row.
        line: usize,
        /// The device of the row.
        device: String,
        /// The device of the section.
        section: String,
    },
    /// The table contains two rows for one device and problem.
    #[error(
        "line {line}: a second row of `{device}` for {problem}\nhelp: delete one of the lines, or run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Duplicate {
        /// Line of the second row.
        line: usize,
        /// The device of both rows.
        device: String,
        /// The problem of both rows.
        problem: String,
    },
    /// The speed-up of a row is wrong: it is present although it must be absent, absent although it must be present, or
    /// has an interval that is not valid or not above 1.
    #[error("line {line}: {message}")]
    Speedup {
        /// Line of the row; 0 if it was not read from a file.
        line: usize,
        /// What is wrong with the row.
        message: &'static str,
    },
    /// The table belongs to another kernel.
    #[error("the table belongs to kernel `{found}`, not to kernel `{expected}`")]
    Kernel {
        /// The kernel that the table names.
        found: String,
        /// The kernel whose table was requested.
        expected: String,
    },
    /// The text of a row's config or problem is not valid for the kernel, although the spec is unchanged.
    #[error(
        "row of `{device}` for {problem}: {error}\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Text {
        /// The device of the row.
        device: String,
        /// The problem of the row.
        problem: String,
        /// What is wrong with the text.
        error: Box<TextError>,
    },
    /// The config of a row is not in the kernel's search space, although the spec is unchanged.
    #[error(
        "row of `{device}` for {problem}: {why}\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Outside {
        /// The device of the row.
        device: String,
        /// The problem of the row.
        problem: String,
        /// Why the search space does not contain the config.
        why: Box<Invalid>,
    },
    /// A field of a row differs from the value that is computed from the spec.
    #[error(
        "row of `{device}` for {problem}: `{key}` is `{found}`, but the spec gives `{expected}`\nhelp: run `tune bake` on that device (with `--write` for a cpu)"
    )]
    Differs {
        /// The device of the row.
        device: String,
        /// The problem of the row.
        problem: String,
        /// The name of the field.
        key: &'static str,
        /// The value in the row.
        found: String,
        /// The value that is computed from the spec.
        expected: String,
    },
}
