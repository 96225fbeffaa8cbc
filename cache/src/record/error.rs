//! Why a record was rejected.

use thiserror::Error;

/// Longest text of a record's name-like field, in bytes: a name, a config, a command line.
pub(super) const MAX_TEXT: usize = 4096;

/// Why a record was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A text field is empty, too long or unprintable.
    #[error("{field} is not printable text of 1 to {MAX_TEXT} bytes (it has {bytes} bytes)")]
    Text {
        /// Name of the field.
        field: &'static str,
        /// Length of the text, in bytes.
        bytes: usize,
    },
    /// A verdict is proven, but its record has no confirmation, or one with more wins than processes.
    #[error("the verdict is proven, but no confirmation bears it out")]
    Unproven,
    /// A speed-up is outside its interval.
    #[error("speed-up {value} ppm lies outside its interval {low} to {high} ppm")]
    Interval {
        /// The speed-up, in millionths.
        value: u64,
        /// Lower end of the interval, in millionths.
        low: u64,
        /// Upper end of the interval, in millionths.
        high: u64,
    },
}
