//! Launches a kernel in several thread orders, because a race that one order hides can show in another.

use kiln_spec::LaunchPlan;

use crate::device::{DeviceError, Function, Schedule};

use super::{Expected, Rig, RigError};

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
    /// random orders. Returns the largest error of an output element as a fraction of its bound. If the outputs are
    /// right in one order and wrong in another, the kernel has a race.
    ///
    /// # Errors
    /// The first fault that is found. A race is a [`DeviceError::KernelFault`].
    pub fn check_in_all_orders(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        seed: u64,
        expected: &Expected,
    ) -> Result<f64, RigError> {
        let orders = [
            Schedule::Forward,
            Schedule::Reversed,
            Schedule::Seeded(seed),
            Schedule::Seeded(seed.wrapping_add(1)),
        ];
        let (mut worst, mut right, mut wrong) = (0.0_f64, None, None);
        for order in orders {
            self.reset()?;
            self.launch_scheduled(function, plan, order)?;
            match self.check_outputs(function, plan, expected) {
                Ok(error) => (worst, right) = (worst.max(error), right.or(Some(order))),
                Err(
                    error @ (RigError::Incorrect { .. }
                    | RigError::NotANumber { .. }
                    | RigError::Unwritten { .. }),
                ) => wrong = wrong.or(Some((order, error))),
                Err(other) => return Err(other),
            }
        }
        match (right, wrong) {
            (_, None) => Ok(worst),
            (None, Some((_, error))) => Err(error),
            (Some(right), Some((order, error))) => {
                Err(RigError::Device(DeviceError::KernelFault {
                    symbol: function.symbol().to_owned(),
                    text: format!(
                        "race: the outputs are right when the threads run in {right}, but wrong in {order}: {error}\n\
                         help: look for a missing `__syncthreads()` or `__syncwarp()`, or for two threads that write \
                         one element"
                    ),
                }))
            }
        }
    }
}
