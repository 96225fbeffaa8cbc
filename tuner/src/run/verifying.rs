//! Verifies compiled configs before they race, and finalists before they are confirmed.

use std::time::Instant;

use kiln_cache::Outcome;
use kiln_spec::{Config, ElemType};

use crate::progress::Stage;
use crate::run::clock::nanoseconds;
use crate::run::evaluate::{Contender, Evaluator};
use kiln_lab::candidate::{Compiled, Which};
use kiln_lab::cases::{self, Case};
use kiln_lab::check::Checked;
use kiln_lab::verify::{FailedCase, Proof, Verifier};
use kiln_lab::worker::ArmJob;
use kiln_measure::ArmId;

/// Maximum number of failed configs of a task that the check build explains.
const MAX_EXPLAINED: u32 = 8;

impl Evaluator<'_> {
    /// Verifies a compiled config. Returns a contender if its outputs are right; otherwise the outcome, and the time of
    /// the verification in nanoseconds.
    pub(super) fn verified(
        &mut self,
        config: &Config,
        compiled: Compiled,
        attempt: u32,
    ) -> Result<Contender, (Outcome, u64)> {
        let start = Instant::now();
        let kept = self.kept.as_mut();
        let cases = self.cases.of_trial(&self.verifier, &compiled.arm, kept);
        self.context
            .reporter
            .stage(Stage::Verify, cases.len() as u64);
        let verified = self.verify(&compiled.arm, &cases);
        let verified = verified.map_err(|failed| self.explained(&compiled, failed));
        let verify_ns = nanoseconds(start.elapsed());
        self.spent.verify_ns += verify_ns;
        let proof = verified.map_err(|outcome| (outcome, verify_ns))?;
        let receipt = kiln_spec::Hash::of("receipts", proof.receipts.join("\n").as_bytes());
        // The arm is set when the config enters the lab.
        Ok(Contender {
            config: config.clone(),
            compiled,
            arm: ArmId(0),
            receipt,
            verify_ns,
            attempt,
        })
    }

    /// Verifies an arm, in the kept worker if there is one.
    fn verify(&mut self, arm: &ArmJob, cases: &[Case]) -> Result<Proof, FailedCase> {
        match &mut self.kept {
            Some(kept) => kept.verify(&self.verifier, arm, cases),
            None => self.verifier.verify(arm, cases),
        }
    }

    /// Verifies a finalist on the cases that only finalists must pass. Returns the outcome if the finalist fails.
    pub fn verify_finalist(&mut self, contender: &Contender) -> Option<Outcome> {
        let start = Instant::now();
        let compiled = &contender.compiled;
        let cases = self.cases_of_finalist(&compiled.arm);
        if cases.is_empty() {
            return None;
        }
        self.context
            .reporter
            .stage(Stage::Verify, cases.len() as u64);
        let verified = self.verify_supported(&compiled.arm, cases);
        self.spent.verify_ns += nanoseconds(start.elapsed());
        let failed = verified.err()?;
        Some(self.explained(compiled, failed))
    }

    fn cases_of_finalist(&mut self, arm: &ArmJob) -> Vec<Case> {
        let verifier = &self.verifier;
        let checker = self.checker.as_ref();
        let may_run = |cases: &[Case]| match checker {
            Ok(checker) => checker.baseline_passes(verifier.expected, cases),
            // An integer may be an index, and nothing would report that it is outside its table.
            Err(_) => cases.iter().all(|case| is_of_floats(verifier, case)),
        };
        let shared = self.cases.only_final().to_vec();
        let near = self.cases.neighbours(verifier, arm);
        let unusual = self.cases.unusual(verifier, arm, may_run);
        [shared, near, unusual].concat()
    }

    /// Verifies an arm on cases that the baseline may not support. The baseline is launched only in a case in which the arm
    /// fails. The arm is verified once in each case, because a fault may not show a second time.
    fn verify_supported(&mut self, arm: &ArmJob, cases: Vec<Case>) -> Result<(), FailedCase> {
        if let Some(kept) = &mut self.kept {
            // A GPU may accept only one process at a time.
            kept.end();
        }
        let mut left = self.verifier.comparable(arm, cases)?;
        while !left.is_empty() {
            let Err(failed) = self.verifier.verify(arm, &left) else {
                return Ok(());
            };
            let is_failed = |case: &Case| failed.case.as_ref() == Some(case);
            let Some(at) = left.iter().position(is_failed) else {
                return Err(failed);
            };
            let own = vec![left.remove(at)];
            let right = self.cases.right(&self.verifier, own, None);
            if !right.is_empty() {
                return Err(failed);
            }
            let (finder, verifier) = (&self.cases, &self.verifier);
            left.drain(..at);
            left.retain(|case| finder.may_be_right(verifier, arm, case));
        }
        Ok(())
    }

    /// Runs the check build of a finalist.
    pub fn check(&mut self, contender: &Contender) -> Checked {
        let compiled = &contender.compiled;
        let own = self.own_cases(compiled);
        match &self.checker {
            Ok(checker) => {
                let which = Which::Config(&contender.config);
                checker.check(which, self.verifier.expected, &own)
            }
            Err(why) => Checked::NotChecked(why.clone()),
        }
    }

    fn own_cases(&mut self, compiled: &Compiled) -> Vec<Case> {
        let kept = self.kept.as_mut();
        self.cases.own(&self.verifier, &compiled.arm, kept)
    }

    /// The outcome of a failed config, or the fault that its check build finds. A check build takes longer than a trial,
    /// so only the first configs of a task are explained.
    fn explained(&mut self, compiled: &Compiled, failed: FailedCase) -> Outcome {
        let which = Which::Config(&compiled.arm.config);
        let may_be_a_fault = match &self.checker {
            Ok(checker) => checker.may_be_a_fault(which, &failed.outcome),
            Err(_) => false,
        };
        if !may_be_a_fault || self.explained >= MAX_EXPLAINED {
            return failed.outcome;
        }
        self.explained += 1;
        let own = self.own_cases(compiled);
        match &self.checker {
            Ok(checker) => {
                let told = checker.explain(which, self.verifier.expected, &own, failed);
                told.outcome
            }
            Err(_) => failed.outcome,
        }
    }
}

/// Whether only floating-point inputs have unusual values in a case.
fn is_of_floats(verifier: &Verifier<'_>, case: &Case) -> bool {
    cases::unusual_inputs(verifier.spec, &case.problem, case.seed).all(|slice| {
        let ty = verifier.spec.elem_type(slice, &case.problem);
        ty.is_some_and(ElemType::is_float)
    })
}
