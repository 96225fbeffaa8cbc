//! The rule by which a launch selects a baked row: the rows that fit a device and a problem, the best first.
//!
//! In this order: a row for exactly this device and problem; for this problem on another device of the same backend
//! and architecture; for the nearest tuned problem. A row of another vendor or architecture never fits, nor one for
//! other element types.

use crate::device::{Backend, DeviceKey};
use crate::problem::{Problem, ProblemValue};

/// A baked row that may be used.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The caller's index of the row.
    pub row: usize,
    /// The backend of the device on which it was tuned.
    pub backend: Backend,
    /// That device's architecture.
    pub arch: &'a str,
    /// That device's product name.
    pub device: &'a str,
    /// The problem for which it was tuned.
    pub problem: Problem,
}

impl Offer<'_> {
    /// Whether it was tuned on a device of the same backend and architecture.
    pub fn is_of_architecture(&self, device: &DeviceKey) -> bool {
        self.backend == device.backend && self.arch == device.arch
    }
}

/// A row that fits, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The index of the row.
    pub row: usize,
    /// Whether it was tuned on this particular device, or on another one of the same architecture.
    pub same_device: bool,
    /// The distance of its problem from the wanted one; see [`distance`].
    pub distance: f64,
}

impl Fit {
    /// Exact problems before near ones, this device before others, then by distance.
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

/// The distance of a tuned problem from the wanted one: the sum over the sizes of |log2(tuned / wanted)|; `None` if
/// the element types differ.
pub fn distance(tuned: &Problem, wanted: &Problem) -> Option<f64> {
    use ProblemValue::{Size, Type};
    let log = |x: i64| (x.max(1) as f64).log2();
    tuned
        .iter()
        .zip(wanted.iter())
        .try_fold(0.0, |sum, ((_, tuned), (_, wanted))| {
            match (tuned, wanted) {
                (Size(a), Size(b)) if a == b => Some(sum),
                // Two different sizes never have distance 0, however large they are.
                (Size(a), Size(b)) => Some(sum + (log(a) - log(b)).abs().max(f64::EPSILON)),
                (Type(a), Type(b)) => (a == b).then_some(sum),
                _ => None,
            }
        })
}
