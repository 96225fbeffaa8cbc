//! A lab with two arms: the kernel in a worker process, and the peer in its own process. Each session starts both
//! processes again, and the samples of the two arms alternate.

use std::time::Duration;

use super::data::Given;
use super::process::{PeerError, PeerProcess, TimedCalls};
use crate::WorkerLab;
use kiln_cache::Outcome;
use kiln_measure::span::{Resolution, launches_per_sample};
use kiln_measure::{ArmId, Clock, Fault, Lab, Opening, Sample, Session};
use kiln_spec::Backend;

/// The arm of the kernel.
pub const KERNEL: ArmId = ArmId(0);
/// The arm of the peer.
pub const PEER: ArmId = ArmId(1);

/// Number of calls that warm up a peer. After the time `WARM`, a peer is warm even after fewer calls.
const WARM_CALLS: u32 = 8;
const WARM: Duration = Duration::from_millis(300);

/// Time limit for one sample of a peer.
const SAMPLE: Duration = Duration::from_secs(120);

/// A lab that times a kernel and a peer.
pub struct PeerLab<'a> {
    own: WorkerLab,
    side: PeerSide<'a>,
}

/// A function that checks the outputs that a peer wrote.
pub type Check<'a> = &'a dyn Fn() -> Result<(), PeerError>;

/// The part of the lab that runs the peer.
struct PeerSide<'a> {
    command: &'a str,
    given: &'a Given,
    resolution: Resolution,
    clock: PeerClock,
    /// Checks the outputs of the peer.
    check: Check<'a>,
    pace: Pace,
}

/// Selects which of a peer's reported times is used. It must be measured in the same way as the kernel's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerClock {
    /// CPU time of the peer's threads; used for kernels on the cpu device.
    CpuTime,
    /// Time between two events on the device; used for kernels on a GPU. The host's clock would include queueing and
    /// waiting, which the kernel's time does not include.
    Events,
    /// Wall-clock time on the host.
    Wall,
}

impl PeerClock {
    /// The clock for peers of a backend's kernels.
    pub fn beside(backend: Backend) -> PeerClock {
        match backend {
            Backend::Cpu => PeerClock::CpuTime,
            Backend::Cuda | Backend::Hip => PeerClock::Events,
            Backend::Fake => PeerClock::Wall,
        }
    }

    /// The clock tick in nanoseconds. Samples of both arms last at least 100 ticks. On a GPU, each sample has some
    /// overhead at its beginning and end, because a peer queues one call after another and the two processes alternate
    /// on the device. The tick is therefore at least 200 µs, so that samples last at least 20 ms and the overhead is at
    /// most a thousandth of a sample.
    pub fn tick_ns(self, timer_tick_ns: u64) -> u64 {
        match self {
            PeerClock::Events => timer_tick_ns.max(200_000),
            PeerClock::CpuTime | PeerClock::Wall => timer_tick_ns,
        }
    }

    fn span_ns(self, timed: TimedCalls, threads: u32) -> Result<u64, PeerError> {
        match self {
            // The kernel's time is the time of its busiest thread. A peer reports only the total of its threads, so
            // their mean is used. The mean is at most the time of the peer's busiest thread.
            PeerClock::CpuTime => Ok(timed.cpu_ns / u64::from(threads.max(1))),
            PeerClock::Wall => Ok(timed.wall_ns),
            PeerClock::Events => timed.device_ns.ok_or_else(|| {
                PeerError::Said(
                    "it does not say `device_ns`, the time between two events: by the host's clock any kernel would look faster \
                     than it\nhelp: see docs/peers.md, and `benches/peers/kernels/torch_peer.py` for an example"
                        .into(),
                )
            }),
        }
    }
}

/// How a peer is sampled: calls per sample, nanoseconds per call, and its number of threads.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    calls: u32,
    call_ns: u64,
    threads: u32,
}

impl<'a> PeerLab<'a> {
    /// Creates a lab from a kernel, which must be the only arm of `own`, and a peer.
    pub fn new(
        own: WorkerLab,
        command: &'a str,
        given: &'a Given,
        resolution: Resolution,
        clock: PeerClock,
        check: Check<'a>,
    ) -> PeerLab<'a> {
        let side = PeerSide {
            command,
            given,
            resolution,
            clock,
            check,
            pace: Pace::default(),
        };
        PeerLab { own, side }
    }

    /// Runs a first process of each arm, which determines how many launches or calls a sample has.
    ///
    /// # Errors
    /// If the kernel or the peer cannot be loaded or timed.
    pub fn warm(&mut self) -> Result<(), Fault> {
        let order = vec![KERNEL, PEER];
        let opening = Opening {
            load: order.clone(),
            allocate: order,
        };
        self.open(&opening).map(drop)
    }

    /// Time of one launch or call in nanoseconds, as measured in the last process.
    pub fn launch_ns(&self, arm: ArmId) -> u64 {
        if arm == PEER {
            self.side.pace.call_ns
        } else {
            self.own.launch_ns(arm)
        }
    }

    /// Duration of one sample in nanoseconds, as measured in the last process.
    pub fn span_ns(&self, arm: ArmId) -> u64 {
        let pace = self.side.pace;
        if arm == PEER {
            pace.call_ns.saturating_mul(pace.calls.into())
        } else {
            self.own.span_ns(arm)
        }
    }
}

impl PeerSide<'_> {
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
        // This loop runs only in the first process. All later processes use the number of calls per sample that it
        // determines.
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
        let span_ns = self.clock.span_ns(timed, self.pace.threads);
        Ok(Sample::new(span_ns.map_err(fault)?, calls))
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
    side: &'a PeerSide<'b>,
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
        (self.side.check)().map_err(fault)
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

#[cfg(test)]
mod tests {
    use super::*;

    const TIMED: TimedCalls = TimedCalls {
        wall_ns: 150,
        cpu_ns: 40,
        device_ns: Some(100),
    };

    #[test]
    fn a_peer_is_timed_as_the_kernel_beside_it_is() {
        let span_ns = |backend| PeerClock::beside(backend).span_ns(TIMED, 4).unwrap();
        assert_eq!(span_ns(Backend::Cpu), 10);
        assert_eq!(span_ns(Backend::Cuda), 100);
        assert_eq!(span_ns(Backend::Hip), 100);
        assert_eq!(span_ns(Backend::Fake), 150);
    }

    #[test]
    fn on_a_gpu_no_time_of_the_hosts_clock_is_taken_for_the_devices() {
        let without = TimedCalls {
            device_ns: None,
            ..TIMED
        };
        let error = PeerClock::Events.span_ns(without, 1).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("device_ns") && said.contains("help: "),
            "{said}"
        );
    }

    #[test]
    fn samples_beside_a_peer_on_a_gpu_span_twenty_milliseconds() {
        let least_ns = |backend, tick_ns| {
            let tick_ns = PeerClock::beside(backend).tick_ns(tick_ns);
            Resolution { tick_ns }.least_ns()
        };
        assert_eq!(least_ns(Backend::Cuda, 10_000), 20_000_000);
        assert_eq!(least_ns(Backend::Hip, 20_000), 20_000_000);
        assert_eq!(least_ns(Backend::Cpu, 1), 100);
    }
}
