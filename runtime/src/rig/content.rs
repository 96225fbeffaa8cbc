//! Finds outputs that depend on what they contained before the launch.

use kiln_spec::{Backend, LaunchPlan};

use super::held::POISON;
use super::{Expected, Rig, RigError};
use crate::device::Function;

/// What outputs contain before a launch. A kernel that reads an output may be right on some of these contents: the
/// poison is NaN or -1, which a maximum ignores, and a sum ignores zeros. No kernel that reads an output ignores all of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// NaN, -1, or the largest unsigned value.
    Poison,
    /// Zeros, as in memory that a program has just allocated.
    Zeros,
    /// Large positive values.
    High,
    /// Negative values with a large magnitude. As unsigned values they are large.
    Low,
}

/// Number of times that launches on two contents must repeat their outcomes.
const REPETITIONS: usize = 4;

impl Content {
    /// The contents that are numbers in every type.
    pub const FINITE: [Content; 3] = [Content::High, Content::Low, Content::Zeros];

    /// The byte that fills outputs.
    pub(super) fn byte(self) -> u8 {
        match self {
            Content::Poison => POISON,
            Content::Zeros => 0,
            Content::High => 0x4B,
            Content::Low => 0xCB,
        }
    }
}

impl Rig {
    /// Launches on outputs with this content, and checks every buffer as [`Self::check`] does. If an output is wrong,
    /// this finds out whether the content is the cause.
    ///
    /// # Errors
    /// [`RigError::ReadsOutput`] if the outputs are right on the poison; [`RigError::Unwritten`] if an element is never
    /// written; otherwise the errors of [`Self::launch`] and [`Self::check`].
    pub fn check_on(
        &self,
        content: Content,
        function: &Function,
        plan: &LaunchPlan,
        expected: &Expected,
    ) -> Result<f64, RigError> {
        // The fake device computes only kernels with registered host code. Its other kernels write nothing.
        let fake = self.stream.device().info().key.backend == Backend::Fake;
        let content = if fake { Content::Poison } else { content };
        self.launch_on(content.byte(), function, plan)?;
        let wrong = match self.check(expected) {
            Err(wrong @ (RigError::Incorrect { .. } | RigError::NotANumber { .. })) => wrong,
            other => return other,
        };
        for _ in 0..REPETITIONS {
            self.launch_on(POISON, function, plan)?;
            self.check_outputs(function, plan, expected)?;
            self.launch_on(content.byte(), function, plan)?;
            if self.check(expected).is_ok() {
                return Err(wrong);
            }
        }
        if !self.changes_what_depends(content, function, plan)? {
            self.launch_on(POISON, function, plan)?;
            self.check_written(function, plan)?;
        }
        let (output, index) = match wrong {
            RigError::Incorrect { worst, .. } => (worst.output, worst.index),
            RigError::NotANumber { output, index } => (output, index),
            other => return Err(other),
        };
        Err(RigError::ReadsOutput { output, index })
    }

    /// Checks that no output depends on what it contained before the launch, as in `y[i] += x[i]`. `outputs` are the
    /// outputs of a launch on the poison. The kernel is launched again on this content.
    ///
    /// If there is no reference, only this check detects such a kernel: with the same content, all its launches agree.
    ///
    /// # Errors
    /// [`RigError::ReadsOutput`]; otherwise the errors of [`Self::launch`].
    pub fn check_independent(
        &self,
        content: Content,
        function: &Function,
        plan: &LaunchPlan,
        outputs: &Expected,
    ) -> Result<(), RigError> {
        match self.check_on(content, function, plan, outputs) {
            // The outputs of a kernel with a race can differ between any two launches. Other checks report that.
            Ok(_) | Err(RigError::Incorrect { .. } | RigError::NotANumber { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Whether a launch changes any element that is different after launches on the poison and on this content. If not,
    /// these elements are never written.
    fn changes_what_depends(
        &self,
        content: Content,
        function: &Function,
        plan: &LaunchPlan,
    ) -> Result<bool, RigError> {
        let after = |content: u8| {
            self.launch_on(content, function, plan)?;
            let read = self.outputs_only().map(|slice| slice.read(&self.stream));
            read.collect::<Result<Vec<_>, _>>()
        };
        let (on_poison, on_content) = (after(POISON)?, after(content.byte())?);
        let mut outputs = self.outputs_only().zip(on_poison.iter().zip(&on_content));
        Ok(outputs.any(|(slice, (poison, content_bytes))| {
            let size = slice.ty.bytes();
            let mut elements = poison.chunks(size).zip(content_bytes.chunks(size));
            elements.any(|(on_poison, on_content)| {
                on_poison != on_content && on_content.iter().any(|byte| *byte != content.byte())
            })
        }))
    }

    /// Launches on outputs that are filled with a byte.
    pub(super) fn launch_on(
        &self,
        content: u8,
        function: &Function,
        plan: &LaunchPlan,
    ) -> Result<(), RigError> {
        for slice in self.slices() {
            slice.reset_with(&self.stream, 0, content)?;
        }
        self.launch(function, plan)
    }
}
