//! Verifies arms (loaded candidates): compares their outputs with the expected outputs, and the device's receipt with
//! the intended launch.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use kiln::receipt::{ExpectedReceipt, Receipt, ReceiptMismatch};

use kiln::rig::{Content, Expected, Layout, Rig};
use kiln::unusual;
use kiln_cache::Outcome;
use kiln_spec::{Backend, KernelSpec, LaunchPlan, Problem};

use super::arm::LoadedArm;
use super::expected::read_expected;
use super::failure::{ArmFailure, outcome_of};
use super::opened::{Opened, announce, announce_launched};
use crate::worker::protocol::{Verified, VerifyJob};

/// The most data of a problem whose outputs are hashed, in bytes. More would make verification slower.
const MAX_HASHED_BYTES: u64 = 16 << 20;

impl Opened {
    /// Verifies an arm on one case, in two steps:
    ///
    /// 1. If the job has a nonce, the receipt entry is launched. Its receipt must match the intended launch, and its
    ///    outputs must be right.
    /// 2. The release entry is launched. A release build is launched several times, because some faults appear only in
    ///    the second launch, and on several contents of its outputs, because a kernel that reads an output may be right
    ///    on one of them. A check build is launched once in each order of its threads, because a race that is hidden in
    ///    one order shows in another.
    pub(super) fn verify(
        &mut self,
        job: &VerifyJob,
        replies: &mut impl Write,
    ) -> Result<Verified, Outcome> {
        let config = self.arm(job.arm)?.job.config.clone();
        let case = (&job.problem, job.seed, job.layout);
        let rig = self.kept.rig(&self.stream, (&self.spec, &config), case)?;
        let growth = job.problem.growth_over(&self.problem);
        let expected = self.kept.expected(&job.expected, growth)?;
        let arm = self.arm(job.arm)?;
        let mut of_receipt = Ok(0.0);
        let mut verified = Verified {
            worst: 0.0,
            receipt: String::new(),
            remark: None,
            outputs: None,
        };
        if let Some(nonce) = job.nonce {
            let start = Instant::now();
            let receipt = rig
                .launch_for_receipt(&arm.receipt, &job.plan, nonce)
                .map_err(outcome_of)?;
            if job.problem == self.problem && !arm.job.check {
                announce_launched(replies, start);
            }
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
            of_receipt = rig.check(&expected).map_err(outcome_of);
            verified.receipt = receipt_text(&receipt);
            if self.spec.footprint_bytes(&job.problem).unwrap_or(u64::MAX) <= MAX_HASHED_BYTES {
                verified.outputs = Some(rig.outputs_hash().map_err(outcome_of)?);
            }
        }
        // The orders of a check build say more about wrong outputs, so they come first.
        if !arm.job.check {
            verified.worst = of_receipt.clone()?;
        }
        let worst = if arm.job.check {
            let checked = rig.check_in_all_orders(&arm.release, &job.plan, job.seed, &expected);
            checked.map(|checked| {
                verified.remark = checked.remark;
                checked.worst
            })
        } else {
            // The poison is last, because `check_written` below expects it.
            let contents: &[Content] = match job.nonce {
                Some(_) => &[Content::High, Content::Poison],
                // Cases with usual inputs have shown that the content does not matter.
                None if job.seed & unusual::ANY != 0 => &[Content::Poison],
                None => &[Content::Low, Content::Zeros, Content::Poison],
            };
            contents.iter().try_fold(0.0_f64, |worst, content| {
                let checked = rig.check_on(*content, &arm.release, &job.plan, &expected)?;
                Ok(worst.max(checked))
            })
        };
        verified.worst = verified.worst.max(worst.map_err(outcome_of)?);
        verified.worst = verified.worst.max(of_receipt?);
        // Without this check, an element that is never written would compare as right if the expected value is NaN.
        rig.check_written(&arm.release, &job.plan)
            .map_err(outcome_of)?;
        if job.again {
            let again = rig.check_again(&arm.release, &job.plan, &expected);
            let again = again.map_err(|error| wrong_again(&self.spec, &outcome_of(error)))?;
            verified.worst = verified.worst.max(again);
        }
        Ok(verified)
    }

    /// Launches an arm and returns its outputs, which become expected outputs.
    pub(super) fn launch_once(
        &self,
        arm: usize,
        (problem, seed): (&Problem, u64),
        plan: &LaunchPlan,
        replies: &mut impl Write,
    ) -> Result<Expected, Outcome> {
        let arm = self.arm(arm)?;
        let (spec, config) = (&self.spec, &arm.job.config);
        let rig = Rig::of_config(&self.stream, spec, config, problem, seed, Layout::Zones)
            .map_err(outcome_of)?;
        let start = Instant::now();
        rig.launch(&arm.release, plan).map_err(outcome_of)?;
        if *problem == self.problem && !arm.job.check {
            announce_launched(replies, start);
        }
        // If the reference left an element unwritten, a candidate could leave it unwritten too and pass.
        rig.check_written(&arm.release, plan).map_err(outcome_of)?;
        let outputs = rig.outputs().map_err(outcome_of)?.of_inputs(seed);
        if arm.job.check {
            rig.check_in_all_orders(&arm.release, plan, seed, &outputs)
                .map_err(outcome_of)?;
        }
        rig.check_independent(Content::High, &arm.release, plan, &outputs)
            .map_err(outcome_of)?;
        // The fake device computes only kernels with registered host code. Its other kernels write nothing.
        if self.stream.device().info().key.backend != Backend::Fake {
            outputs.check_tolerance(spec).map_err(outcome_of)?;
        }
        Ok(outputs)
    }

    /// Checks that the timed arms still compute the right outputs on the inputs of a seed. Some faults appear only after
    /// several launches.
    pub(super) fn recheck(
        &mut self,
        arms: &[usize],
        seed: u64,
        expected: &Path,
        replies: &mut impl Write,
    ) -> Result<(), ArmFailure> {
        let expected = read_expected(expected).map_err(|failure| (None, failure))?;
        self.reseed(seed).map_err(|failure| (None, failure))?;
        for &place in arms {
            let arm = self.arm(place).map_err(|failure| (None, failure))?;
            announce(replies, place)?;
            self.recheck_arm(arm, &expected)
                .map_err(|failure| (Some(place), failure))?;
        }
        Ok(())
    }

    /// Gives the rigs of timed launches the inputs of a seed.
    fn reseed(&mut self, seed: u64) -> Result<(), Outcome> {
        if self.seed == seed {
            return Ok(());
        }
        self.seed = seed;
        for (place, rig) in self.timing.iter_mut().enumerate() {
            let config = self.arms.iter().find(|arm| arm.rig == place);
            let config = config.map_or(&self.spec.baseline.config, |arm| &arm.job.config);
            rig.reseed(config, &self.problem, seed)
                .map_err(outcome_of)?;
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

/// The outcome of a config that needs its workspaces restored before each launch, although the baseline does not.
fn wrong_again(spec: &KernelSpec, outcome: &Outcome) -> Outcome {
    let workspaces = spec.slices().filter(|slice| slice.is_kept_workspace());
    let names: Vec<String> = workspaces
        .map(|slice| format!("`{}`", slice.name))
        .collect();
    let names = names.join(" and ");
    Outcome::KernelFault {
        text: format!(
            "the first launch is right, but not the second, which finds {names} as the first left it ({outcome}). The \
             baseline is right in both\n\
             help: let each launch leave in {names} what the next one needs, or compare it: remove `#[compare(none)]`"
        ),
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
