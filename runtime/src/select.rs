//! Selection: which baked row (or the baseline) a launch uses.
//!
//! In this order: a row of exactly this device and problem; of this problem on another device of the same
//! backend and architecture; of the nearest tuned problem, if its config is valid here; the baseline.
//! A config of another vendor or architecture is never used, nor one that cannot be launched here.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use kiln_spec::selection::{Fit, Offer, best_first};
use kiln_spec::{LaunchPlan, Problem};

use crate::device::{Device, DeviceInfo};
use crate::kernel::{Evidence, Kernel};

/// One of the things a kernel can be launched as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The baseline.
    Baseline,
    /// The baked row of this number, as in [`Kernel::rows`].
    Row(usize),
}

/// What a launch function launches for a device and a problem, and why.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The row baked for exactly this device and problem.
    Exact {
        /// The row's number.
        row: usize,
    },
    /// The row baked for exactly this problem on another device of the same architecture.
    SameArchitecture {
        /// The row's number.
        row: usize,
    },
    /// The row of the nearest tuned problem.
    Nearest {
        /// The row's number.
        row: usize,
        /// Whether it was tuned on this very device, or on another of the same architecture.
        same_device: bool,
        /// How far that problem is: the sum over the sizes of |log2(tuned / wanted)|.
        distance: f64,
    },
    /// The baseline.
    Baseline {
        /// Why no row is used.
        reason: BaselineReason,
    },
    /// What the caller forced, whatever the device is.
    Forced {
        /// What was forced.
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
    /// Rows were baked for this architecture, but none can be launched for this problem here.
    NoValidRow {
        /// The row that was nearest.
        row: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl Selection {
    /// What is launched.
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

/// What launch functions launch on a stream made by [`crate::Stream::forced`], instead of selecting.
#[derive(Debug)]
pub struct Forced {
    kernel: &'static Kernel,
    choice: Choice,
    receipt: Option<ReceiptSlot>,
    launched: Mutex<Vec<LaunchRecord>>,
}

/// Where a receipt entry writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiptSlot {
    /// The address of the record, as kernels see it.
    pub(crate) address: u64,
}

/// What a launch function did on a forcing stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRecord {
    /// What it launched, and why.
    pub selection: Selection,
    /// The symbol it launched.
    pub symbol: String,
    /// The plan it launched with.
    pub plan: LaunchPlan,
}

impl Forced {
    /// Launches of `kernel` launch `choice`; other kernels select as always.
    pub fn new(kernel: &'static Kernel, choice: Choice) -> Forced {
        Forced {
            kernel,
            choice,
            receipt: None,
            launched: Mutex::default(),
        }
    }

    /// As [`Self::new`], through the receipt entry, which writes its record to a device address.
    pub(crate) fn with_receipt(
        kernel: &'static Kernel,
        choice: Choice,
        slot: ReceiptSlot,
    ) -> Forced {
        Forced {
            receipt: Some(slot),
            ..Forced::new(kernel, choice)
        }
    }

    /// What is forced for a kernel, if it is this one's.
    pub fn choice_for(&self, kernel: &'static Kernel) -> Option<Choice> {
        std::ptr::eq(self.kernel, kernel).then_some(self.choice)
    }

    pub(crate) fn receipt(&self) -> Option<ReceiptSlot> {
        self.receipt
    }

    pub(crate) fn record(&self, record: LaunchRecord) {
        self.launched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(record);
    }

    /// Takes the records of the launches so far.
    pub fn take_launched(&self) -> Vec<LaunchRecord> {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut launched)
    }
}

/// Selects for what is known of a device, and a problem.
pub fn select(kernel: &'static Kernel, device: &DeviceInfo, problem: &Problem) -> Selection {
    let baseline = |reason| Selection::Baseline { reason };
    if kernel.rows().is_empty() {
        return baseline(BaselineReason::NothingBaked);
    }
    let fits = best_first(usable(kernel), &device.key, problem);
    let Some(first) = fits.first() else {
        let any = usable(kernel).any(|row| row.is_of_architecture(&device.key));
        return baseline(if any {
            BaselineReason::NoRowForTypes
        } else {
            BaselineReason::NoRowForDevice
        });
    };
    let mut why_first = None;
    for fit in &fits {
        match why_not(kernel, fit.row, device, problem) {
            None => return fit.into(),
            Some(why) => {
                why_first.get_or_insert(why);
            }
        }
    }
    baseline(BaselineReason::NoValidRow {
        row: first.row,
        why: why_first.unwrap_or_default(),
    })
}

impl From<&Fit> for Selection {
    fn from(fit: &Fit) -> Selection {
        let Fit {
            row,
            same_device,
            distance,
        } = *fit;
        match (distance > 0.0, same_device) {
            (false, true) => Selection::Exact { row },
            (false, false) => Selection::SameArchitecture { row },
            (true, _) => Selection::Nearest {
                row,
                same_device,
                distance,
            },
        }
    }
}

/// The rows whose evidence the author accepts.
fn usable(kernel: &'static Kernel) -> impl Iterator<Item = Offer<'static>> {
    let rows = kernel.rows().iter().enumerate();
    rows.filter(|(_, row)| row.evidence == Evidence::Proven || kernel.accepts(row.evidence))
        .map(|(number, row)| Offer {
            row: number,
            backend: row.device.backend,
            arch: row.device.arch,
            device: row.device.name,
            problem: kernel.row_problem(row),
        })
}

/// Why a row cannot be launched for a problem on a device.
fn why_not(
    kernel: &'static Kernel,
    row: usize,
    device: &DeviceInfo,
    problem: &Problem,
) -> Option<String> {
    let (spec, limits) = (kernel.spec(), Some(&device.limits));
    let checked = if kernel.rows()[row].is_baseline {
        spec.check_baseline(problem, limits)
    } else {
        spec.check_config(&kernel.config(Choice::Row(row)), problem, limits)
    };
    checked.err().map(|invalid| invalid.to_string())
}

impl Kernel {
    /// What a launch function launches on a device for a problem, and why.
    pub fn selection(&'static self, device: &Device, problem: &Problem) -> Selection {
        select(self, device.info(), problem)
    }
}
