//! The rule by which a launch selects a baked row (one config for one problem on one device).
//!
//! [`best_first`] sorts the rows that fit a device and a problem in this order:
//!
//! 1. rows for exactly this device and this problem
//! 2. rows for this problem that were tuned on another device of the same backend and architecture
//! 3. rows for other problems on this device, the nearest problem first
//! 4. rows for other problems on another device of the same backend and architecture, the nearest problem first
//!
//! A row for another backend, another architecture or other element types never fits.

use crate::device::{Backend, DeviceKey};
use crate::problem::{Problem, ProblemValue};

/// A baked row that a launch may select.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The caller's index of this row.
    pub row: usize,
    /// The backend of the device on which the row was tuned.
    pub backend: Backend,
    /// The architecture of that device.
    pub arch: &'a str,
    /// The product name of that device.
    pub device: &'a str,
    /// The problem for which the row was tuned.
    pub problem: Problem,
}

impl Offer<'_> {
    /// Whether the row was tuned on a device of the same backend and architecture as `device`.
    pub fn is_of_architecture(&self, device: &DeviceKey) -> bool {
        self.backend == device.backend && self.arch == device.arch
    }
}

/// A baked row that fits a device and a problem, with the quality of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The caller's index of the row.
    pub row: usize,
    /// Whether the row was tuned on a device with the same product name. If not, only the architecture is the same.
    pub same_device: bool,
    /// The distance between the row's problem and the requested problem; see [`distance`].
    pub distance: f64,
}

impl Fit {
    /// The sort key of [`best_first`]. The exact problem comes before other problems, then this device before other
    /// devices, and then a short distance before a long one.
    fn rank(&self) -> (bool, bool, f64) {
        (self.distance > 0.0, !self.same_device, self.distance)
    }
}

/// The rows that fit a device and a problem, best first. Rows that fit equally well keep their order.
pub fn best_first<'a>(
    rows: impl Iterator<Item = Offer<'a>>,
    device: &DeviceKey,
    problem: &Problem,
) -> Vec<Fit> {
    let fit = |row: Offer<'a>| {
        Some(Fit {
            row: row.row,
            same_device: row.device == device.name,
            distance: distance(&row.problem, problem)?,
        })
    };
    let mut found: Vec<Fit> = rows
        .filter(|row| row.is_of_architecture(device))
        .filter_map(fit)
        .collect();
    found.sort_by(|a, b| {
        a.rank()
            .partial_cmp(&b.rank())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    found
}

/// The distance between a tuned problem and the requested problem: the sum of |log2(tuned / wanted)| over all sizes.
/// `None` if the element types differ.
pub fn distance(tuned: &Problem, wanted: &Problem) -> Option<f64> {
    use ProblemValue::{Size, Type};
    let log = |x: i64| (x.max(1) as f64).log2();
    tuned
        .iter()
        .zip(wanted.iter())
        .try_fold(0.0, |sum, ((_, tuned), (_, wanted))| {
            match (tuned, wanted) {
                (Size(a), Size(b)) if a == b => Some(sum),
                // Two different sizes must not have distance 0, even if they are so large that their logarithms are
                // equal.
                (Size(a), Size(b)) => Some(sum + (log(a) - log(b)).abs().max(f64::EPSILON)),
                (Type(a), Type(b)) => (a == b).then_some(sum),
                _ => None,
            }
        })
}
