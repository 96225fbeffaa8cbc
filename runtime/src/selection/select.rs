//! Selection: which baked row (one tuned config for one problem on one device), or the baseline, a launch uses.
//!
//! The first of these that exists and can be launched is selected:
//!
//! 1. the row for exactly this device and problem
//! 2. the row for this problem on another device of the same backend and architecture
//! 3. the row of another problem on this device, the nearest problem first
//! 4. the row of another problem on another device of the same backend and architecture, the nearest problem first
//! 5. the baseline
//!
//! A config of another backend or architecture is never selected. Rows are ignored if their evidence is neither
//! `proven` nor accepted by the kernel's author.

use std::ptr;

use kiln_spec::Problem;
use kiln_spec::selection::{Fit, Offer, best_first};

use crate::device::{Device, DeviceInfo};
use crate::kernel::{Evidence, Kernel};
use crate::selection::forced::ReceiptSlot;

pub use crate::selection::forced::{Forced, LaunchRecord};
pub use crate::selection::{BaselineReason, Choice, Selection};

/// Selects the choice for a problem on a device with the supplied properties.
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
        match why_not(kernel, fit, device, problem) {
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

/// The rows whose evidence is `proven` or accepted by the author.
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

/// The reason why a row cannot be launched for a problem on a device; `None` if it can. If the baseline is another entry
/// that excludes a problem, no outputs of a row were compared for such problems, so only a row of the problem itself can be
/// launched.
fn why_not(
    kernel: &'static Kernel,
    fit: &Fit,
    device: &DeviceInfo,
    problem: &Problem,
) -> Option<String> {
    let invalid = |choice| {
        let checked = kernel.check_choice(choice, problem, &device.limits);
        checked.err()
    };
    if let Some(invalid) = invalid(Choice::Row(fit.row)) {
        return Some(invalid.to_string());
    }
    if fit.distance == 0.0 || !kernel.spec().baseline_is_another_entry() {
        return None;
    }
    let excluded = invalid(Choice::Baseline)?;
    Some(format!(
        "its outputs were compared with those of the baseline, which excludes this problem: {excluded}"
    ))
}

impl Kernel {
    /// The choice that a launch function selects for a problem on a device, with the reason.
    pub fn selection(&'static self, device: &Device, problem: &Problem) -> Selection {
        select(self, device.info(), problem)
    }
}

impl Forced {
    /// Forces launches of `kernel` to use `choice`. Other kernels select as usual.
    pub fn new(kernel: &'static Kernel, choice: Choice) -> Forced {
        Forced::of(ptr::from_ref(kernel).addr(), choice, None)
    }

    /// Like [`Self::new`], but forces launches of the receipt entry, which writes its record into `slot`.
    pub(crate) fn with_receipt(
        kernel: &'static Kernel,
        choice: Choice,
        slot: ReceiptSlot,
    ) -> Forced {
        Forced::of(ptr::from_ref(kernel).addr(), choice, Some(slot))
    }

    /// The forced choice for this kernel; `None` if the choice was forced for a different kernel.
    pub fn choice_for(&self, kernel: &'static Kernel) -> Option<Choice> {
        self.choice_at(ptr::from_ref(kernel).addr())
    }
}
