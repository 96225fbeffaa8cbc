//! Verifies arms (loaded candidates): compares their outputs with the expected outputs, and the device's receipt with
//! the intended launch.

use std::io::Write;
use std::path::Path;

use kiln::receipt::{ExpectedReceipt, Receipt, ReceiptMismatch};

use kiln::rig::{Expected, Layout, Rig};
use kiln_cache::Outcome;
use kiln_spec::{LaunchPlan, Problem};

use super::arm::LoadedArm;
use super::expected::read_expected;
use super::failure::{ArmFailure, outcome_of};
use super::opened::{Opened, announce};
use super::reference::reference_of;
use crate::candidate::outcome::internal;
use crate::worker::protocol::{Verified, VerifyJob};

impl Opened {
    /// Verifies an arm on one case, in two steps:
    ///
    /// 1. If the job has a nonce, the receipt entry is launched. Its receipt must match the intended launch, and its
    ///    outputs must be right.
    /// 2. The release entry is launched, with outputs that were filled with a poison pattern. A release build is
    ///    launched twice, because some faults appear only in the second launch. A check build is launched once in each
    ///    order of its threads, because a race that is hidden in one order shows in another.
    pub(super) fn verify(&mut self, job: &VerifyJob) -> Result<Verified, Outcome> {
        let config = self.arm(job.arm)?.job.config.clone();
        let case = (&job.problem, job.seed, job.fenced);
        let rig = self.kept.rig(&self.stream, (&self.spec, &config), case)?;
        let expected = self.kept.expected(&job.expected)?;
        let arm = self.arm(job.arm)?;
        let mut verified = Verified {
            worst: 0.0,
            receipt: String::new(),
        };
        if let Some(nonce) = job.nonce {
            let receipt = rig
                .launch_for_receipt(&arm.receipt, &job.plan, nonce)
                .map_err(outcome_of)?;
            let (symbol_hash, config_hash) = (arm.job.symbol_hash, arm.job.config_hash);
            let intended = ExpectedReceipt {
                nonce,
                symbol_hash,
                config_hash,
                plan: job.plan,
            };
            receipt
                .check(&intended)
                .map_err(|mismatch| wrong_launch(&mismatch))?;
            verified.worst = rig.check(&expected).map_err(outcome_of)?;
            verified.receipt = receipt_text(&receipt);
        }
        let worst = if arm.job.check {
            rig.check_in_all_orders(&arm.release, &job.plan, job.seed, &expected)
        } else {
            (0..2).try_fold(0.0_f64, |worst, _| {
                rig.reset()?;
                rig.launch(&arm.release, &job.plan)?;
                Ok(worst.max(rig.check_outputs(&arm.release, &job.plan, &expected)?))
            })
        };
        verified.worst = verified.worst.max(worst.map_err(outcome_of)?);
        // Without this check, an element that is never written would compare as right if the expected value is NaN.
        rig.check_written(&arm.release, &job.plan)
            .map_err(outcome_of)?;
        Ok(verified)
    }

    /// Launches an arm once and returns its outputs, which become expected outputs.
    pub(super) fn launch_once(
        &self,
        arm: usize,
        problem: &Problem,
        plan: &LaunchPlan,
        seed: u64,
    ) -> Result<Expected, Outcome> {
        let arm = self.arm(arm)?;
        let (spec, config) = (&self.spec, &arm.job.config);
        let rig = Rig::of_config(&self.stream, spec, config, problem, seed, Layout::Zones)
            .map_err(outcome_of)?;
        rig.launch(&arm.release, plan).map_err(outcome_of)?;
        // If the reference left an element unwritten, a candidate could leave it unwritten too and pass.
        rig.check_written(&arm.release, plan).map_err(outcome_of)?;
        let outputs = rig.outputs().map_err(outcome_of)?;
        rig.check_independent(&arm.release, plan, &outputs)
            .map_err(outcome_of)?;
        Ok(outputs)
    }

    /// The outputs of the plain-Rust reference that is linked into this program.
    pub(super) fn reference(&self, problem: &Problem, seed: u64) -> Result<Expected, Outcome> {
        let reference =
            reference_of(self.catalogue, &self.package, &self.spec).ok_or_else(|| {
                internal(format!("no reference of `{}` is linked in", self.spec.name))
            })?;
        Expected::by_reference(reference, &self.spec, problem, seed).map_err(internal)
    }

    /// Checks that the timed arms still compute the right outputs. Some faults appear only after several launches.
    pub(super) fn recheck(
        &self,
        arms: &[usize],
        expected: &Path,
        replies: &mut impl Write,
    ) -> Result<(), ArmFailure> {
        let expected = read_expected(expected).map_err(|failure| (None, failure))?;
        for &place in arms {
            let arm = self.arm(place).map_err(|failure| (None, failure))?;
            announce(replies, place)?;
            self.recheck_arm(arm, &expected)
                .map_err(|failure| (Some(place), failure))?;
        }
        Ok(())
    }

    fn recheck_arm(&self, arm: &LoadedArm, expected: &Expected) -> Result<(), Outcome> {
        let rig = self.rig(arm)?;
        rig.reset().map_err(outcome_of)?;
        rig.launch(&arm.release, &arm.job.plan)
            .map_err(outcome_of)?;
        rig.check_outputs(&arm.release, &arm.job.plan, expected)
            .map(|_| ())
            .map_err(outcome_of)
    }
}

fn wrong_launch(mismatch: &ReceiptMismatch) -> Outcome {
    Outcome::WrongLaunch {
        field: "receipt".into(),
        want: "the intended launch".into(),
        got: mismatch.to_string(),
    }
}

/// A receipt as text, for records. The nonce is omitted because it is not needed later.
fn receipt_text(receipt: &Receipt) -> String {
    format!(
        "symbol {:016x} config {:016x} block {:?} grid {:?} shared {} threads {}",
        receipt.symbol_hash,
        receipt.config_hash,
        receipt.block,
        receipt.grid,
        receipt.dynamic_shared_bytes,
        receipt.threads
    )
}
