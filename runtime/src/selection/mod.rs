//! [`Selection`], the result of a selection: the choice and the reason for it.

pub(crate) mod forced;
pub mod select;

use std::fmt;

/// One of the versions in which a kernel can be launched: the baseline, or a baked row (one tuned config for one
/// problem on one device).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The baseline.
    Baseline,
    /// The baked row with this index in [`Kernel::rows`](crate::Kernel::rows).
    Row(usize),
}

/// The choice that a launch function made for a device and a problem, and the reason for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The baked row for exactly this device and problem.
    Exact {
        /// The row's index.
        row: usize,
    },
    /// The baked row for exactly this problem, from another device of the same architecture.
    SameArchitecture {
        /// The row's index.
        row: usize,
    },
    /// A row for another problem: of the rows that can be launched, the one whose problem is nearest. Every row of this
    /// device is preferred to the rows of other devices of the same architecture.
    Nearest {
        /// The row's index.
        row: usize,
        /// Whether the row was tuned on this device; otherwise, on another device of the same architecture.
        same_device: bool,
        /// The distance of the row's problem from the requested problem: the sum over the sizes of |log2(tuned /
        /// requested)|.
        distance: f64,
    },
    /// The baseline.
    Baseline {
        /// The reason why no row is used.
        reason: BaselineReason,
    },
    /// The choice that the caller forced, on any device.
    Forced {
        /// The forced choice.
        choice: Choice,
    },
}

/// The reason why a launch uses the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaselineReason {
    /// The kernel has no baked row for any device.
    NothingBaked,
    /// The kernel has rows, but none for this backend and architecture with evidence that launches accept (`proven`,
    /// and the kinds that the kernel's author lists).
    NoRowForDevice,
    /// The kernel has rows for this architecture, but none for the element types of this problem.
    NoRowForTypes,
    /// The kernel has rows for this architecture, but none of them can be launched for this problem on this device.
    NoValidRow {
        /// The first of these rows in the order of selection.
        row: usize,
        /// The reason why that row cannot be launched.
        why: String,
    },
}

impl Selection {
    /// The choice that is launched.
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
