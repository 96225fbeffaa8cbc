//! A lab with two sides: the kernel in a worker, the peer in its own process. Each process of a survey starts both afresh, and
//! their samples alternate.

use std::time::Duration;

use super::data::Given;
use super::process::{PeerError, PeerProcess, Timed};
use crate::lab::WorkerLab;
use crate::measure::span::{Resolution, launches_per_sample};
use crate::measure::{ArmId, Clock, Fault, Lab, Opening, Sample, Session};
use kiln_cache::Outcome;

/// The kernel.
pub const KERNEL: ArmId = ArmId(0);
/// The peer.
pub const PEER: ArmId = ArmId(1);

/// Calls that warm a peer, and the time after which it is warm.
const WARM_CALLS: u32 = 8;
const WARM: Duration = Duration::from_millis(300);

/// A sample of a peer may take this long.
const SAMPLE: Duration = Duration::from_secs(120);

/// The two sides.
pub struct PeerLab<'a> {
    own: WorkerLab,
    side: Side<'a>,
}

/// Says what is wrong with the outputs that a peer wrote.
pub type Check<'a> = &'a dyn Fn() -> Result<(), String>;

/// The peer's side.
struct Side<'a> {
    command: &'a str,
    given: &'a Given,
    resolution: Resolution,
    /// Whether the kernel is timed by the CPU time of its threads: the peer is then, too.
    cpu: bool,
    /// Whether what it wrote is right.
    check: Check<'a>,
    pace: Pace,
}

/// How a peer is sampled.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    calls: u32,
    call_ns: u64,
    threads: u32,
}

impl<'a> PeerLab<'a> {
    /// A lab of a kernel, which `own` has as its only arm, and a peer.
    pub fn new(
        own: WorkerLab,
        command: &'a str,
        given: &'a Given,
        resolution: Resolution,
        cpu: bool,
        check: Check<'a>,
    ) -> PeerLab<'a> {
        let side = Side {
            command,
            given,
            resolution,
            cpu,
            check,
            pace: Pace::default(),
        };
        PeerLab { own, side }
    }

    /// Runs a first process, so that it is known what samples span.
    ///
    /// # Errors
    /// When either side cannot be loaded or timed.
    pub fn warm(&mut self) -> Result<(), Fault> {
        let order = vec![KERNEL, PEER];
        let opening = Opening {
            load: order.clone(),
            allocate: order,
        };
        self.open(&opening).map(drop)
    }

    /// What a launch or call takes, as the last process found.
    pub fn launch_ns(&self, arm: ArmId) -> u64 {
        if arm == PEER {
            self.side.pace.call_ns
        } else {
            self.own.launch_ns(arm)
        }
    }

    /// What a sample spans, as the last process found.
    pub fn span_ns(&self, arm: ArmId) -> u64 {
        let pace = self.side.pace;
        if arm == PEER {
            pace.call_ns.saturating_mul(pace.calls.into())
        } else {
            self.own.span_ns(arm)
        }
    }
}

impl Side<'_> {
    fn start(&mut self) -> Result<PeerProcess, Fault> {
        let mut process = PeerProcess::start(self.command).map_err(fault)?;
        (_, self.pace.threads) = process.open(self.given).map_err(fault)?;
        let (mut spent, mut calls) = (Duration::ZERO, 0);
        let mut probe = self.sample(&mut process, 1)?;
        while calls < WARM_CALLS && spent < WARM {
            probe = self.sample(&mut process, 1)?;
            spent += Duration::from_nanos(probe.span_ns);
            calls += 1;
        }
        // All processes take samples of the same length.
        while self.pace.calls == 0 {
            let short = || {
                Fault::of(
                    PEER,
                    Outcome::LaunchRefused {
                        reason: "too short to be timed".into(),
                    },
                )
            };
            let calls = launches_per_sample(&probe, self.resolution).ok_or_else(short)?;
            if calls <= probe.launches && probe.span_ns >= self.resolution.least_ns() {
                self.pace.calls = probe.launches;
            } else {
                probe = self.sample(&mut process, calls.max(probe.launches))?;
            }
        }
        self.pace.call_ns = probe.launch_ns();
        Ok(process)
    }

    fn sample(&self, process: &mut PeerProcess, calls: u32) -> Result<Sample, Fault> {
        let timed = process.time(calls, SAMPLE).map_err(fault)?;
        let span_ns = span_ns(timed, self.cpu, self.pace.threads);
        Ok(Sample::new(span_ns, calls))
    }
}

/// The kernel's time on the cpu is the CPU time of its busiest thread. What a peer's threads take is not known one by one: their
/// mean is never more than that.
fn span_ns(timed: Timed, cpu: bool, threads: u32) -> u64 {
    if cpu {
        timed.cpu_ns / u64::from(threads.max(1))
    } else {
        timed.wall_ns
    }
}

impl Clock for PeerLab<'_> {
    fn now_ns(&self) -> u64 {
        self.own.now_ns()
    }
}

impl Lab for PeerLab<'_> {
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault> {
        let alone = Opening {
            load: vec![KERNEL],
            allocate: vec![KERNEL],
        };
        let PeerLab { own, side } = self;
        let (own, process) = if opening.load.first() == Some(&PEER) {
            let process = side.start()?;
            (own.open(&alone)?, process)
        } else {
            let own = own.open(&alone)?;
            (own, side.start()?)
        };
        Ok(Box::new(PeerSession { own, process, side }))
    }
}

struct PeerSession<'a, 'b> {
    own: Box<dyn Session + 'a>,
    process: PeerProcess,
    side: &'a Side<'b>,
}

impl Clock for PeerSession<'_, '_> {
    fn now_ns(&self) -> u64 {
        self.own.now_ns()
    }
}

impl Session for PeerSession<'_, '_> {
    fn run(&mut self, plan: &[ArmId]) -> Result<Vec<Sample>, Fault> {
        let mut samples = Vec::with_capacity(plan.len());
        for &arm in plan {
            if arm == PEER {
                let calls = self.side.pace.calls;
                samples.push(self.side.sample(&mut self.process, calls)?);
            } else {
                samples.extend(self.own.run(&[arm])?);
            }
        }
        Ok(samples)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.own.finish()?;
        self.process.write(self.side.given).map_err(fault)?;
        (self.side.check)().map_err(|wrong| fault(PeerError::Said(wrong)))
    }
}

fn fault(error: PeerError) -> Fault {
    Fault::of(
        PEER,
        Outcome::LaunchRefused {
            reason: error.to_string(),
        },
    )
}
