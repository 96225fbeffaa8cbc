//! Errors of recordings.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::invalidity::Invalidity;
use crate::lines::{line_of, without_position};

const HELP: &str =
    "a recording is a cache file of Kernel Tuner or a T4 results file, as `.json` or `.json.gz`";

/// Why a file is not a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It cannot be read.
    #[error("{}: cannot be read: {error}\nhelp: {HELP}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It is compressed, and cannot be unpacked.
    #[error("{}: damaged gzip data: {error}\nhelp: {HELP}", .path.display())]
    Gzip {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It is compressed, and its text is too long.
    #[error("{}: more than {limit_bytes} bytes when unpacked\nhelp: {HELP}", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit_bytes: u64,
    },
    /// It is not UTF-8.
    #[error("{}: no text in UTF-8\nhelp: {HELP}", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Its text is not a recording.
    #[error("{}:{}: {}\nhelp: {HELP}", .path.display(), .fault.line, .fault.problem)]
    Text {
        /// The file.
        path: PathBuf,
        /// The line and the problem.
        fault: TextFault,
    },
}

/// Why a text is not a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TextFault {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem.
    pub problem: TextProblem,
}

/// The problem at a line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// A part is not JSON, or not of the type that it must be.
    #[error("{part}: {message}")]
    Json {
        /// The part.
        part: String,
        /// The message of the JSON reader, without its position.
        message: String,
    },
    /// A field of the file cannot be used.
    #[error("field `{field}`: {problem}")]
    Field {
        /// The field.
        field: &'static str,
        /// The problem.
        problem: FileProblem,
    },
    /// A recorded config cannot be used.
    #[error("`{name}`: {problem}")]
    Config {
        /// Its name in the file.
        name: String,
        /// The problem.
        problem: ConfigProblem,
    },
}

/// The problem of a field of the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Nothing is recorded.
    #[error("no config is recorded")]
    NoConfigs,
    /// Configs of no parameters.
    #[error("the configs have no parameters")]
    NoParams,
    /// More combinations of values than 128 bits count.
    #[error("the parameters have too many values to number their configs")]
    TooManyValues,
    /// Two parameters of one name.
    #[error("`{name}` is there twice")]
    DuplicateParam {
        /// The name.
        name: String,
    },
    /// A parameter without a list of values.
    #[error("no values for `{name}`")]
    MissingValues {
        /// The parameter.
        name: String,
    },
    /// A unit of time that is not known.
    #[error("{found} is not a known unit")]
    UnknownUnit {
        /// As written.
        found: String,
    },
}

/// The problem of a recorded config.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// It was recorded before.
    #[error("this config was recorded before")]
    Duplicate,
    /// It does not have one value per parameter.
    #[error("{found} values for {wanted} parameters")]
    ValueCount {
        /// Its values.
        found: usize,
        /// The parameters.
        wanted: usize,
    },
    /// It has no value for a parameter.
    #[error("field `configuration`: no `{param}`, which other results have")]
    MissingParam {
        /// The parameter.
        param: String,
    },
    /// It has a value that its parameter does not list.
    #[error("field `{param}`: the value `{value:.40}` is not listed")]
    UnlistedValue {
        /// The parameter.
        param: String,
        /// As written.
        value: String,
    },
    /// An invalidity that T4 does not have.
    #[error("field `invalidity`: `{found:.40}` is none of {}", Invalidity::ALL.map(Invalidity::name).join(", "))]
    UnknownInvalidity {
        /// As written.
        found: String,
    },
    /// Neither a time nor a failure is recorded.
    #[error("field `time`: missing")]
    MissingTime,
    /// The time is neither a number nor the name of a failure.
    #[error("field `time`: {found} is neither a time nor a failure")]
    TimeType {
        /// As written.
        found: String,
    },
    /// A launch that took no time.
    #[error("field `time`: not above 0")]
    TimeNotPositive,
    /// A result that is correct but has no time that can be used.
    #[error("field `measurements`: a correct result has a `time` above 0 in s, ms, us or ns")]
    CorrectWithoutTime,
    /// A cost that is not a number of at least 0.
    #[error("field `{field}`: {found} is not a time")]
    NotATime {
        /// The field.
        field: &'static str,
        /// As written.
        found: String,
    },
    /// Times that do not stay finite when they are added up.
    #[error("its times are too long")]
    TimesTooLong,
}

impl TextFault {
    /// A fault of the config that begins at `part`.
    pub(crate) fn config(text: &str, part: &str, name: &str, problem: ConfigProblem) -> Self {
        Self {
            line: line_of(text, part),
            problem: TextProblem::Config {
                name: name.to_owned(),
                problem,
            },
        }
    }

    /// A fault of a field, at its line if the text has it.
    pub(crate) fn field(text: &str, field: &'static str, problem: FileProblem) -> Self {
        let offset = text.find(&format!("\"{field}\"")).unwrap_or_default();
        let part = text.get(offset..).unwrap_or_default();
        Self {
            line: line_of(text, part),
            problem: TextProblem::Field { field, problem },
        }
    }

    /// An error of the JSON reader in a part of the text, which messages call `name`.
    pub(crate) fn json(text: &str, part: &str, name: &str, error: &serde_json::Error) -> Self {
        // The reader counts lines from the beginning of the part.
        let lines = error.line().saturating_sub(1);
        Self {
            line: line_of(text, part) + lines,
            problem: TextProblem::Json {
                part: name.to_owned(),
                message: without_position(error),
            },
        }
    }
}
