//! Decides on which problems a config is verified: those of all configs that it can launch, problems that are derived
//! for it alone if these are few, and, for a finalist, the problems next to the tuned one.

use std::collections::BTreeMap;

use kiln::unusual;
use kiln_spec::Problem;
use kiln_spec::verification::Sizes;

use kiln_lab::cases::{self, Case};
use kiln_lab::kept_worker::KeptWorker;
use kiln_lab::verify::Verifier;
use kiln_lab::worker::ArmJob;

/// Maximum number of operations, and of bytes, of a launch on a problem next to the tuned one. A plain-Rust reference
/// takes some seconds for them.
const MAX_NEIGHBOUR_WORK: u64 = 2_000_000_000;
/// The same for a problem of another shape than the tuned one.
const MAX_RESHAPED_WORK: u64 = 200_000_000;

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
    /// Whether the baseline passed verification on a problem that is not shared, or in an unusual case.
    baseline_is_right: BTreeMap<Supported, bool>,
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
        let numbered = new.iter().enumerate();
        let cases = numbered.flat_map(|(i, problem)| cases::pair(problem, self.seed, i));
        let cases = cases.collect();
        self.right(verifier, cases, kept)
    }

    /// The cases on the problems next to the tuned one, and on those of another shape, with one seed each. Problems whose
    /// data only finalists handle, and slow ones, are left out.
    pub fn neighbours(&self, verifier: &Verifier<'_>, arm: &ArmJob) -> Vec<Case> {
        // Most small problems have other layouts than the aligned one, with which this begins.
        let near = self.sizes.neighbours(&arm.config).into_iter();
        let near = near.filter(|problem| is_cheap(verifier, problem, MAX_NEIGHBOUR_WORK));
        let near = (1..).zip(near).map(|(i, problem)| {
            let [first, second] = cases::pair(&problem, self.seed, i);
            if i % 2 == 0 { first } else { second }
        });
        let others = self.sizes.reshaped(&arm.config).into_iter();
        let others = others.filter(|problem| is_cheap(verifier, problem, MAX_RESHAPED_WORK));
        let others = (1..).zip(others).map(|(i, problem)| {
            let [case, _] = cases::pair(&problem, self.seed, i);
            Case {
                receipt: false,
                ..case
            }
        });
        let cases = near.chain(others);
        cases
            .filter(|case| self.may_be_right(verifier, arm, case))
            .collect()
    }

    /// The unusual cases on the largest small problem and, if that is cheap, on the tuned one. Inputs whose last elements are
    /// large also come with the sizes next to the tuned ones, at which a config may drop some elements. `may_run` says
    /// whether the baseline stays inside its buffers in some cases: an integer may be an index.
    pub fn unusual(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        may_run: impl Fn(&[Case]) -> bool,
    ) -> Vec<Case> {
        let tuned = &verifier.bench.problem;
        let applying = self.trial.iter().filter(|case| verifier.applies(arm, case));
        let of_size = |case: &&Case| {
            let bytes = verifier.spec.footprint_bytes(&case.problem).unwrap_or(0);
            (case.problem != *tuned, bytes)
        };
        let Some(largest) = applying.max_by_key(of_size) else {
            return Vec::new();
        };
        let cases = cases::unusual(verifier.spec, &largest.problem, self.seed);
        self.leave_out_faults(&cases, may_run);
        let on = |problem: &Problem, kinds: u64| {
            let all = match is_cheap(verifier, problem, MAX_RESHAPED_WORK) {
                true => cases::unusual(verifier.spec, problem, self.seed),
                false => Vec::new(),
            };
            all.into_iter()
                .filter(move |case| kinds == unusual::ANY || case.seed & kinds != 0)
        };
        let larger = self.sizes.neighbours(&arm.config);
        let larger = larger.iter().filter(|near| near.growth_over(tuned) > 1.0);
        let near = larger.flat_map(|near| on(near, unusual::LAST));
        let other = on(tuned, unusual::ANY).chain(near);
        let other = other
            .filter(|case| !cases.contains(case))
            .collect::<Vec<Case>>();
        let all = cases.into_iter().chain(other);
        all.filter(|case| self.may_be_right(verifier, arm, case))
            .collect()
    }

    /// Whether a case applies to an arm, and the baseline is not known to fail in it or with its unusual values.
    pub fn may_be_right(&self, verifier: &Verifier<'_>, arm: &ArmJob, case: &Case) -> bool {
        let known = self.baseline_is_right.get(&key(case));
        known != Some(&false) && !self.is_like_a_failed(case) && verifier.applies(arm, case)
    }

    /// Whether the baseline fails with a case's unusual values on a problem. They need not be tried on others then.
    fn is_like_a_failed(&self, case: &Case) -> bool {
        let mut known = self.baseline_is_right.iter();
        known.any(|(other, &is_right)| !is_right && is_like(case, other))
    }

    /// Records that the baseline does not support the cases in which it leaves its buffers.
    fn leave_out_faults(&mut self, cases: &[Case], may_run: impl Fn(&[Case]) -> bool) {
        let known = &mut self.baseline_is_right;
        let new = cases.iter().filter(|case| !known.contains_key(&key(case)));
        let new: Vec<Case> = new.cloned().collect();
        // The baseline nearly always stays inside, so one worker runs all cases.
        if new.is_empty() || may_run(&new) {
            return;
        }
        for case in &new {
            if !may_run(std::slice::from_ref(case)) {
                known.insert(key(case), false);
            }
        }
    }

    /// The cases on which the baseline passes verification. The others are left out: the kernel may not support their
    /// sizes, and without a reference nothing would say what is right.
    pub fn right(
        &mut self,
        verifier: &Verifier<'_>,
        cases: Vec<Case>,
        kept: Option<&mut KeptWorker>,
    ) -> Vec<Case> {
        let known = &self.baseline_is_right;
        let new = cases.iter().filter(|case| !known.contains_key(&key(case)));
        let new: Vec<Case> = new.cloned().collect();
        let passes = |cases: &[Case]| verifier.verify(self.baseline, cases).is_ok();
        if let (Some(kept), false) = (kept, new.is_empty()) {
            // A GPU may accept only one process at a time.
            kept.end();
        }
        // The baseline nearly always passes, so one worker verifies all cases.
        let all = new.is_empty() || passes(&new);
        for case in &new {
            let passed =
                all || (!self.is_like_a_failed(case) && passes(std::slice::from_ref(case)));
            let known = self.baseline_is_right.entry(key(case)).or_insert(true);
            *known &= passed;
        }
        let is_right = |case: &Case| self.baseline_is_right.get(&key(case)) == Some(&true);
        cases.into_iter().filter(is_right).collect()
    }
}

/// Whether every config can be verified on a problem, and a launch does no more than this number of operations.
fn is_cheap(verifier: &Verifier<'_>, problem: &Problem, most: u64) -> bool {
    let work = kiln_lab::peaks::work(verifier.spec, problem);
    cases::is_for_trials(verifier.spec, problem) && work.flops.max(work.bytes) <= most
}

/// What decides whether the baseline supports a case: the problem, the unusual values, and whether workspaces are kept.
type Supported = (Problem, u64, bool);

fn key(case: &Case) -> Supported {
    (case.problem.clone(), case.seed & unusual::ANY, case.again)
}

/// Whether a case has the unusual values, or the kept workspaces, of another one.
fn is_like(case: &Case, (_, unusual, again): &Supported) -> bool {
    let (_, own_unusual, own_again) = key(case);
    (own_unusual != 0 || own_again) && (own_unusual, own_again) == (*unusual, *again)
}
