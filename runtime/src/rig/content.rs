//! Finds outputs that depend on what they contained before the launch.

use kiln_spec::{Backend, LaunchPlan};

use super::held::{OTHER_POISON, POISON};
use super::{Expected, Rig, RigError};
use crate::device::Function;

/// Number of times that launches on both poison values must repeat their outputs.
const REPETITIONS: usize = 4;

impl Rig {
    /// Checks that no output depends on what it contained before the launch, as in `y[i] += x[i]`. `outputs` are the
    /// outputs of a launch on outputs that were filled with the first poison value. The kernel is launched again on
    /// outputs that are filled with another one.
    ///
    /// If there is no reference, only this check detects such a kernel: with the same poison value, all its launches
    /// agree.
    ///
    /// # Errors
    /// [`RigError::ReadsOutput`]; otherwise the errors of [`Self::launch`].
    pub fn check_independent(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        outputs: &Expected,
    ) -> Result<(), RigError> {
        // The fake device computes only kernels with registered host code. Its other kernels write nothing.
        if self.stream.device().info().key.backend == Backend::Fake {
            return Ok(());
        }
        self.launch_on(OTHER_POISON, function, plan)?;
        let (output, index) = match self.check(outputs) {
            Ok(_) => return Ok(()),
            Err(RigError::Incorrect { worst, .. }) => (worst.output, worst.index),
            Err(RigError::NotANumber { output, index }) => (output, index),
            Err(other) => return Err(other),
        };
        // The outputs of a kernel with a race can differ between any two launches. Other checks report that.
        let others = self.outputs()?;
        for _ in 0..REPETITIONS {
            for (poison, expected) in [(POISON, outputs), (OTHER_POISON, &others)] {
                self.launch_on(poison, function, plan)?;
                match self.check(expected) {
                    Ok(_) => {}
                    Err(RigError::Incorrect { .. } | RigError::NotANumber { .. }) => return Ok(()),
                    Err(other) => return Err(other),
                }
            }
        }
        Err(RigError::ReadsOutput { output, index })
    }

    /// Launches on outputs that are filled with a poison value.
    pub(super) fn launch_on(
        &self,
        poison: u8,
        function: &Function,
        plan: &LaunchPlan,
    ) -> Result<(), RigError> {
        for slice in self.slices() {
            slice.reset_with(&self.stream, 0, poison)?;
        }
        self.launch(function, plan)
    }
}
