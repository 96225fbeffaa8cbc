//! Launches a kernel in several thread orders, because a race that one order hides can show in another.

use kiln_spec::LaunchPlan;

use crate::device::{DeviceError, Function, Schedule};

use super::{Expected, Rig, RigError};

/// The result of launches of a check build in all orders that found no fault.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedOrders {
    /// The largest error of an output element, as a fraction of its bound.
    pub worst: f64,
    /// What is right on this device, but not on every GPU: a barrier that some threads returned before.
    pub remark: Option<String>,
}

impl Rig {
    /// Like [`Self::check`]. If an output is wrong, this also checks whether the kernel left elements of an output
    /// unwritten, and reports that as a different fault.
    ///
    /// # Errors
    /// The errors of [`Self::check`] and [`Self::check_written`].
    pub fn check_outputs(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        expected: &Expected,
    ) -> Result<f64, RigError> {
        let checked = self.check(expected);
        if let Err(RigError::NotANumber { .. } | RigError::Incorrect { .. }) = checked {
            self.check_written(function, plan)?;
        }
        checked
    }

    /// Launches the entry of a check build in four orders of its blocks, warps and threads: forward, reverse and two
    /// random orders. If the outputs are right in one order and wrong in another, the kernel has a race, or its outputs
    /// depend on an undefined value. Each order has another value in place of an undefined one.
    ///
    /// # Errors
    /// The first fault that is found. A race is a [`DeviceError::KernelFault`].
    pub fn check_in_all_orders(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        seed: u64,
        expected: &Expected,
    ) -> Result<CheckedOrders, RigError> {
        let orders = [
            Schedule::Forward,
            Schedule::Reversed,
            Schedule::Seeded(seed),
            Schedule::Seeded(seed.wrapping_add(1)),
        ];
        let device = self.stream().device();
        device.take_remarks();
        let (mut worst, mut right, mut wrong) = (0.0_f64, None, Vec::new());
        for order in orders {
            self.reset()?;
            self.launch_scheduled(function, plan, order)?;
            match self.check_outputs(function, plan, expected) {
                Ok(error) => (worst, right) = (worst.max(error), right.or(Some(order))),
                Err(
                    error @ (RigError::Incorrect { .. }
                    | RigError::NotANumber { .. }
                    | RigError::Unwritten { .. }),
                ) => wrong.push((order, error)),
                Err(other) => return Err(other),
            }
        }
        let remarks = device.take_remarks();
        let remark = |kind: &str| remarks.iter().find(|remark| remark.starts_with(kind));
        let Some((order, error)) = wrong.first() else {
            let remark = remark("early return: ").cloned();
            return Ok(CheckedOrders { worst, remark });
        };
        let same = wrong.iter().all(|(_, other)| other == error);
        let text = match (right, remark("undefined value: ")) {
            (None, _) if same => return Err(error.clone()),
            (_, Some(undefined)) => format!(
                "{undefined}, and the outputs differ in orders of the threads that differ in such values: {error}\n\
                 help: the kernel must not use this value: let the lane take part in the shuffle, or write the element \
                 first"
            ),
            (None, None) => return Err(error.clone()),
            (Some(right), None) => format!(
                "race: the outputs are right when the threads run in {right}, but wrong in {order}: {error}\n\
                 help: look for a missing `__syncthreads()` or `__syncwarp()`, or for two threads that write one \
                 element"
            ),
        };
        let symbol = function.symbol().to_owned();
        Err(RigError::Device(DeviceError::KernelFault { symbol, text }))
    }
}
