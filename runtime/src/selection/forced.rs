//! What a stream forces launch functions to launch, and what they launched on it.

use std::sync::{Mutex, PoisonError};

use kiln_spec::LaunchPlan;

use crate::selection::{Choice, Selection};

/// A choice that launch functions launch on a stream made by [`crate::Stream::forced`], instead of selecting.
#[derive(Debug)]
pub struct Forced {
    /// The address of the kernel: what names it, without its type.
    kernel: usize,
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

/// One launch on a forcing stream.
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
    /// Launches of the kernel at `kernel` launch `choice`, through the receipt entry if there is a slot for its record.
    pub(crate) fn of(kernel: usize, choice: Choice, receipt: Option<ReceiptSlot>) -> Forced {
        Forced {
            kernel,
            choice,
            receipt,
            launched: Mutex::default(),
        }
    }

    /// The forced choice, if it is for the kernel at this address.
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

    /// Takes the records of the launches so far.
    pub fn take_launched(&self) -> Vec<LaunchRecord> {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut launched)
    }
}
