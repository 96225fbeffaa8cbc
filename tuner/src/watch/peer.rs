//! Times a kernel against peers, which are other programs that compute the same result (docs/peers.md).

use kiln_spec::{KernelSpec, Problem};
use serde::Serialize;

use kiln_lab::peer::{Given, KERNEL, PEER, PeerClock, PeerError, PeerLab, PeerProcess};

use super::error::{WatchError, why};
use super::saved::Recorded;
use super::stage::{Scene, WatchSession};
use kiln_lab::worker::ArmJob;
use kiln_measure::confirm::RaceEstimate;
use kiln_measure::span::Resolution;
use kiln_measure::{Claim, Doubt, Survey, drive};

/// The comparison of a kernel with a peer.
#[derive(Clone, Debug, Serialize)]
pub struct BesidePeer {
    /// The name that the peer reports, or its command if it did not report a name.
    pub peer: String,
    /// The times, or why there are none.
    #[serde(flatten)]
    pub outcome: PeerOutcome,
}

impl BesidePeer {
    /// Whether the peer or the kernel did not work.
    pub fn has_failed(&self) -> bool {
        matches!(self.outcome, PeerOutcome::Failed { .. })
    }
}

/// The result of timing a kernel against a peer.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PeerOutcome {
    /// The outputs of both are right, and both were timed.
    Measured {
        /// The name of the function that the peer calls.
        calls: String,
        /// Number of threads that the peer uses.
        threads: u32,
        /// Time of one call of the peer in the median process.
        time: Recorded,
        /// Time of one launch of the kernel in the same sessions. It can be longer than without a peer, because the
        /// kernel and the peer evict each other's data from the caches.
        kernel_time: Recorded,
        /// The peer's time divided by the kernel's time. Above 1, the kernel is faster.
        speedup: f64,
        /// The lower end of the 95 % interval of the speed-up; `None` if too few processes ran.
        low: Option<f64>,
        /// The upper end of that interval.
        high: Option<f64>,
    },
    /// The peer does not support the kernel.
    Unsupported {
        /// The reason that the peer reports.
        reason: String,
    },
    /// Both work, but no time could be determined, for example because the time budget ended first.
    NotMeasured {
        /// The reason, as text.
        reason: String,
    },
    /// The peer or the kernel does not work, for example because the peer's outputs are wrong, or because the peer died
    /// or did not answer in time.
    Failed {
        /// The reason, as text.
        reason: String,
    },
}

/// A verified kernel that is timed against peers.
#[derive(Clone, Copy)]
pub struct Contest<'a> {
    /// The session on the device.
    pub stage: &'a WatchSession<'a>,
    /// The kernel's cases and expected outputs.
    pub scene: &'a Scene<'a>,
    /// The kernel's declaration.
    pub spec: &'a KernelSpec,
    /// The problem on which both are timed.
    pub problem: &'a Problem,
    /// The compiled kernel.
    pub arm: &'a ArmJob,
    /// The seed of the random orders.
    pub seed: u64,
    /// The time for each peer, in nanoseconds.
    pub budget_ns: u64,
}

impl Contest<'_> {
    /// Times the kernel against each of these commands.
    pub fn beside(&self, commands: &[String]) -> Vec<BesidePeer> {
        if commands.is_empty() {
            return Vec::new();
        }
        let folder = self.stage.setting.folder;
        let one = |command: &String| match Given::write(
            self.spec,
            self.problem,
            self.scene.timed_seed(),
            folder,
        ) {
            Ok(given) => self.beside_one(command, &given),
            Err(error) => failed(command, error.to_string()),
        };
        commands.iter().map(one).collect()
    }

    fn beside_one(&self, command: &str, given: &Given) -> BesidePeer {
        // The first process is not timed. It determines the peer's name and whether its outputs are right.
        let mut process = match PeerProcess::start(command) {
            Ok(process) => process,
            Err(error) => return failed(command, error.to_string()),
        };
        let peer = process.name().to_owned();
        let outcome = match self.check(&mut process, given) {
            Ok((calls, threads)) => {
                drop(process);
                self.time(command, given, calls, threads)
                    .unwrap_or_else(|error| PeerOutcome::Failed {
                        reason: error.to_string(),
                    })
            }
            Err(PeerError::Unsupported(reason)) => PeerOutcome::Unsupported { reason },
            Err(error) => PeerOutcome::Failed {
                reason: error.to_string(),
            },
        };
        BesidePeer { peer, outcome }
    }

    /// Checks the peer's outputs. Returns the function that the peer calls, and its number of threads.
    fn check(&self, process: &mut PeerProcess, given: &Given) -> Result<(String, u32), PeerError> {
        let opened = process.open(given)?;
        process.write(given)?;
        self.outputs(given)?;
        Ok(opened)
    }

    /// Checks the outputs that the peer wrote.
    fn outputs(&self, given: &Given) -> Result<(), PeerError> {
        let expected = self.scene.expected();
        let expected = expected.map_err(|error| PeerError::Expected(Box::new(error)))?;
        Ok(given.compare(self.spec, &expected)?)
    }

    fn time(
        &self,
        command: &str,
        given: &Given,
        calls: String,
        threads: u32,
    ) -> Result<PeerOutcome, WatchError> {
        let clock = PeerClock::beside(self.stage.info.key.backend);
        let tick_ns = clock.tick_ns(self.stage.info.timer_tick_ns);
        let resolution = Resolution { tick_ns };
        let mut own = self.scene.lab_of(&[self.arm], resolution)?;
        // The peer has these inputs in files.
        own.keep_inputs();
        let check = || self.outputs(given);
        let mut lab = PeerLab::new(own, command, given, resolution, clock, &check);
        lab.warm()?;
        let mut survey = survey(&lab, resolution, self.seed).within(self.budget_ns);
        drive(&mut lab, &mut survey, &mut |_| {});
        if let Some(Doubt::Faulted(fault)) = survey.doubt() {
            return Err(fault.clone().into());
        }
        let evidence = survey.beside_baseline();
        let ratio = evidence.as_ref().and_then(|evidence| evidence.median_ratio);
        let times = survey.time(PEER).zip(survey.time(KERNEL));
        let (Some(ratio), Some((time, kernel_time))) = (ratio, times) else {
            return Ok(PeerOutcome::NotMeasured {
                reason: why(survey.doubt()),
            });
        };
        let interval = evidence.and_then(|evidence| evidence.interval);
        Ok(PeerOutcome::Measured {
            calls,
            threads,
            time: Recorded::of(&time),
            kernel_time: Recorded::of(&kernel_time),
            speedup: 1.0 / ratio,
            low: interval.map(|interval| 1.0 / interval.high),
            high: interval.map(|interval| 1.0 / interval.low),
        })
    }
}

/// Creates a survey that compares the kernel, as the challenger, with the peer.
fn survey(lab: &PeerLab<'_>, resolution: Resolution, seed: u64) -> Survey {
    let claim = Claim {
        defender: PEER,
        challenger: KERNEL,
    };
    let launch_ns = |arm| lab.launch_ns(arm).max(1) as f64;
    let expected = RaceEstimate {
        ratio: launch_ns(KERNEL) / launch_ns(PEER),
        defender_span_ns: lab.span_ns(PEER),
        challenger_span_ns: lab.span_ns(KERNEL),
    };
    Survey::beside(claim, expected, resolution, seed)
}

fn failed(command: &str, reason: String) -> BesidePeer {
    BesidePeer {
        peer: command.to_owned(),
        outcome: PeerOutcome::Failed { reason },
    }
}
