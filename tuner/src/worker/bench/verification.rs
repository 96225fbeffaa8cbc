//! Verifying arms: whether what they write, and what the device says of the launch, is as it should be.

use std::io::Write;
use std::path::Path;

use kiln::receipt::{ExpectedReceipt, Receipt, ReceiptMismatch};
use kiln::rig::{Expected, Layout, Rig};
use kiln_spec::{LaunchPlan, Problem};

use super::arm::LoadedArm;
use super::expected::read_expected;
use super::failure::{ArmFailure, failure_of};
use super::opened::{Opened, announce};
use super::reference::reference_of;
use crate::worker::protocol::{Failure, Verified, VerifyJob};

impl Opened {
    /// One verification: the receipt entry, whose record must say what was intended and whose outputs must be
    /// right, then the release entry on poisoned outputs, twice, since some faults come with the second launch.
    pub(super) fn verify(&self, job: &VerifyJob) -> Result<Verified, Failure> {
        let arm = self.arm(job.arm)?;
        let layout = if job.fenced {
            Layout::Fences
        } else {
            Layout::Zones
        };
        let rig = Rig::new(&self.stream, &self.spec, &job.problem, job.seed, layout)
            .map_err(failure_of)?;
        let expected = read_expected(&job.expected)?;
        let mut verified = Verified {
            worst: 0.0,
            receipt: String::new(),
        };
        if let Some(nonce) = job.nonce {
            let receipt = rig
                .launch_for_receipt(&arm.receipt, &job.plan, nonce)
                .map_err(failure_of)?;
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
            verified.worst = rig.check(&expected).map_err(failure_of)?;
            verified.receipt = receipt_text(&receipt);
        }
        for _ in 0..2 {
            rig.reset().map_err(failure_of)?;
            rig.launch(&arm.release, &job.plan).map_err(failure_of)?;
            verified.worst = verified
                .worst
                .max(rig.check(&expected).map_err(failure_of)?);
        }
        Ok(verified)
    }

    /// Launches an arm once; its outputs.
    pub(super) fn launch_once(
        &self,
        arm: usize,
        problem: &Problem,
        plan: &LaunchPlan,
        seed: u64,
    ) -> Result<Expected, Failure> {
        let rig =
            Rig::new(&self.stream, &self.spec, problem, seed, Layout::Zones).map_err(failure_of)?;
        rig.launch(&self.arm(arm)?.release, plan)
            .map_err(failure_of)?;
        rig.outputs().map_err(failure_of)
    }

    /// The outputs of the plain-Rust reference linked into this program.
    pub(super) fn reference(&self, problem: &Problem, seed: u64) -> Result<Expected, Failure> {
        let reference = reference_of(self.catalogue, &self.spec).ok_or_else(|| {
            Failure::Internal(format!("no reference of `{}` is linked in", self.spec.name))
        })?;
        Expected::by_reference(reference, &self.spec, problem, seed)
            .map_err(|error| Failure::Internal(error.to_string()))
    }

    /// What was timed must still compute what it should: some faults come with the tenth launch.
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

    fn recheck_arm(&self, arm: &LoadedArm, expected: &Expected) -> Result<(), Failure> {
        let rig = self.rig()?;
        rig.reset().map_err(failure_of)?;
        rig.launch(&arm.release, &arm.job.plan)
            .map_err(failure_of)?;
        rig.check(expected).map(|_| ()).map_err(failure_of)
    }
}

fn wrong_launch(mismatch: &ReceiptMismatch) -> Failure {
    Failure::WrongLaunch {
        field: "receipt".into(),
        want: "the intended launch".into(),
        got: mismatch.to_string(),
    }
}

/// A receipt in words, for records; without the nonce, which is of no use later.
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
