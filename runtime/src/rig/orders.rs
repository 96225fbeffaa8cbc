//! One launch in several thread orders: a race that one order hides shows in another.

use kiln_spec::LaunchPlan;

use crate::device::{DeviceError, Function, Schedule};

use super::{Expected, Rig, RigError};

impl Rig {
    /// Like [`Self::check`], but also tells whether the kernel writes a wrong element at all, which is another kind
    /// of fault.
    ///
    /// # Errors
    /// Those of [`Self::check`] and [`Self::check_written`].
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

    /// Launches the entry of a check build forward, in reverse and in two random orders of its blocks, warps and
    /// threads. Returns the largest error as a fraction of its bound. Right in one order and wrong in another is a
    /// race.
    ///
    /// # Errors
    /// The first fault found; [`DeviceError::KernelFault`] for a race.
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
                        "race: the outputs are right when the threads run in {right} and wrong in {order}: {error}\nhelp: \
                     look for a missing `__syncthreads()` or `__syncwarp()`, or for two threads that write one element"
                    ),
                }))
            }
        }
    }
}
