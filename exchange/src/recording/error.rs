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
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}\nhelp: {HELP}", .path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is compressed, but cannot be unpacked.
    #[error("{}: damaged gzip data: {error}\nhelp: {HELP}", .path.display())]
    Gzip {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The text, after decompression, is too long.
    #[error("{}: more than {limit_bytes} bytes of text\nhelp: {HELP}", .path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// The largest number of bytes.
        limit_bytes: u64,
    },
    /// The file is not UTF-8 text.
    #[error("{}: not UTF-8 text\nhelp: {HELP}", .path.display())]
    NotText {
        /// Path of the file.
        path: PathBuf,
    },
    /// The text of the file is not a recording.
    #[error("{}:{}: {}\nhelp: {HELP}", .path.display(), .fault.line, .fault.problem)]
    Text {
        /// Path of the file.
        path: PathBuf,
        /// The line and the problem.
        fault: TextFault,
    },
}

/// Why a text is not a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TextFault {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with the text.
    pub problem: TextProblem,
}

/// What is wrong at a line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// A part of the text is not JSON, or has the wrong type.
    #[error("{part}: {message}")]
    Json {
        /// A description of the part for messages.
        part: String,
        /// The message of the JSON reader, without its position.
        message: String,
    },
    /// A field of the file cannot be used.
    #[error("field `{field}`: {problem}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// What is wrong with the field.
        problem: FileProblem,
    },
    /// A recorded config cannot be used.
    #[error("`{name}`: {problem}")]
    Config {
        /// Name of the config in the file.
        name: String,
        /// What is wrong with the config.
        problem: ConfigProblem,
    },
}

/// What is wrong with a field of the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// The file has no configs.
    #[error("no config is recorded")]
    NoConfigs,
    /// The configs have no parameters.
    #[error("the configs have no parameters")]
    NoParams,
    /// There are more combinations of values than a 128-bit number can count.
    #[error("the parameters have too many values to number their configs")]
    TooManyValues,
    /// Two parameters have the same name.
    #[error("`{name}` is listed twice")]
    DuplicateParam {
        /// The name that both parameters have.
        name: String,
    },
    /// A parameter has no list of values.
    #[error("no values for `{name}`")]
    MissingValues {
        /// Name of the parameter.
        name: String,
    },
    /// The unit of time is unknown.
    #[error("{found} is not a known unit")]
    UnknownUnit {
        /// The unit as the file writes it.
        found: String,
    },
}

/// What is wrong with a recorded config.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// The config was recorded before.
    #[error("this config was recorded before")]
    Duplicate,
    /// The config does not have one value per parameter.
    #[error("{found} values for {wanted} parameters")]
    ValueCount {
        /// Number of values of the config.
        found: usize,
        /// Number of parameters.
        wanted: usize,
    },
    /// The config has no value for a parameter.
    #[error("field `configuration`: no `{param}`, which other results have")]
    MissingParam {
        /// Name of the parameter.
        param: String,
    },
    /// The config has a value that is not in its parameter's list of values.
    #[error("field `{param}`: the value `{value:.40}` is not listed")]
    UnlistedValue {
        /// Name of the parameter.
        param: String,
        /// The value as the file writes it.
        value: String,
    },
    /// The invalidity is not one of T4's.
    #[error("field `invalidity`: `{found:.40}` is not one of {}", Invalidity::ALL.map(Invalidity::name).join(", "))]
    UnknownInvalidity {
        /// The invalidity as the file writes it.
        found: String,
    },
    /// Neither a time nor a failure is recorded.
    #[error("field `time`: missing")]
    MissingTime,
    /// The time is neither a number nor the name of a failure.
    #[error("field `time`: {found} is neither a time nor a failure")]
    TimeType {
        /// The time as the file writes it.
        found: String,
    },
    /// The time is not above 0.
    #[error("field `time`: not above 0")]
    TimeNotPositive,
    /// The result is correct, but has no valid time.
    #[error("field `measurements`: a correct result has a `time` above 0 in s, ms, us or ns")]
    CorrectWithoutTime,
    /// A cost is not a number of at least 0.
    #[error("field `{field}`: {found} is not a time")]
    NotATime {
        /// Name of the field.
        field: &'static str,
        /// The cost as the file writes it.
        found: String,
    },
    /// The config's times are so long that a sum of times could overflow.
    #[error("its times are too long")]
    TimesTooLong,
}

impl TextFault {
    /// A fault of the config whose text begins at `part`.
    pub(crate) fn config(text: &str, part: &str, name: &str, problem: ConfigProblem) -> Self {
        Self {
            line: line_of(text, part),
            problem: TextProblem::Config {
                name: name.to_owned(),
                problem,
            },
        }
    }

    /// A fault of a field, with the field's line, or line 1 if the text does not have the field.
    pub(crate) fn field(text: &str, field: &'static str, problem: FileProblem) -> Self {
        let offset = text.find(&format!("\"{field}\"")).unwrap_or_default();
        let part = text.get(offset..).unwrap_or_default();
        Self {
            line: line_of(text, part),
            problem: TextProblem::Field { field, problem },
        }
    }

    /// A fault for an error of the JSON reader in a part of the text. `name` describes the part in messages.
    pub(crate) fn json(text: &str, part: &str, name: &str, error: &serde_json::Error) -> Self {
        // The JSON reader counts lines from the beginning of the part.
        let lines = error.line().saturating_sub(1);
        Self {
            line: line_of(text, part) + lines,
            problem: TextProblem::Json {
                part: name.to_owned(),
                message: match word_at(part, error) {
                    Some(word) if error.is_syntax() => {
                        format!("{}, found `{word}`", without_position(error))
                    }
                    _ => without_position(error),
                },
            },
        }
    }
}

/// The word of a text at which an error of the JSON reader lies, such as `NaN`; `None` at the end of the text, or at a
/// sign that is not part of a word.
fn word_at<'t>(text: &'t str, error: &serde_json::Error) -> Option<&'t str> {
    const MAX_WORD: usize = 40;
    let line = text.lines().nth(error.line().checked_sub(1)?)?;
    let (before, after) = line.split_at_checked(error.column().checked_sub(1)?)?;
    let is_part = |letter: char| letter.is_alphanumeric() || "_-+.".contains(letter);
    let start = before.trim_end_matches(is_part).len();
    let length = after.find(|letter| !is_part(letter)).unwrap_or(after.len());
    let word = &line[start..before.len() + length];
    (!word.is_empty() && word.len() <= MAX_WORD).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_json_shows_the_word_that_was_found() {
        for (text, word) in [
            (r#"{"results": [{"value": NaN, "unit": 1}]}"#, Some("NaN")),
            ("{\n  \"value\": -Infinity\n}", Some("-Infinity")),
            (r#"{"a": ,}"#, None),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert_eq!(word_at(text, &error), word, "{text}");
        }
    }
}
