//! Survey: measures how long a kernel takes, alone or together with its baseline. It reports times and makes no claim.
//!
//! A survey uses the protocol of a confirmation with a fixed number of processes. The processes are fresh and come in
//! pairs. The first process of a pair loads the kernels and allocates their data in random orders, and the second
//! process uses the reverse of these orders. The result has an interval for the median process, because times differ
//! between processes.

use super::arm::ArmId;
use super::confirm::{
    Claim, ClaimTest, ConfirmSettings, Doubt, ProcessPlan, ProcessRecord, RaceEstimate, Sequential,
    TestStatistics,
};
use super::interval::{Interval, median_interval};
use super::lab::Opening;
use super::span::Resolution;
use super::summary::median;

/// Number of processes of a survey. A 95 % interval needs at least 6, and processes come in pairs.
pub const PROCESSES: u32 = 8;

/// Largest number of samples per process in a survey of one side.
const SAMPLES: usize = 24;

/// A survey of one side, or of a side and its baseline.
#[derive(Clone, Debug)]
pub struct Survey {
    sides: Sides,
    settings: ConfirmSettings,
    records: Vec<ProcessRecord>,
    doubt: Option<Doubt>,
}

#[derive(Clone, Debug)]
enum Sides {
    One { arm: ArmId, span_ns: u64 },
    Two(Box<ClaimTest>),
}

/// The time of one launch in the median process, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surveyed {
    /// The median of the processes' medians.
    pub median_ns: f64,
    /// The 95 % interval of the median; `None` with fewer than 6 processes.
    pub interval_ns: Option<Interval>,
}

impl Survey {
    /// A survey of one side. `span_ns` is the expected span of a sample.
    pub fn of_one(arm: ArmId, span_ns: u64, resolution: Resolution, seed: u64) -> Survey {
        Survey::new(Sides::One { arm, span_ns }, settings(resolution, seed))
    }

    /// A survey of a side (the challenger) together with its baseline (the defender).
    pub fn beside(
        claim: Claim,
        expected: RaceEstimate,
        resolution: Resolution,
        seed: u64,
    ) -> Survey {
        let settings = settings(resolution, seed);
        let pair = ClaimTest::new(claim, expected, settings);
        Survey::new(Sides::Two(Box::new(pair)), settings)
    }

    fn new(sides: Sides, settings: ConfirmSettings) -> Survey {
        Survey {
            sides,
            settings,
            records: Vec::new(),
            doubt: None,
        }
    }

    /// Sets the time limit of the survey, in nanoseconds.
    pub fn within(mut self, budget_ns: u64) -> Survey {
        self.settings.budget_ns = budget_ns;
        self
    }

    /// Why the survey ended early; `None` if it did not.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// The time of an arm; `None` if no process was completed.
    pub fn time(&self, arm: ArmId) -> Option<Surveyed> {
        let logs: Vec<f64> = self
            .records
            .iter()
            .filter_map(|record| log_median(record, arm))
            .collect();
        Some(Surveyed {
            median_ns: median(&logs)?.exp(),
            interval_ns: median_interval(&logs),
        })
    }

    /// The statistics of the comparison with the baseline; `None` for a survey of one side.
    pub fn beside_baseline(&self) -> Option<TestStatistics> {
        match &self.sides {
            Sides::One { .. } => None,
            Sides::Two(pair) => Some(pair.verdict().evidence),
        }
    }
}

fn settings(resolution: Resolution, seed: u64) -> ConfirmSettings {
    let mut settings = ConfirmSettings::new(resolution, seed);
    settings.most_processes = PROCESSES;
    settings
}

fn log_median(record: &ProcessRecord, arm: ArmId) -> Option<f64> {
    let samples = record.asked.plan.iter().zip(&record.samples);
    let own = samples.filter(|(other, _)| **other == arm);
    median(&own.map(|(_, sample)| sample.log_ns()).collect::<Vec<_>>())
}

impl Sequential for Survey {
    fn settings(&self) -> &ConfirmSettings {
        &self.settings
    }

    fn block_ns(&self) -> u64 {
        match &self.sides {
            Sides::One { span_ns, .. } => span_ns.saturating_mul(4),
            Sides::Two(pair) => pair.block_ns(),
        }
    }

    fn next_process(&self) -> Option<ProcessPlan> {
        if self.doubt.is_some() || self.records.len() >= PROCESSES as usize {
            return None;
        }
        Some(match &self.sides {
            Sides::Two(pair) => pair.plan(),
            Sides::One { arm, span_ns } => {
                let affordable = self.settings.process_ns / (*span_ns).max(1);
                let samples = usize::try_from(affordable)
                    .unwrap_or(usize::MAX)
                    .clamp(2, SAMPLES);
                ProcessPlan {
                    opening: Opening {
                        load: vec![*arm],
                        allocate: vec![*arm],
                    },
                    plan: vec![*arm; samples],
                }
            }
        })
    }

    fn push(&mut self, record: ProcessRecord) {
        if let Sides::Two(pair) = &mut self.sides {
            pair.push(record.clone());
        }
        self.records.push(record);
    }

    fn give_up(&mut self, doubt: Doubt) {
        self.doubt = Some(doubt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confirm::drive;
    use crate::fault::Fault;
    use crate::noise::NoiseModel;
    use crate::simulate::SimulatedLab;
    use kiln_cache::Outcome;

    const RESOLUTION: Resolution = Resolution { tick_ns: 500 };
    const CLAIM: Claim = Claim {
        defender: ArmId(0),
        challenger: ArmId(1),
    };

    fn expected() -> RaceEstimate {
        RaceEstimate {
            ratio: 0.5,
            defender_span_ns: 1_000_000,
            challenger_span_ns: 500_000,
        }
    }

    #[test]
    fn times_and_their_ratio_are_those_of_the_median_process() {
        let mut lab = SimulatedLab::new(vec![1_000_000, 500_000], NoiseModel::nominal(), 3);
        let mut survey = Survey::beside(CLAIM, expected(), RESOLUTION, 3);
        drive(&mut lab, &mut survey, &mut |_| {});
        let time = survey.time(ArmId(1)).unwrap();
        // Boost and drift change times by a few percent, but not the ratio.
        assert!((time.median_ns / 500_000.0 - 1.0).abs() < 0.1, "{time:?}");
        assert!(time.interval_ns.unwrap().contains(time.median_ns));
        let ratio = survey.beside_baseline().unwrap().median_ratio.unwrap();
        assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
        assert_eq!(lab.processes(), u64::from(PROCESSES));
    }

    #[test]
    fn one_side_alone_is_timed_in_as_many_processes() {
        let mut lab = SimulatedLab::new(vec![1_000_000], NoiseModel::QUIET, 3);
        let mut survey = Survey::of_one(ArmId(0), 1_000_000, RESOLUTION, 3);
        drive(&mut lab, &mut survey, &mut |_| {});
        let time = survey.time(ArmId(0)).unwrap();
        assert!((time.median_ns - 1_000_000.0).abs() < 1e-3, "{time:?}");
        assert!(survey.beside_baseline().is_none() && survey.doubt().is_none());
    }

    #[test]
    fn a_side_that_fails_or_a_spent_budget_ends_it() {
        let cause = Outcome::KernelFault {
            text: "illegal address".into(),
        };
        let times = vec![1_000_000, 500_000];
        let mut lab =
            SimulatedLab::new(times, NoiseModel::QUIET, 1).with_fault(ArmId(1), 3, cause.clone());
        let mut survey = Survey::beside(CLAIM, expected(), RESOLUTION, 1);
        drive(&mut lab, &mut survey, &mut |_| {});
        let fault = Doubt::Faulted(Fault::of(ArmId(1), cause));
        assert_eq!(survey.doubt(), Some(&fault));
        let mut survey = Survey::beside(CLAIM, expected(), RESOLUTION, 1).within(0);
        drive(&mut lab, &mut survey, &mut |_| {});
        assert_eq!(survey.doubt(), Some(&Doubt::BudgetSpent));
        assert_eq!(survey.time(ArmId(0)), None);
    }
}
