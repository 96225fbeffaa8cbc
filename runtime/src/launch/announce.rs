//! Logs a warning, through [`log`], if a launch does not use a config that was tuned and proven for it.
//!
//! A program that launches a baseline gives correct results but may be a hundred times slower than necessary. Each
//! kernel logs each kind of warning at most once. Only a launch that selects a row or the baseline can log a warning; a
//! launch that reuses a memoised selection logs nothing.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use kiln_spec::Problem;

use crate::device::DeviceInfo;
use crate::kernel::{Evidence, Kernel};
use crate::selection::{BaselineReason, Choice, Selection};

/// The kinds of warnings.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum WarningKind {
    Baseline,
    Nearest,
    Unproven,
}

/// Logs a warning if a launch uses an unproven row, the row of another problem, or, because no row fits, the baseline.
/// Each kind of warning is logged once per kernel.
pub(crate) fn announce(
    kernel: &'static Kernel,
    device: &DeviceInfo,
    problem: &Problem,
    selection: &Selection,
) {
    if !log::log_enabled!(target: "kiln", log::Level::Warn) {
        return;
    }
    let Some(kind) = kind(kernel, selection) else {
        return;
    };
    if is_first(kernel, kind) {
        log::warn!(target: "kiln", "{}", text(kernel, device, problem, selection, kind));
    }
}

fn kind(kernel: &'static Kernel, selection: &Selection) -> Option<WarningKind> {
    match (selection, selection.choice()) {
        (Selection::Forced { .. }, _) => None,
        (Selection::Baseline { .. }, _) => Some(WarningKind::Baseline),
        (_, Choice::Row(row)) if kernel.rows()[row].evidence != Evidence::Proven => {
            Some(WarningKind::Unproven)
        }
        (Selection::Nearest { .. }, _) => Some(WarningKind::Nearest),
        _ => None,
    }
}

/// Whether this is the first warning of this kind for the kernel.
fn is_first(kernel: &'static Kernel, kind: WarningKind) -> bool {
    static SAID: Mutex<Option<HashSet<(usize, WarningKind)>>> = Mutex::new(None);
    let kernel = std::ptr::from_ref(kernel).addr();
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    said.get_or_insert_default().insert((kernel, kind))
}

fn text(
    kernel: &'static Kernel,
    device: &DeviceInfo,
    problem: &Problem,
    selection: &Selection,
    kind: WarningKind,
) -> String {
    let (name, device) = (kernel.name(), &device.key);
    let help = match (kind, selection) {
        (
            WarningKind::Baseline,
            Selection::Baseline {
                reason: BaselineReason::NoValidRow { .. },
            },
        )
        | (WarningKind::Nearest, _) => {
            format!("add the problem to `problems(..)` and run `tune run -k {name}`")
        }
        _ => format!("run `tune run -k {name}` on this device"),
    };
    let evidence = match (kind, selection.choice()) {
        (WarningKind::Unproven, Choice::Row(row)) => {
            format!(", whose evidence is {}", kernel.rows()[row].evidence)
        }
        _ => String::new(),
    };
    format!(
        "kernel `{name}` for {problem} on {device} launches {selection}{evidence}; help: {help}"
    )
}
