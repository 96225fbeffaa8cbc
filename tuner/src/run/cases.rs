//! Decides on which problems a config is verified: those of all configs that it can launch, problems that are derived
//! for it alone if these are few, and, for a finalist, the problems next to the tuned one.

use std::collections::BTreeMap;

use kiln_spec::Problem;
use kiln_spec::verification::Sizes;

use kiln_lab::verify::{self, Case, KeptWorker, Verifier};
use kiln_lab::worker::ArmJob;

/// Maximum number of operations, and of bytes, of a launch on a problem next to the tuned one. A plain-Rust reference
/// takes some seconds for them.
const MAX_NEIGHBOUR_WORK: u64 = 2_000_000_000;

/// Finds the cases of one task's configs.
#[derive(Debug)]
pub struct CaseFinder<'a> {
    sizes: Sizes<'a>,
    baseline: &'a ArmJob,
    seed: u64,
    /// The shared cases on which every config is verified.
    trial: Vec<Case>,
    /// The shared cases on which only finalists are verified, in addition.
    only_final: Vec<Case>,
    /// Whether the baseline passed verification on a problem that is not shared.
    baseline_is_right: BTreeMap<Problem, bool>,
}

impl<'a> CaseFinder<'a> {
    /// Creates a finder without shared cases. `seed` is the seed of the run.
    pub fn new(sizes: Sizes<'a>, baseline: &'a ArmJob, seed: u64) -> CaseFinder<'a> {
        CaseFinder {
            sizes,
            baseline,
            seed,
            trial: Vec::new(),
            only_final: Vec::new(),
            baseline_is_right: BTreeMap::new(),
        }
    }

    /// Sets the cases that all configs share: those of every trial, and those of finalists only.
    pub fn with_shared(self, trial: Vec<Case>, only_final: Vec<Case>) -> CaseFinder<'a> {
        CaseFinder {
            trial,
            only_final,
            ..self
        }
    }

    /// The shared cases on which only finalists are verified.
    pub fn only_final(&self) -> &[Case] {
        &self.only_final
    }

    /// The cases of a config's trial. If no other case applies, they are the shared cases for finalists, so they are
    /// never empty. A kept worker ends if another worker has to run first.
    pub fn of_trial(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        kept: Option<&mut KeptWorker>,
    ) -> Vec<Case> {
        let shared = self.trial.iter().filter(|case| verifier.applies(arm, case));
        let mut cases: Vec<Case> = shared.cloned().collect();
        cases.extend(self.own(verifier, arm, kept));
        if cases.is_empty() {
            cases.clone_from(&self.only_final);
        }
        cases
    }

    /// The cases on problems that are derived for one config alone, because constraints exclude it on some of the
    /// shared small problems. With them, it has at most as many small problems as there are shared ones.
    ///
    /// If the author declares problems with `verify(..)`, other problems are derived only if none of them applies.
    pub fn own(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        kept: Option<&mut KeptWorker>,
    ) -> Vec<Case> {
        let tuned = &verifier.bench.problem;
        let small = self.trial.iter().filter(|case| case.problem != *tuned);
        let small: Vec<&Case> = small.filter(|case| case.receipt).collect();
        let applying: Vec<&Problem> = small
            .iter()
            .filter(|case| verifier.applies(arm, case))
            .map(|case| &case.problem)
            .collect();
        let missing = small.len() - applying.len();
        if missing == 0 || (!verifier.spec.verify.is_empty() && !applying.is_empty()) {
            return Vec::new();
        }
        let derived = self.sizes.derived_for(&arm.config).into_iter();
        let new = derived.filter(|problem| problem != tuned && !applying.contains(&problem));
        let new: Vec<Problem> = new.take(missing).collect();
        let cases = new.iter().flat_map(|problem| self.pair(problem));
        let cases = cases.collect();
        self.right(verifier, cases, kept)
    }

    /// The cases on the problems next to the tuned one, with one seed each, because a finalist passed both seeds on
    /// other problems. Problems whose data only finalists handle, and slow ones, are left out.
    pub fn neighbours(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        kept: Option<&mut KeptWorker>,
    ) -> Vec<Case> {
        let is_cheap = |problem: &Problem| {
            let work = kiln_lab::peaks::work(verifier.spec, problem);
            verify::is_for_trials(verifier.spec, problem)
                && work.flops.max(work.bytes) <= MAX_NEIGHBOUR_WORK
        };
        let near = self.sizes.neighbours(&arm.config).into_iter();
        let near = near.filter(is_cheap).enumerate();
        let cases = near.filter_map(|(i, problem)| self.pair(&problem).into_iter().nth(i % 2));
        let cases = cases.filter(|case| verifier.applies(arm, case)).collect();
        self.right(verifier, cases, kept)
    }

    /// The cases on one problem, with both seeds.
    fn pair(&self, problem: &Problem) -> Vec<Case> {
        verify::cases(&[], problem, self.seed)
    }

    /// The cases on which the baseline passes verification. The others are left out: the kernel may not support their
    /// sizes, and without a reference nothing would say what is right.
    fn right(
        &mut self,
        verifier: &Verifier<'_>,
        cases: Vec<Case>,
        kept: Option<&mut KeptWorker>,
    ) -> Vec<Case> {
        let known = &mut self.baseline_is_right;
        let new = cases
            .iter()
            .filter(|case| !known.contains_key(&case.problem));
        let new: Vec<Case> = new.cloned().collect();
        let passes = |cases: &[Case]| verifier.verify(self.baseline, cases).is_ok();
        if let (Some(kept), false) = (kept, new.is_empty()) {
            // A GPU may accept only one process at a time.
            kept.end();
        }
        // The baseline nearly always passes, so one worker verifies all cases.
        let all = new.is_empty() || passes(&new);
        for case in &new {
            let passed = all || passes(std::slice::from_ref(case));
            let known = known.entry(case.problem.clone()).or_insert(true);
            *known &= passed;
        }
        let is_right = |case: &Case| known.get(&case.problem) == Some(&true);
        cases.into_iter().filter(is_right).collect()
    }
}
