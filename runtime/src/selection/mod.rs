//! The result of a selection: the choice, and why.

pub(crate) mod forced;
pub mod select;

use std::fmt;

/// An alternative as which a kernel can be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The baseline.
    Baseline,
    /// The baked row with this index in [`Kernel::rows`](crate::Kernel::rows).
    Row(usize),
}

/// The choice of a launch function for a device and a problem, and why.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The row that was baked for exactly this device and problem.
    Exact {
        /// The row's index.
        row: usize,
    },
    /// The row that was baked for exactly this problem on another device of the same architecture.
    SameArchitecture {
        /// The row's index.
        row: usize,
    },
    /// The row of the nearest tuned problem.
    Nearest {
        /// The row's index.
        row: usize,
        /// Whether it was tuned on this particular device, or on another of the same architecture.
        same_device: bool,
        /// Its distance from the requested problem: the sum over the sizes of |log2(tuned / wanted)|.
        distance: f64,
    },
    /// The baseline.
    Baseline {
        /// Why no row is used.
        reason: BaselineReason,
    },
    /// The choice that the caller forced, on any device.
    Forced {
        /// The forced choice.
        choice: Choice,
    },
}

/// Why the baseline is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineReason {
    /// No row was baked for any device.
    NothingBaked,
    /// No row was baked for this backend and architecture.
    NoRowForDevice,
    /// There are rows for this architecture, but none for the element types of this problem.
    NoRowForTypes,
    /// Rows were baked for this architecture, but none of them can be launched for this problem here.
    NoValidRow {
        /// The nearest row.
        row: usize,
        /// Why it cannot be launched.
        why: String,
    },
}

impl Selection {
    /// The launched choice.
    pub fn choice(&self) -> Choice {
        match self {
            Selection::Exact { row }
            | Selection::SameArchitecture { row }
            | Selection::Nearest { row, .. } => Choice::Row(*row),
            Selection::Baseline { .. } => Choice::Baseline,
            Selection::Forced { choice } => *choice,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Baseline => f.write_str("baseline"),
            Choice::Row(row) => write!(f, "baked row {row}"),
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selection::Exact { row } => write!(f, "baked row {row}: this device and problem"),
            Selection::SameArchitecture { row } => {
                write!(f, "baked row {row}: this problem, same architecture")
            }
            Selection::Nearest {
                row,
                same_device,
                distance,
            } => {
                let device = if *same_device {
                    "this device"
                } else {
                    "same architecture"
                };
                write!(
                    f,
                    "baked row {row}: nearest tuned problem (log2 distance {distance:.2}), {device}"
                )
            }
            Selection::Baseline { reason } => write!(f, "baseline: {reason}"),
            Selection::Forced { choice } => write!(f, "{choice}: forced"),
        }
    }
}

impl fmt::Display for BaselineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaselineReason::NothingBaked => f.write_str("nothing is baked for this kernel"),
            BaselineReason::NoRowForDevice => {
                f.write_str("nothing is baked for this device or its architecture")
            }
            BaselineReason::NoRowForTypes => {
                f.write_str("nothing is baked for these element types")
            }
            BaselineReason::NoValidRow { row, why } => {
                write!(f, "baked row {row} cannot be launched here: {why}")
            }
        }
    }
}
