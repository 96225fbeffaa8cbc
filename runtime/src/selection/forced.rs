//! Forced choices of a stream, and the record of that stream's launches.

use std::sync::{Mutex, PoisonError};

use kiln_spec::LaunchPlan;

use crate::selection::{Choice, Selection};

/// A choice (the baseline or a baked row) that launch functions use instead of selecting one. It applies to launches on
/// a stream that [`Stream::forced`](crate::Stream::forced) returned.
#[derive(Debug)]
pub struct Forced {
    /// The address of the kernel. It serves as the kernel's identity, so this file does not depend on the type of
    /// kernels.
    kernel: usize,
    choice: Choice,
    receipt: Option<ReceiptSlot>,
    launched: Mutex<Vec<LaunchRecord>>,
}

/// The device memory into which a receipt entry writes its record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiptSlot {
    /// The address of the record, as kernels see it.
    pub(crate) address: u64,
}

/// One launch on a stream with a forced choice.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchRecord {
    /// The launched choice, and the reason for it.
    pub selection: Selection,
    /// The launched symbol.
    pub symbol: String,
    /// The launch plan.
    pub plan: LaunchPlan,
}

impl Forced {
    /// Forces launches of the kernel at address `kernel` to use `choice`. If `receipt` has a slot, they launch the
    /// receipt entry.
    pub(crate) fn of(kernel: usize, choice: Choice, receipt: Option<ReceiptSlot>) -> Forced {
        Forced {
            kernel,
            choice,
            receipt,
            launched: Mutex::default(),
        }
    }

    /// The forced choice for the kernel at this address; `None` if the choice was forced for a different kernel.
    pub(crate) fn choice_at(&self, kernel: usize) -> Option<Choice> {
        (self.kernel == kernel).then_some(self.choice)
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

    /// Returns and removes the records of the launches so far.
    pub fn take_launched(&self) -> Vec<LaunchRecord> {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut launched)
    }
}
