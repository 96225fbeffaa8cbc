//! Why a record was rejected.

use thiserror::Error;

/// Largest length of a text field of a record (such as a name, a config or a command line), in bytes.
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
    /// A verdict is proven, but its record has no confirmation, or the confirmation has more wins than processes.
    #[error("the verdict is proven, but no confirmation supports it")]
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
