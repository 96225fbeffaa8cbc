//! Why a record was refused.

use thiserror::Error;

/// Longest text of a record's name-like field, in bytes.
pub(super) const MAX_TEXT: usize = 4096;

/// Why a record was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A text is empty, overlong or unprintable.
    #[error("{field} is not printable text of 1 to {MAX_TEXT} bytes (it has {bytes} bytes)")]
    Text {
        /// The field.
        field: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A proven verdict has no confirmation, or one with more wins than processes.
    #[error("the verdict is proven, but no confirmation bears it out")]
    Unproven,
    /// A speed-up lies outside its own interval.
    #[error("speed-up {value} ppm lies outside its interval {low} to {high} ppm")]
    Interval {
        /// The speed-up.
        value: u64,
        /// Lower end.
        low: u64,
        /// Upper end.
        high: u64,
    },
}
