//! Runs a test on a lab, one fresh process after the other.

use super::evidence::{ClaimResult, Doubt, ProcessPlan, ProcessRecord};
use super::sequence::ClaimTest;
use super::settings::{Claim, ConfirmSettings, RaceEstimate};
use crate::fault::Fault;
use crate::lab::{Lab, run_checked};
use crate::order::BLOCK;
use crate::sample::Sample;
use crate::span::Resolution;

/// Largest sum of predicted sample spans per request, in nanoseconds. The time limit is checked between requests.
const REQUEST_NS: u64 = 500_000_000;

/// The test is given up after this many failed processes whose failure cannot be attributed to a side.
const MAX_LOST: u32 = 3;

/// Tests a claim on new data. Opens processes on `lab` until the claim is decided or the time limit is reached.
///
/// `earlier` contains the records of an interrupted test of the same claim with the same settings. They are used first,
/// as long as their plans equal the plans that this test would run. `on_process` receives each new record when its
/// process ends.
pub fn confirm(
    lab: &mut dyn Lab,
    claim: Claim,
    expected: RaceEstimate,
    settings: ConfirmSettings,
    earlier: Vec<ProcessRecord>,
    on_process: &mut dyn FnMut(&ProcessRecord),
) -> ClaimResult {
    let mut test = ClaimTest::new(claim, expected, settings);
    for record in earlier {
        if test.next_process().as_ref() != Some(&record.asked) {
            break;
        }
        test.push(record);
    }
    drive(lab, &mut test, on_process);
    test.verdict()
}

/// A test that runs one process after another until it is decided.
pub trait Sequential {
    /// The test's settings, which include the time limit and the clock's resolution.
    fn settings(&self) -> &ConfirmSettings;
    /// The expected time of one block, in nanoseconds.
    fn block_ns(&self) -> u64;
    /// The next process to run; `None` if the test is decided.
    fn next_process(&self) -> Option<ProcessPlan>;
    /// Adds the record of a process.
    fn push(&mut self, record: ProcessRecord);
    /// Ends the test without a decision.
    fn give_up(&mut self, doubt: Doubt);
}

impl Sequential for ClaimTest {
    fn settings(&self) -> &ConfirmSettings {
        self.settings()
    }

    fn block_ns(&self) -> u64 {
        self.block_ns()
    }

    fn next_process(&self) -> Option<ProcessPlan> {
        self.next_process()
    }

    fn push(&mut self, record: ProcessRecord) {
        self.push(record);
    }

    fn give_up(&mut self, doubt: Doubt) {
        self.give_up(doubt);
    }
}

/// Opens processes on `lab` until the test is decided or its time limit is reached. `on_process` receives each record
/// when its process ends.
pub fn drive(
    lab: &mut dyn Lab,
    test: &mut dyn Sequential,
    on_process: &mut dyn FnMut(&ProcessRecord),
) {
    let settings = *test.settings();
    let deadline_ns = lab.now_ns().saturating_add(settings.budget_ns);
    let blocks = usize::try_from(REQUEST_NS / test.block_ns().max(1)).unwrap_or(usize::MAX);
    let request = BLOCK * blocks.clamp(1, 1 << 20);
    let mut lost = 0;
    while let Some(asked) = test.next_process() {
        match run_process(lab, &asked, request, deadline_ns, settings.resolution) {
            Ok(samples) => {
                let record = ProcessRecord { asked, samples };
                on_process(&record);
                test.push(record);
            }
            Err(Halt::Deadline) => test.give_up(Doubt::BudgetSpent),
            Err(Halt::Fault(fault)) => {
                lost += 1;
                if is_final(&fault) || lost >= MAX_LOST {
                    test.give_up(Doubt::Faulted(fault));
                }
            }
        }
    }
}

/// Whether the fault ends the test, because a retry cannot succeed.
fn is_final(fault: &Fault) -> bool {
    fault.arm.is_some() || fault.ends_the_run()
}

enum Halt {
    Deadline,
    Fault(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn run_process(
    lab: &mut dyn Lab,
    asked: &ProcessPlan,
    request: usize,
    deadline_ns: u64,
    resolution: Resolution,
) -> Result<Vec<Sample>, Halt> {
    if lab.now_ns() >= deadline_ns {
        return Err(Halt::Deadline);
    }
    let mut session = lab.open(&asked.opening)?;
    let mut samples = Vec::with_capacity(asked.plan.len());
    for part in asked.plan.chunks(request) {
        if session.now_ns() >= deadline_ns {
            return Err(Halt::Deadline);
        }
        samples.extend(run_checked(session.as_mut(), part, resolution)?);
    }
    session.finish()?;
    Ok(samples)
}
