//! Timed launches of a rig.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use kiln_spec::{Access, LaunchPlan};

use super::{Rig, RigError};
use crate::device::Function;
use crate::launch::time_held;

impl Rig {
    /// Restores the initial values of the in-out arguments that the next `launches` timed launches use.
    ///
    /// # Errors
    /// If the device cannot write the data.
    pub fn restore(&self, launches: u32) -> Result<(), RigError> {
        for slice in self.slices() {
            if slice.spec.access == Access::InOut {
                self.sets_of_next(launches)
                    .try_for_each(|set| slice.reset(&self.stream, set))?;
            }
        }
        Ok(())
    }

    /// The indices of the sets that the next `launches` timed launches use, each once and in order of use.
    fn sets_of_next(&self, launches: u32) -> impl Iterator<Item = usize> + use<> {
        let (first, sets) = (self.next_set.load(Ordering::Relaxed), self.sets);
        (0..sets.min(launches as usize)).map(move |nth| (first + nth) % sets)
    }

    /// Launches a release entry `launches` times, one launch directly after another, and alternates between the sets
    /// of data. Returns the total time on the device's own clock, in nanoseconds.
    ///
    /// # Errors
    /// The errors of [`Self::launch`].
    pub fn time(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        launches: u32,
    ) -> Result<u64, RigError> {
        let sets: Vec<_> = self
            .sets_of_next(launches)
            .map(|set| self.arguments(set))
            .collect();
        let span_ns = time_held(&self.stream, function, plan, &sets, launches)?;
        let next = self.next_set.load(Ordering::Relaxed) + launches as usize;
        self.next_set.store(next % self.sets, Ordering::Relaxed);
        Ok(span_ns)
    }

    /// Like [`Self::time`], but every launch begins with the initial values of the in-out arguments. They are restored
    /// between groups of launches that use different sets of data. This time does not count.
    ///
    /// # Errors
    /// The errors of [`Self::launch`] and [`Self::restore`].
    pub fn time_restored(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        launches: u32,
    ) -> Result<u64, RigError> {
        if !self
            .slices()
            .any(|slice| slice.spec.access == Access::InOut)
        {
            return self.time(function, plan, launches);
        }
        // A device may launch an entry once more before it times it for the first time. That launch would leave its
        // content to the first one that counts.
        if self.is_cold(function) {
            self.reset()?;
            self.launch(function, plan)?;
        }
        let sets = u32::try_from(self.sets).unwrap_or(u32::MAX);
        let mut span_ns = 0_u64;
        let mut left = launches;
        while left > 0 {
            let group = left.min(sets);
            self.restore(group)?;
            span_ns = span_ns.saturating_add(self.time(function, plan, group)?);
            left -= group;
        }
        Ok(span_ns)
    }

    /// Whether this is the first call for an entry.
    fn is_cold(&self, function: &Function) -> bool {
        let warm = self.warm.lock();
        let mut warm = warm.unwrap_or_else(PoisonError::into_inner);
        warm.insert(function.symbol().to_owned())
    }
}
